"""The registered passes, one file each, and the pipeline that runs them."""
