"""The registered passes, and the pipeline that runs them."""
