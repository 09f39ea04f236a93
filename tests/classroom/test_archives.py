"""Zip archives from strangers: what is read, and what is refused without being unpacked."""

import io
import stat
import struct
import unicodedata
import zipfile

import pytest
from classroom.generated import member, nameless, zipped

from sdpa_cli.classroom import archives, entries
from sdpa_cli.classroom.archives import archive_entries, nested_entries
from sdpa_cli.classroom.entries import folder_entries
from sdpa_cli.errors import InputError


def one(info, data=b"x = 1\n"):
    return zipped(lambda archive: archive.writestr(info, data))


def only(data):
    (entry,) = nested_entries("work.zip", data)
    return entry


def test_files_are_read_and_leavings_are_not_seen():
    def write(archive):
        for name in (
            "F3/attention.py",
            "__MACOSX/F3/._attention.py",
            "F3/.DS_Store",
            "F3/__pycache__/a.pyc",
            ".sdpa/F3/a.py",
            "F3/",
        ):
            archive.writestr(member(name), b"x = 1\n")

    (entry,) = nested_entries("work.zip", zipped(write))
    assert (entry.path, entry.read()) == (("F3", "attention.py"), b"x = 1\n")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(one(member("../attention.py")), "has a path that leads out of the archive", id="up"),
        pytest.param(one(member("a/../../attention.py")), "has a path that leads out of the archive", id="up later"),
        pytest.param(one(member("/etc/attention.py")), "has a path that leads out of the archive", id="absolute"),
        pytest.param(one(member("C:/attention.py")), "has a path that leads out of the archive", id="drive"),
        pytest.param(one(member("..\\attention.py")), "has a path that leads out of the archive", id="Windows' up"),
        pytest.param(
            one(member("attention.py", stat.S_IFLNK | 0o777), b"/etc/passwd"), "is a symbolic link", id="link"
        ),
        pytest.param(one(member("attention.py", stat.S_IFIFO | 0o777)), "is not a regular file", id="pipe"),
        pytest.param(one(member("attention.py"), bytes(64 << 20)), "is longer than 256 KiB", id="bomb"),
    ],
)
def test_what_is_dangerous_is_refused_when_it_is_read(data, message):
    with pytest.raises(InputError, match=message):
        only(data).read()


def test_an_encrypted_member_is_refused():
    data = bytearray(one(member("attention.py")))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    with pytest.raises(InputError, match="is encrypted"):
        only(bytes(data)).read()


def test_an_unusual_compression_is_refused():
    info = member("attention.py")
    info.compress_type = zipfile.ZIP_LZMA
    with pytest.raises(InputError, match="is compressed in an unusual way"):
        only(one(info)).read()


def test_what_the_archive_says_about_sizes_is_not_believed():
    data = bytearray(one(member("attention.py"), bytes(1 << 20)))
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)  # the uncompressed size
    with pytest.raises(InputError, match=r"is damaged in the archive|is longer than"):
        only(bytes(data)).read()


def test_two_of_one_name_are_not_guessed_between():
    def write(archive):
        archive.writestr(member("attention.py"), b"x = 1\n")
        archive.writestr(member("attention.py"), b"x = 2\n")

    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zipped(write)
    for entry in nested_entries("work.zip", data):
        with pytest.raises(InputError, match="is in the archive more than once"):
            entry.read()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(16), bytes(1000)])
def test_what_is_no_archive_is_refused(data):
    with pytest.raises(InputError, match=r"^work\.zip is no zip archive that can be read"):
        nested_entries("work.zip", data)


def test_too_many_members_are_refused(monkeypatch):
    monkeypatch.setattr(archives, "MOST_ENTRIES", 2)
    data = zipped(lambda archive: [archive.writestr(member(f"{n}.py"), b"") for n in range(3)])
    with pytest.raises(InputError, match="holds more than"):
        nested_entries("work.zip", data)


def test_names_are_as_they_were_meant():
    """macOS writes UTF-8 without saying so; zipfile then takes it for the code page of old DOS."""
    buffer = io.BytesIO()
    name = unicodedata.normalize("NFD", "Kovács Lőrinc.py")
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member(name), b"")
    data = bytearray(buffer.getvalue())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset + 1] &= ~0x08
    assert only(bytes(data)).path == (name,)


def test_a_member_without_a_name_is_nobody_s_and_spoils_nothing():
    two = zipped(lambda archive: [archive.writestr(member(name), b"x = 1\n") for name in ("a", "attention.py")])
    assert only(nameless(two)).path == ("attention.py",)


def test_names_are_no_longer_than_a_folder_s():
    """To look for upload numbers in a name of sixty thousand spaces would take half a minute."""
    data = one(member(f"{' ' * 60_000}/{'x' * 60_000}.py"[:65_000]))
    assert [len(name) for name in only(data).path] == [255, 255]


def test_an_export_is_read_from_its_file(tmp_path):
    (tmp_path / "export.zip").write_bytes(one(member("a/attention.py")))
    (entry,) = archive_entries(tmp_path / "export.zip")
    assert (entry.path, entry.read()) == (("a", "attention.py"), b"x = 1\n")


def test_a_folder_is_walked_without_following_links(tmp_path):
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / "attention.py").write_bytes(b"x = 1\n")
    (tmp_path / "anna" / ".git").mkdir()
    (tmp_path / "anna" / ".git" / "config").write_bytes(b"secret")
    (tmp_path / "link").symlink_to("/etc")
    found = {"/".join(entry.path): entry for entry in folder_entries(tmp_path)}
    assert set(found) == {"anna/attention.py", "link"}
    with pytest.raises(InputError, match="link is a symbolic link"):
        found["link"].read()


@pytest.mark.parametrize("above", ["", "export/"], ids=["at the top", "in the export's folder"])
def test_one_who_hands_in_a_whole_disk_ends_nobody_else_s_run(tmp_path, monkeypatch, above):
    """Files near the top are seen, however many lie beneath or come before them in the alphabet."""
    monkeypatch.setattr(entries, "MOST_OF_ONE", 4)
    monkeypatch.setattr(entries, "MOST_ENTRIES", 9)
    for name in ("anna/attention.py", "béla/F3/attention.py", *(f"béla/data/more/{at:02}.py" for at in range(30))):
        (tmp_path / above / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / above / name).write_bytes(b"")
    found = ["/".join(entry.path) for entry in folder_entries(tmp_path)]
    assert found == [
        f"{above}{name}"
        for name in ("anna/attention.py", "béla/F3/attention.py", *(f"béla/data/more/{at:02}.py" for at in range(3)))
    ]
    assert found == sorted(found)


def test_many_files_beside_a_list_are_all_seen(tmp_path, monkeypatch):
    """A class in a folder, and one file beside it: nobody's is left out, for there are not too many."""
    monkeypatch.setattr(entries, "MOST_OF_ONE", 4)
    names = [f"export/s{at:02}/{file}.py" for at in range(10) for file in "ab"]
    for name in (*names, "students.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert ["/".join(entry.path) for entry in folder_entries(tmp_path)] == [*names, "students.csv"]
    monkeypatch.setattr(entries, "MOST_ENTRIES", 30)
    for at in range(30):
        (tmp_path / f"export/s05/{at:02}.py").write_bytes(b"")
    found = {entry.path[1] for entry in folder_entries(tmp_path) if len(entry.path) > 1}
    assert found == {f"s{at:02}" for at in range(10)}, "only the one with too many is cut"
