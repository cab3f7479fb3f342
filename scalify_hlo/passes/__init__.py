"""The passes, one file each, in the order of the pipeline."""
