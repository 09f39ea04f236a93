"""The exercises travel with the wheel, and the solutions do not."""

import os
import subprocess
import sys

from grading.items import EXERCISES


def test_every_file_of_every_exercise_is_in_the_wheel_and_no_solution_is(site):
    files = {p.relative_to(EXERCISES) for p in EXERCISES.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    there = {
        p.relative_to(site / "sdpa_cli" / "exercises")
        for p in (site / "sdpa_cli" / "exercises").rglob("*")
        if p.is_file()
    }
    assert there == files
    assert not [path for path in site.rglob("*") if "solutions" in path.parts]


def test_a_student_works_with_the_wheel_alone(site, tmp_path):
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from sdpa_cli.cli import main; main()"

    def sdpa(*arguments):
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "80"}
        )

    assert sdpa("init", "--lang", "en").returncode == 0
    done = sdpa("check", "F2")
    assert (done.returncode, done.stderr) == (1, "")
    assert "F2  Why the maximum may be subtracted                                0/10 points" in done.stdout
    assert sdpa("init", "--new-exercise", "course/E1").returncode == 0
    proved = sdpa("prove", "course/E1-solution", "--exercises", "course", "--lang", "en")
    assert proved.stdout == "E1: the starter fails, the solution passes, texts and cases are complete\n"
