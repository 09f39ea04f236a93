"""Matrices in files of their own: mapped, never unpickled, and refused with a reason."""

import contextlib
import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sdpa_cli.cases import load_cases
from sdpa_cli.errors import InputError, render

K = np.arange(6, dtype=float).reshape(2, 3)


@pytest.fixture
def loaded(case_of):
    """Reads a case whose Q is what is written."""
    return lambda written, more="": case_of(f"Q: {written}\nK: {K.tolist()}\nV: [[1], [2]]\n{more}")


@pytest.fixture
def refused(here):
    """What is told about a case whose Q is what is written."""

    def read(written, field="Q"):
        fields = {"Q": "[[1, 0, 0], [0, 1, 0]]", "K": str(K.tolist()), "V": "[[1], [2]]"} | {field: written}
        (here / "case.yaml").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
        with pytest.raises(InputError) as caught:
            load_cases(["case.yaml"])
        return "\n".join(map(render, caught.value.problems))

    return read


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.int64, np.uint16])
def test_an_npy_file_is_mapped_as_it_is(here, loaded, dtype):
    np.save("q.npy", K.astype(dtype))
    case = loaded("{file: q.npy}")
    assert (isinstance(case.q, np.memmap), case.q.flags.writeable, case.q.dtype) == (True, False, dtype)
    np.testing.assert_array_equal(case.q, K)


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_npy_layout_is_mapped(here, loaded, version, order):
    with Path("q.npy").open("wb") as file:
        np.lib.format.write_array(file, np.asarray(K, order=order), version)
    case = loaded("{file: q.npy}")
    assert isinstance(case.q, np.memmap)
    np.testing.assert_array_equal(case.q, K)


def test_foreign_byte_order_is_turned_round(here, loaded):
    np.save("q.npy", K.astype(">f8"))
    case = loaded("{file: q.npy}")
    assert case.q.dtype.isnative
    np.testing.assert_array_equal(case.q, K)


def test_a_stored_npz_member_is_mapped_too(here, loaded):
    np.savez("a.npz", left=K, right=-K)
    case = loaded("{file: a.npz, member: right}")
    assert isinstance(case.q, np.memmap)
    np.testing.assert_array_equal(case.q, -K)


def test_a_compressed_npz_member_is_read(here, loaded):
    np.savez_compressed("a.npz", only=np.asfortranarray(K))
    np.testing.assert_array_equal(loaded("{file: a.npz}").q, K)


def test_csv_is_read_by_the_rules_of_the_case_file(here, loaded):
    Path("q.csv").write_text("# a header\n1, -.5,1e-3\n\n+2,inf,3\n")
    assert loaded("{file: q.csv}").q.tolist() == [[1, -0.5, 0.001], [2, np.inf, 3]]


def test_csv_as_numpy_writes_it(here, loaded):
    np.savetxt("q.csv", K / 7, delimiter=",", header="q")
    np.testing.assert_array_equal(loaded("{file: q.csv}").q, K / 7)


HABITS = {
    "decimal commas": ("1,5;2,5\n", "q.csv:1:3: ", "save it with commas between the numbers, and points in them"),
    "semicolons": ("1;2\n", "q.csv:1:1: ", "values are separated by commas"),
    "quotes": ('"1","2"\n', "q.csv:1:1: ", "save the numbers without quotes"),
    "headings": ("a\n1\n", "q.csv:1:1: ", "remove the line of headings, or begin it with #"),
    "ragged": ("1,2\n3\n", "q.csv:2:1: error: row 2 has 1 value, the first has 2 values", "rows of one length"),
    "nothing": (
        "# only a comment\n",
        "case.yaml:1:11: error: 'q.csv' holds no row",
        "a line for each row, such as 1,2",
    ),
}


@pytest.mark.parametrize(("text", "first", "last"), HABITS.values(), ids=HABITS)
def test_csv_as_other_programs_write_it_is_refused_with_a_way_out(here, refused, text, first, last):
    Path("q.csv").write_text(text)
    told = refused("{file: q.csv}")
    assert told.startswith(first)
    assert told.endswith(f": {last}")


