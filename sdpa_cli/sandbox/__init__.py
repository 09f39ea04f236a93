"""The only place where untrusted code runs: in a locked process, from which only values come back.

`Sandbox` is a place with a level of confinement; `Sandbox.open` gives a submission a process of its own;
`Submission.call` and `Submission.run_tests` ask it, and get an `Outcome` whatever it does. `probe` tells what the
machine offers. What runs behind the wall is in `inside`, and knows nothing of what is outside.
"""

from sdpa_cli.sandbox.levels import Level, Offer
from sdpa_cli.sandbox.limits import Limits
from sdpa_cli.sandbox.outcome import Fault, Kind, Outcome
from sdpa_cli.sandbox.program import SandboxError
from sdpa_cli.sandbox.reading import read_source, unreadable
from sdpa_cli.sandbox.sandbox import Sandbox, Start, probe

__all__ = [
    "Fault",
    "Kind",
    "Level",
    "Limits",
    "Offer",
    "Outcome",
    "Sandbox",
    "SandboxError",
    "Start",
    "probe",
    "read_source",
    "unreadable",
]
