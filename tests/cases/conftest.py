"""Writing a case file and reading it back, in a directory of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sdpa_cli.cases import Case, load_case


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def case_of(here: Path) -> Callable[[str], Case]:
    """Reads a text as a case."""

    def read(text: str) -> Case:
        (here / "case.yaml").write_text(text, "utf-8")
        return load_case("case.yaml")

    return read