@pytest.mark.parametrize("value", ["{file: m.csv}", "{allowed: {file: m.csv}}"])
def test_a_mask_with_semicolons_is_refused_with_a_way_out(here, refused, value):
    Path("m.csv").write_text("0;1\n")
    assert refused(value, "mask") == (
        "m.csv:1:1: error: '0;1' is neither true nor false\n    0;1\n    ^\n"
        "  expected: 0, 1, true or false\n  hint: values are separated by commas"
    )


def test_another_format_named_csv_is_refused_as_such(here, refused):
    Path("q.csv").write_bytes(b"PK\x03\x04")
    assert refused("{file: q.csv}") == (
        "case.yaml:1:11: error: 'q.csv' is a zip or npz archive\n    Q: {file: q.csv}\n              ^\n"
        "  expected: numbers as text, with commas between them\n"
        "  hint: export it as csv from a spreadsheet; what NumPy saved keeps its ending, .npy or .npz"
    )


TENSORS = {
    "all.safetensors": 'np.savez("all.npz", **{n: t.float().numpy() for n, t in '
    'safetensors.torch.load_file("all.safetensors").items()}) makes an npz of it',
    "q.pt": 'read it with torch.load("q.pt", map_location="cpu") and write what is needed: '
    'np.savez("q.npz", q=tensor.detach().float().numpy())',
    "q.mat": None,
}


@pytest.mark.parametrize(("name", "hint"), TENSORS.items(), ids=TENSORS)
def test_files_of_tensors_are_refused_with_what_makes_an_npz_of_them(here, refused, name, hint):
    assert refused(f"{{file: {name}}}").splitlines()[3:] == [
        "  expected: a file whose name ends in .npy, .npz or .csv",
        *([f"  hint: {hint}"] if hint else []),
    ]


MEANT = {"Q": "{path: q.npy}", "bias": "{npy: q.npy}", "mask": "{path: m.npy}"}


@pytest.mark.parametrize(("field", "value"), MEANT.items(), ids=MEANT)
def test_other_words_for_file_are_understood(here, refused, field, value):
    assert refused(value, field).endswith("  hint: did you mean file?")


def test_an_archive_without_an_array_says_so(here, refused):
    np.savez("q.npz")
    assert "'q.npz' holds no array" in refused("{file: q.npz}")


def test_an_empty_axis_is_no_problem(here, case_of):
    np.save("q.npy", np.zeros((0, 3)))
    assert case_of(f"Q: {{file: q.npy}}\nK: {K.tolist()}\nV: [[1], [2]]\n").attend().output.shape == (0, 1)


def test_files_are_found_beside_the_case_file(here):
    folder = here / "folder"
    folder.mkdir()
    np.save(folder / "q.npy", K)
    (folder / "case.yaml").write_text(f"Q: {{file: q.npy}}\nK: {K.tolist()}\nV: [[1], [2]]\n")
    (case,) = load_cases([folder / "case.yaml"])
    np.testing.assert_array_equal(case.q, K)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32])
@pytest.mark.parametrize("written", ["mask: {file: m.npy}", "mask: {allowed: {file: m.npy}}"])
def test_a_mask_from_a_file(here, loaded, dtype, written):
    np.save("m.npy", np.array([[0, 1], [1, 0]], dtype))
    forbidden = loaded("[[1, 2, 3], [4, 5, 6]]", written).mask.forbidden
    assert forbidden.dtype == bool
    assert forbidden.tolist() == [[False, True], [True, False]] if "allowed" not in written else [[True, False]] * 2


def test_a_boolean_mask_stays_on_disk(here, loaded):
    np.save("m.npy", np.eye(2, dtype=bool))
    assert isinstance(loaded("[[1, 2, 3], [4, 5, 6]]", "mask: {file: m.npy}").mask.forbidden, np.memmap)


