"""Recognition of the layers of a program, forward and backward, without annotations.

A layer is recognized by its values, and not by its ops or names. The ops around a key op are read
as a graph, evaluated on a few samples, and compared with the definition of the layer. So all ways
to write a variance or a GELU are recognized, and ops that only resemble a layer are not. Nothing
here changes a program.
"""
