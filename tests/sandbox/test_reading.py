"""Files that a stranger handed in: only a plain, short one is read, and none is waited for."""

import os
import sys

import pytest

from sdpa_cli.errors import InputError
from sdpa_cli.sandbox import read_source


def test_a_plain_file_is_read_byte_for_byte(tmp_path):
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfx = 1\r\n\xff")
    assert read_source(tmp_path / "a.py") == b"\xef\xbb\xbfx = 1\r\n\xff"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda path: None, "a.py cannot be opened: No such file or directory", id="missing"),
        pytest.param(lambda path: path.symlink_to("/etc/passwd"), "a.py is a symbolic link", id="symlink"),
        pytest.param(lambda path: path.symlink_to("nowhere"), "a.py is a symbolic link", id="dangling symlink"),
        pytest.param(os.mkfifo, "a.py is not a regular file", id="pipe"),
        pytest.param(lambda path: path.mkdir(), "a.py is not a regular file", id="folder"),
        pytest.param(lambda path: path.write_bytes(bytes((256 << 10) + 1)), "a.py is longer than 256 KiB", id="long"),
        pytest.param(lambda path: (path.touch(), os.truncate(path, 1 << 30)), "a.py is longer than 256 KiB", id="1 GB"),
    ],
)
def test_everything_else_is_refused(tmp_path, make, message):
    make(tmp_path / "a.py")
    with pytest.raises(InputError) as caught:
        read_source(tmp_path / "a.py")
    assert caught.value.problems[0].message == message


def test_a_device_is_refused():
    from pathlib import Path

    with pytest.raises(InputError, match=r"is not a regular file|cannot be opened"):
        read_source(Path(os.devnull))