@pytest.mark.parametrize(
    ("stored", "dtype", "mapped", "computed"),
    [
        (np.float64, "float64", True, np.float64),
        (np.float32, "float32", True, np.float32),
        (np.float16, "float32", True, np.float32),
        (np.float32, "float64", True, np.float64),
        (np.float64, "float32", False, np.float32),
        (np.int32, "float64", True, np.float64),
    ],
)
def test_the_dtype_asked_for_is_computed_in(here, case_of, stored, dtype, mapped, computed):
    np.save("k.npy", np.ones((5, 3), stored))
    case = case_of(
        f"Q: {{random: normal, shape: [2, 3], seed: 1}}\nK: {{file: k.npy}}\nV: {{file: k.npy}}\ndtype: {dtype}\n"
    )
    assert isinstance(case.k, np.memmap) is isinstance(case.v, np.memmap) is mapped
    assert case.attend().dtype == computed


def test_float64_needs_only_the_smallest_of_three_float32_files(here, case_of):
    for name, shape in (("q", (2, 3)), ("k", (5, 3)), ("v", (5, 1))):
        np.save(f"{name}.npy", np.ones(shape, np.float32))
    case = case_of("Q: {file: q.npy}\nK: {file: k.npy}\nV: {file: v.npy}\n")
    assert [array.dtype for array in (case.q, case.k, case.v)] == [np.float32, np.float32, np.float64]
    assert case.attend().dtype == np.float64


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("sprung"),)


@pytest.mark.parametrize("name", ["trap.npy", "trap.npz"])
def test_nothing_is_ever_unpickled(here, refused, name):
    trap = np.array([Trap()], dtype=object)
    (np.save if name.endswith("npy") else np.savez)(name, trap)
    Path("bare.npy").write_bytes(pickle.dumps(Trap()))
    assert refused(f"{{file: {name}}}") == (
        f"case.yaml:1:11: error: '{name}' holds pickled Python objects, which are never unpickled\n"
        f"    Q: {{file: {name}}}\n              ^\n  expected: an array of numbers\n"
        "  hint: save the numbers with a numeric dtype: astype(float)"
    )
    assert "is no npy file" in refused("{file: bare.npy}")
    assert not Path("sprung").exists()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


