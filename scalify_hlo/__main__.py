"""`python -m scalify_hlo`."""

from scalify_hlo.cli.main import main

main()
