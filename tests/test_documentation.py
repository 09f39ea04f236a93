"""What the documents say is what the tool does."""

import doctest
import re

import pytest
from readme import README, ROOT, blocks, rendered
from typer.main import get_command

from sdpa_cli import __version__
from sdpa_cli.cli.application import application

TEXT = README.read_text("utf-8")


def test_the_readme_shows_what_its_commands_print(tmp_path):
    assert rendered(TEXT, tmp_path) == TEXT, "run `make docs` and read what changed"


def test_the_readme_s_python_examples_run():
    session = "".join(blocks(TEXT, "python"))
    example = doctest.DocTestParser().get_doctest(session, {}, "README", str(README), 0)
    assert example.examples
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.mark.parametrize("command", get_command(application()).commands)
def test_every_command_is_documented(command):
    assert f"sdpa {command}" in TEXT


@pytest.mark.parametrize("command", get_command(application()).commands.values(), ids=lambda command: command.name)
def test_every_option_is_documented_and_explained(command):
    for parameter in command.params:
        if parameter.name == "help":
            continue
        for name in parameter.opts:
            if name.startswith("--"):
                assert re.search(rf"`{name}\b", TEXT), f"{name} is not in the README"
        assert command.help
        assert parameter.param_type_name == "argument" or parameter.help


def test_the_changelog_speaks_of_this_version():
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_local_links_of_the_readme_exist():
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target