BAD = {
    "short.npy": (npy(K)[:-9], "'short.npy' is truncated: 48 bytes of numbers announced, 39 found"),
    "header.npy": (npy(K)[:20], "'header.npy' is damaged: EOF: reading array header, expected 118 bytes got 10"),
    "text.npy": (b"1, 2\n", "'text.npy' is no npy file"),
    "nothing.npy": (b"", "'nothing.npy' is no npy file"),
    "complex.npy": (npy(K * 1j), "'complex.npy' has dtype complex128"),
    "words.npy": (npy(np.array([["a"]])), "'words.npy' has dtype <U1"),
    "record.npy": (npy(np.zeros((2, 2), "i4,f4")), "'record.npy' has dtype [('f0', '<i4'), ('f1', '<f4')]"),
    "bool.npy": (npy(K > 1), "'bool.npy' has dtype bool"),
    "row.npy": (npy(K[0]), "Q has rank 1, shape (3,)"),
    "negative.npy": (npy(K).replace(b"(2, 3)", b"(-2,3)"), "'negative.npy' is damaged: it announces the shape (-2, 3)"),
    "huge.npy": (
        npy(K).replace(b"(2, 3), }" + b" " * 7, b"(99999999, 3), }"),
        "'huge.npy' is truncated: 2399999976 bytes of numbers announced",
    ),
    "not-a-zip.npz": (b"PK\x03\x04", "'not-a-zip.npz' is damaged or no npz file: File is not a zip file"),
    "text.txt": (b"1", "'text.txt' has an unknown ending"),
    "no-ending": (b"1", "'no-ending' has an unknown ending"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_where_it_is_named(here, refused, name):
    content, message = BAD[name]
    Path(name).write_bytes(content)
    first, *_ = refused(f"{{file: {name}}}").splitlines()
    column = 4 if message.startswith("Q") else 11
    assert first.startswith(f"case.yaml:1:{column}: error: {message}")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_truncated_member_takes_nothing_of_its_neighbour(here, refused, method):
    with zipfile.ZipFile("a.npz", "w", method) as archive:
        archive.writestr("short.npy", npy(K)[:-9])
        archive.writestr("whole.npy", npy(K))
    first, *_ = refused("{file: a.npz, member: short}").splitlines()
    assert first == "case.yaml:1:11: error: 'a.npz' is truncated: 48 bytes of numbers announced, 39 found"


def test_a_wrong_member_is_refused_with_those_there_are(here, refused):
    np.savez("a.npz", left=K, right=K)
    np.save("q.npy", K)
    assert [refused(written).splitlines()[0::3] for written in ("{file: a.npz}", "{file: a.npz, member: up}")] == [
        ["case.yaml:1:11: error: 'a.npz' does not say which array is meant", "  expected: member: one of left, right"],
        ["case.yaml:1:11: error: 'a.npz' has no array up", "  expected: member: one of left, right"],
    ]
    assert "leave member out: only npz archives have them" in refused("{file: q.npy, member: q}")
    assert "Q: file is missing" in refused("{member: q}")


def test_an_encrypted_or_corrupt_archive_is_refused(here, refused):
    np.savez_compressed("a.npz", only=np.random.default_rng(1).random((40, 40)))
    data = bytearray(Path("a.npz").read_bytes())
    data[300:340] = bytes(40)
    Path("corrupt.npz").write_bytes(data)
    assert "'corrupt.npz' is damaged or no npz file" in refused("{file: corrupt.npz}")
    locked = Path("a.npz").read_bytes()
    locked = locked.replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00")
    Path("locked.npz").write_bytes(locked)
    assert "locked.npz' is damaged or no npz file" in refused("{file: locked.npz}") or zipfile.is_zipfile("locked.npz")


def test_a_compressed_bomb_is_not_unpacked(here, refused, monkeypatch):
    monkeypatch.setattr("sdpa_cli.cases.npy_files.MAX_UNPACKED", 2**20)
    np.savez_compressed("bomb.npz", q=np.zeros((2**18, 1)))
    assert "'bomb.npz' unpacks to more than 1 MiB" in refused("{file: bomb.npz}")


def test_a_mask_file_of_other_values_is_refused(here, refused):
    np.save("m.npy", np.array([[0, -np.inf], [0, 0]]))
    np.save("words.npy", np.array([["a"]]))
    assert refused("{file: m.npy}", "mask") == (
        "case.yaml:4:14: error: 'm.npy' holds other values than 0 and 1\n    mask: {file: m.npy}\n                 ^\n"
        "  expected: a mask of 0 and 1, or of bool\n"
        "  hint: an additive mask of 0 and -inf becomes a mask with mask == -np.inf"
    )
    assert "'words.npy' has dtype <U1" in refused("{file: words.npy}", "mask")


def test_a_missing_file_is_told_with_the_near_one(here, refused):
    np.save("queries.npy", K)
    assert refused("{file: querys.npy}").splitlines()[-1] == "  hint: did you mean queries.npy?"
    assert refused("{file: folder/q.npy}").splitlines()[-1] == "  hint: there is no directory folder"


def test_directories_and_pipes_are_refused(here, refused):
    Path("d.npy").mkdir()
    os.mkfifo("pipe.npy")
    assert "'d.npy' is a directory" in refused("{file: d.npy}")
    assert "'pipe.npy' is a pipe or device" in refused("{file: pipe.npy}")


def test_random_bytes_are_never_an_internal_error(here, refused):
    random = np.random.default_rng(5)
    whole = {"q.npy": npy(K)}
    buffer = io.BytesIO()
    np.savez(buffer, q=K)
    whole["q.npz"] = buffer.getvalue()
    for name, data in whole.items():
        for _ in range(150):
            broken = bytearray(data)
            for position in random.integers(0, min(len(data), 400), 4):
                broken[position] = random.integers(256)
            Path(name).write_bytes(broken)
            (here / "case.yaml").write_text(f"Q: {{file: {name}}}\nK: {K.tolist()}\nV: [[1], [2]]\n")
            with contextlib.suppress(InputError):
                load_cases(["case.yaml"])
