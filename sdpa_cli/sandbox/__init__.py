"""The only place where untrusted code runs: in a locked process, from which only values come back."""

from sdpa_cli.sandbox.levels import Level, Offer
from sdpa_cli.sandbox.limits import Limits
from sdpa_cli.sandbox.outcome import Fault, Kind, Outcome
from sdpa_cli.sandbox.program import SandboxError
from sdpa_cli.sandbox.reading import read_source
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
]
