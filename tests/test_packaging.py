"""The wheel: what is inside, and that it works away from the checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def test_the_wheel_carries_the_exercises_and_the_types(unpacked):
    for example in (ROOT / "exercises").rglob("*.yaml"):
        assert (unpacked / "sdpa_cli" / example.relative_to(ROOT)).is_file()
    assert (unpacked / "sdpa_cli" / "py.typed").is_file()


def test_the_wheel_carries_nothing_else(unpacked):
    tops = {path.name for path in unpacked.iterdir()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"sdpa_cli"}


def test_the_wheel_gives_the_sdpa_command(unpacked):
    (points,) = unpacked.glob("*.dist-info/entry_points.txt")
    assert "sdpa = sdpa_cli.cli:main" in points.read_text("utf-8")


def test_the_unpacked_wheel_computes(unpacked, tmp_path):
    case = unpacked / "sdpa_cli" / "exercises" / "examples" / "two-token.yaml"
    code = f"import sys; sys.path.insert(0, {str(unpacked)!r}); from sdpa_cli.cli import main; main()"
    command = [sys.executable, "-c", code, "compute", str(case), "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"schema_version": 1' in done.stdout
