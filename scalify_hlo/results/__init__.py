"""Results of commands: their JSON and its schema, from the annotations of their models."""
