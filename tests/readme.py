"""Runs the README: what its commands print is what stands beneath them. `make docs` writes it, the tests hold it.

The README's conventions:
  ```yaml … ```     a block whose first line is `# NAME.yaml` is a file of that name;
  ```console … ```  each `$ COMMAND` runs in a folder with those files, and the lines beneath are what it prints;
  <!-- fields -->   … <!-- end -->  the table of the case file's fields;
  ```python … ```   doctests;
  ```sh … ```       set-up and long runs, which are not run here.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from sdpa_cli.cases import field_table

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIELDS = re.compile(r"(?<=<!-- fields -->\n).*?(?=<!-- end -->)", re.DOTALL)


def blocks(text: str, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(text) if name == language]


def lay_out(text: str, folder: Path) -> None:
    """Write the README's files, and the example cases it speaks of, into a folder."""
    for body in blocks(text, "yaml"):
        if found := re.match(r"# ([\w-]+\.yaml)\n", body):
            (folder / found[1]).write_text(body, "utf-8")
    (folder / "exercises").symlink_to(ROOT / "exercises")


def run(command: str, folder: Path) -> str:
    """What a person sees of a command in an 80-column terminal without colour, and the exit code unless it is 0."""
    kept = {name: os.environ[name] for name in ("HOME", "SYSTEMROOT") if name in os.environ}
    here = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={
            **kept,
            "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "80",
            "LANG": "C.UTF-8",
            "PYTHONUTF8": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    shown = "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip().splitlines())
    return shown + (f"(exit code {done.returncode})\n" if done.returncode else "")


def rendered(text: str, folder: Path) -> str:
    """The README as it must read: the same text with every output and table made anew."""
    lay_out(text, folder)

    def redo(block: re.Match[str]) -> str:
        if block[1] != "console":
            return block[0]
        commands = [line for line in block[2].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{run(line[2:], folder)}" for line in commands) + "```"

    return FIELDS.sub(lambda _: field_table().rstrip() + "\n", BLOCK.sub(redo, text))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        README.write_text(rendered(README.read_text("utf-8"), Path(name)), "utf-8")
