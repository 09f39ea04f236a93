"""What is said on standard error when something goes wrong."""

from __future__ import annotations

from sdpa_cli.errors import SdpaError, render


def problem_text(error: SdpaError) -> str:
    """Everything an error has to say, each problem in a paragraph of its own."""
    return "\n".join(f"{render(problem)}\n" for problem in error.problems)


def internal_text(error: BaseException) -> str:
    """What to say when the tool itself failed."""
    return (
        f"internal error: {type(error).__name__}: {error}\n"
        "This is a fault of sdpa, not of your input. Please report it with the case file and the command;\n"
        "with SDPA_DEBUG=1 in the environment, the same command prints where it happened.\n"
    )
