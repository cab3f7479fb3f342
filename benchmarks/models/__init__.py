"""Models of other packages, with random weights, as programs to rewrite; see `__main__`.

Nothing of the models is changed or knows of scales. They are small, so that XLA compiles each in
seconds, but keep their depth: at least four blocks, or twenty layers.
"""
