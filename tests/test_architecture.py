"""The rules of the house, held by reading its own source."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "sdpa_cli"
FILES = sorted(HOUSE.rglob("*.py"))

# The rooms that each room imports from, all of them below it. A room that is not listed here does not exist.
BELOW = {
    "errors": set(),
    "cpus": set(),
    "signals": set(),
    "attention": {"errors", "cpus"},
    "faults": {"attention"},
    "languages": {"errors"},
    "clusters": {"errors"},
    "cases": {"errors", "attention"},
    "computing": {"attention", "cases"},
    "benchmarking": {"errors", "cpus", "signals", "attention"},
    "sandbox": {"errors", "signals"},
    "explaining": {"errors", "attention", "faults", "languages", "cases"},
    "grading": {"errors", "attention", "faults", "languages", "cases", "sandbox"},
    "classroom": {"errors", "cpus", "languages", "clusters", "sandbox", "grading"},
    "views": {
        *("errors", "attention", "languages", "cases", "computing"),
        *("benchmarking", "explaining", "grading", "classroom"),
    },
    "cli": {
        *("errors", "attention", "languages", "cases", "computing"),
        *("benchmarking", "clusters", "sandbox", "explaining", "grading", "classroom", "views"),
    },
    "__main__": {"cli"},
    "__init__": {"attention", "cases"},
}
# A library that may be imported in one room only: its replacement then touches that room alone.
ONLY_IN = {
    "yaml": {"cases", "languages"},
    "typer": {"cli"},
    "click": {"cli"},
    "rich": {"views"},
    "subprocess": {"sandbox", "benchmarking"},
}
NEVER = {"pickle"}


def room(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def rooms_used_by(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports(path) if name.startswith("sdpa_cli.")} - {"__version__"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_imports_point_down(path):
    here = room(path)
    used = rooms_used_by(path)
    assert used <= BELOW[here] | {here}, f"{here} may not import {used - BELOW[here]}"


@pytest.mark.parametrize("here", BELOW)
def test_what_may_be_imported_is(here):
    used = set().union(*(rooms_used_by(path) for path in FILES if room(path) == here))
    assert used - {here} == BELOW[here]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_a_library_stays_in_its_room(path):
    for name in imports(path):
        library = name.split(".")[0]
        assert library not in NEVER
        assert library not in ONLY_IN or room(path) in ONLY_IN[library], f"{path} imports {library}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_rooms_stay_small(path):
    text = path.read_text("utf-8")
    assert text.count("\n") <= 250
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a file says in its first line what lives in it"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert length <= 40, f"{path}:{node.lineno} {node.name} has {length} lines beneath its docstring"


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("code", ["import sdpa_cli", "import sdpa_cli.cli"])
def test_start_up_waits_for_no_heavy_library(code):
    assert not loaded_by(code) & {"numpy", "yaml", "rich", "threadpoolctl", "typer"}


def test_one_case_needs_no_more_of_the_libraries_than_it_uses():
    case = HOUSE.parent / "exercises" / "examples" / "two-token.yaml"
    loaded = loaded_by(f"from sdpa_cli.cli import run; run(['compute', {str(case)!r}, '--output', {os.devnull!r}])")
    assert not loaded & {"numpy.ma", "concurrent.futures", "logging", "zipfile", "sdpa_cli.cli.grade"}
