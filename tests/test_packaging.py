"""The wheel: what is inside, and that it works away from the checkout."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_wheel_carries_the_exercises_and_the_types(site):
    for example in (ROOT / "exercises").rglob("*.yaml"):
        assert (site / "sdpa_cli" / example.relative_to(ROOT)).is_file()
    assert (site / "sdpa_cli" / "py.typed").is_file()


def test_the_wheel_carries_nothing_else(site):
    tops = {path.name for path in site.iterdir()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"sdpa_cli"}


def test_the_wheel_gives_the_sdpa_command(site):
    (points,) = site.glob("*.dist-info/entry_points.txt")
    assert "sdpa = sdpa_cli.cli:main" in points.read_text("utf-8")


def test_the_unpacked_wheel_computes(site, tmp_path):
    case = site / "sdpa_cli" / "exercises" / "examples" / "two-token.yaml"
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from sdpa_cli.cli import main; main()"
    command = [sys.executable, "-c", code, "compute", str(case), "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"schema_version": 1' in done.stdout
