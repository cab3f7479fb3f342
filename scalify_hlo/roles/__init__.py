"""What values are for, without annotations: activations, weights, gradients, optimizer state.

Roles are read off the program: its data flow, and the name stacks that jax leaves in locations
where they are there. Nothing here changes a program.
"""
