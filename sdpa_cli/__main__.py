"""``python -m sdpa_cli`` is ``sdpa``."""

from sdpa_cli.cli import main

main()
