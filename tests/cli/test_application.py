"""The command line is put together from the modules of its room, and one run of it from one of them."""

from pathlib import Path

from typer.main import get_command

from sdpa_cli import cli
from sdpa_cli.cli.application import COMMANDS, application


def test_every_module_is_a_command():
    modules = {path.stem for path in Path(cli.__file__).parent.glob("*.py")} - {"__init__", "application"}
    assert sorted(COMMANDS) == sorted(modules)


def test_a_run_describes_its_own_command_alone():
    assert [*get_command(application(["compute"])).commands] == ["compute"]


def test_the_help_names_all_commands(capsys):
    assert cli.run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in COMMANDS)


def test_an_unknown_command_gets_the_near_one(capsys):
    assert cli.run(["compite", "case.yaml"]) == 2
    assert "Did you mean 'compute'?" in capsys.readouterr().err
