"""What can be wrong with a file before a word of it is read."""

import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from sdpa_cli.cases import files as files_room
from sdpa_cli.cases import load_case, load_cases
from sdpa_cli.errors import InputError, render

QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"


def told(*sources):
    with pytest.raises(InputError) as caught:
        load_cases(sources)
    return "\n".join(map(render, caught.value.problems))


@pytest.fixture
def piped(monkeypatch):
    """Sends bytes to standard input."""
    return lambda data: monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def test_a_missing_file(here):
    assert told("case.yaml") == "error: 'case.yaml' does not exist"


def test_a_missing_file_with_a_near_name(here):
    Path("causal.yaml").write_text(QKV)
    assert told("casual.yaml") == "error: 'casual.yaml' does not exist\n  hint: did you mean causal.yaml?"


def test_a_missing_directory(here):
    assert told("nowhere/case.yaml") == (
        "error: 'nowhere/case.yaml' does not exist\n  hint: there is no directory nowhere"
    )


def test_a_directory(here):
    assert told(".") == "error: '.' is a directory\n  expected: a file"


def test_a_pipe(here):
    os.mkfifo("pipe")
    assert told("pipe") == (
        "error: 'pipe' is a pipe or device\n  expected: a regular file\n"
        "  hint: to read from a pipe, give - and send it to standard input"
    )


def test_a_device():
    assert told("/dev/null").startswith("error: '/dev/null' is a pipe or device")


def test_no_name():
    assert told("") == "error: the name of the file is empty"


def test_an_unreadable_file(here, monkeypatch):
    Path("case.yaml").write_text(QKV)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert told("case.yaml") == "error: 'case.yaml' may not be read: permission denied"


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_a_name_that_no_file_can_have(here, name):
    assert "' cannot be read: " in told(name)


def test_a_file_that_is_too_large(here, monkeypatch):
    monkeypatch.setattr(files_room, "MAX_BYTES", 1 << 20)
    Path("case.yaml").write_bytes(b"#" * ((1 << 20) + 1))
    assert told("case.yaml") == (
        "error: 'case.yaml' is larger than 1 MiB\n  expected: a smaller text\n"
        "  hint: keep large matrices in .npy files and write Q: {file: q.npy}"
    )


def test_the_largest_file_that_is_read(here, monkeypatch):
    monkeypatch.setattr(files_room, "MAX_BYTES", len(QKV))
    Path("case.yaml").write_text(QKV)
    assert load_case("case.yaml").q.shape == (2, 2)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_every_encoding_that_yaml_allows(here, encoding):
    Path("case.yaml").write_bytes(f"{QKV}title: π ∈ ℝ\n".encode(encoding))
    assert load_case("case.yaml").title == "π ∈ ℝ"


def test_a_byte_order_mark_does_not_shift_columns(here):
    Path("case.yaml").write_bytes("Q: x".encode("utf-8-sig"))
    assert told("case.yaml").startswith("case.yaml:1:1: error: K and V are missing")
    assert "case.yaml:1:4: error: Q is 'x'" in told("case.yaml")


@pytest.mark.parametrize(
    ("data", "first"),
    [
        (b"Q: 1\ntitle: caf\xe9\n", "case.yaml:2:11: error: byte 0xE9 at offset 15 is not UTF-8"),
        (b"title: \xff\n", "case.yaml:1:8: error: byte 0xFF at offset 7 is not UTF-8"),
        (b"title: \xed\xa0\x80\n", "case.yaml:1:8: error: byte 0xED at offset 7 is not UTF-8"),
        (b"\xef\xbb\xbftitle: \xff\n", "case.yaml:1:8: error: byte 0xFF at offset 10 is not UTF-8"),
        (b"\xff\xfe\x00", "case.yaml:1:1: error: byte 0x00 at offset 2 is not UTF-16-LE"),
        (
            "Q: [[1]]\n---\n\ufeffK: [[1]]\n".encode(),
            "case.yaml:3:1: error: the control character U+FEFF is not allowed",
        ),
        (b"Q: [[1]]\n# \x07\n", "case.yaml:2:3: error: the control character U+0007 is not allowed"),
        (b"Q: \0", "error: 'case.yaml' is a binary file"),
        (b"PK\x03\x04", "error: 'case.yaml' is a zip or npz archive"),
        (b"\x93NUMPY", "error: 'case.yaml' is a NumPy array"),
        (b"%PDF-1.7", "error: 'case.yaml' is a PDF document"),
        (b"\x1f\x8b\x08", "error: 'case.yaml' is a gzip archive"),
    ],
)
def test_what_is_no_text(here, data, first):
    Path("case.yaml").write_bytes(data)
    assert told("case.yaml").splitlines()[0] == first


def test_standard_input(here, piped):
    Path("q.csv").write_text("1,0\n")
    piped(b"Q: {file: q.csv}\nK: [[1, 0]]\nV: [[2]]\n---\n" + QKV.encode())
    cases = load_cases(["-"])
    assert [case.source.name for case in cases] == ["<stdin>", "<stdin>"]
    assert cases[0].q.tolist() == [[1, 0]]


def test_a_problem_of_standard_input(here, piped):
    piped(b"Q: x\n")
    assert told("-").splitlines()[0] == "<stdin>:1:1: error: K and V are missing"


def test_standard_input_is_read_within_bounds(here, piped, monkeypatch):
    monkeypatch.setattr(files_room, "MAX_BYTES", 1 << 20)
    piped(b"#" * (2 << 20))
    assert told("-").startswith("error: '<stdin>' is larger than 1 MiB")


def test_standard_input_given_twice(here, piped):
    piped(QKV.encode())
    assert told("-", "-") == "error: standard input (-) can be read only once"


def test_no_standard_input(here, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    assert told("-") == "error: there is no standard input to read from"


def test_a_flood_of_documents_is_refused(here):
    Path("case.yaml").write_text("---\n" * 10_001)
    assert told("case.yaml") == "error: case.yaml holds more than 10000 documents"


def test_a_flood_of_problems_is_counted_up_to_a_bound(here):
    Path("case.yaml").write_text("---\n" * 5_000)
    assert told("case.yaml").splitlines()[-1] == "error: at least 980 more problems of case.yaml are not shown"
