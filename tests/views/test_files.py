import os
import stat
from pathlib import Path

import pytest

from sdpa_cli.errors import InputError
from sdpa_cli.views.files import replacing


def test_a_new_file_has_the_usual_permissions(tmp_path):
    path = tmp_path / "new.txt"
    with replacing(path) as file:
        file.write(b"new")
        assert not path.exists()
    (tmp_path / "usual").touch()
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert sorted(found.name for found in tmp_path.iterdir()) == ["new.txt", "usual"]


def test_an_old_file_stays_until_the_new_one_is_complete_and_lends_it_its_permissions(tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, InputError])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")

    def fail():
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError) as caught, replacing(path) as file:
        file.write(b"new")
    assert caught.value.problems[0].message == f"cannot write {path}: No space left on device"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_device_is_written_to():
    device = Path(os.devnull)
    with replacing(device) as file:
        file.write(b"gone")
    assert not device.is_file()


UNWRITABLE = {"a directory": (".", "it is a directory"), "no folder": ("none/file", "No such file or directory")}


@pytest.mark.parametrize(("name", "reason"), UNWRITABLE.values(), ids=UNWRITABLE)
def test_a_file_that_cannot_be_written_is_a_problem(tmp_path, name, reason):
    path = tmp_path / name
    with pytest.raises(InputError) as caught, replacing(path):
        pytest.fail("there is nothing to write to")
    assert caught.value.problems[0].message == f"cannot write {path}: {reason}"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with names")
def test_a_pipe_without_a_name_of_its_own_is_written_to():
    ours, theirs = os.pipe()
    with replacing(Path(f"/dev/fd/{theirs}")) as file:
        file.write(b"new")
    assert os.read(ours, 9) == b"new"
    os.close(ours)
    os.close(theirs)


def test_a_write_protected_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # nothing is protected from the superuser
    with pytest.raises(InputError) as caught, replacing(path) as file:
        file.write(b"new")
    assert caught.value.problems[0].message == f"cannot write {path}: it is write-protected"
    assert path.read_bytes() == b"old"
