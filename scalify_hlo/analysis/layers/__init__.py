"""Recognition of the layers of a program, forward and backward, without annotations.

A layer is recognized by what it computes, not by how it is written: the ops around a cheap key op
are read as a graph, evaluated on a few samples, and compared with what the layer is defined as. So
all ways to write a variance or a GELU are one, and what only looks like a layer is none. Names
decide nothing. Nothing here changes a program.
"""
