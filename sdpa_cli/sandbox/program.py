"""The command that starts a bare interpreter with the inside of the jail in it, and nothing else of the product."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from sdpa_cli.errors import ExitCode, Problem, SdpaError

# The product's packages as empty shells, so that `inside` finds its own modules by their names and no others.
# At-fork handlers repair what other threads had locked, and seed `random` anew: there is no other thread, and no
# outcome may depend on a seed, but they would cost each child half a millisecond.
_BOOT = """
import os, sys
os.register_at_fork = lambda **_: None
inside, site, control = sys.argv[1:]
for name, path in (("sdpa_cli", []), ("sdpa_cli.sandbox", []), ("sdpa_cli.sandbox.inside", [inside])):
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__path__ = path
sys.path.append(site)
if control:
    from sdpa_cli.sandbox.inside import pages
    arenas = pages.side_by_side()
from sdpa_cli.sandbox.inside.main import main
main(site, int(control) if control else None)
"""


class SandboxError(SdpaError):
    """The sandbox itself failed, or is not what was asked for. Never a student's fault."""

    exit_code = ExitCode.INTERNAL


def failure(code: str, message: str, hint: str | None = None) -> SandboxError:
    """A `SandboxError` with one problem."""
    return SandboxError(Problem(code, message, hint=hint))


@dataclass(frozen=True)
class Interpreter:
    """The Python that runs submissions: the one below any virtual environment, with this one's NumPy."""

    executable: Path
    prefix: Path
    numpy: Path
    inside: Path

    def command(self, control: int | None) -> list[str]:
        """Its command line; `control` is the inherited descriptor of a zygote's orders."""
        # -P -s -S: nothing on its path but its own library; -B: it writes nothing
        boot = [str(self.inside), str(self.numpy.parent), "" if control is None else str(control)]
        return [str(self.executable), "-P", "-s", "-S", "-B", "-c", _BOOT, *boot]


def interpreter() -> Interpreter:
    """The interpreter to be used, found without importing NumPy."""
    found = importlib.util.find_spec("numpy")
    if found is None or found.origin is None:
        raise failure("no-numpy", "NumPy is not installed beside sdpa")
    base = getattr(sys, "_base_executable", "") or sys.executable  # a virtual environment's is a launcher on Windows
    inside = Path(__file__).resolve().parent / "inside"
    return Interpreter(
        Path(base).resolve(), Path(sys.base_prefix).resolve(), Path(found.origin).resolve().parent, inside
    )


def environment() -> dict[str, str]:
    """All of the environment that a submission sees."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}  # Windows starts nothing without
    return kept | {
        "OPENBLAS_NUM_THREADS": "1",  # no threads: a fork would lose them and hang in the first matrix product
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "VECLIB_MAXIMUM_THREADS": "1",
        "PYTHONHASHSEED": "0",  # the same submission, the same outcome
        "PYTHONUTF8": "1",
        "LANG": "C.UTF-8",
        "PATH": os.defpath,
    }


def settings_frame(settings: dict[str, object]) -> bytes:
    """The settings as the interpreter reads them from its standard input."""
    text = json.dumps(settings).encode()
    return len(text).to_bytes(4, "little") + text
