"""A function of an installed module, graded in place of a student's file."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sdpa_cli.grading.handed_in import Target

_TARGET = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<function>[^\W\d]\w*)")


def target_of(text: str) -> Target | None:
    """The module and function that a text names; None where it names a path.

    Examples
    --------
    >>> target_of("package.module:function")
    Target(module='package.module', function='function')
    >>> target_of("F3/attention.py") is None
    True
    """
    found = _TARGET.fullmatch(text)
    return Target(found["module"], found["function"]) if found else None


def shim(target: Target) -> bytes:
    """A file that imports the function with this process's import path, so that what is importable here is there."""
    path = [str(Path.cwd()), *(entry for entry in sys.path if entry)]
    return f"import sys\nsys.path[:0] = {path!r}\nfrom {target.module} import {target.function}\n".encode()
