"""Matrices in files of their own: npy, npz and csv, and whether they hold what is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from sdpa_cli.cases.cells import TRUTH_VALUES, Cell
from sdpa_cli.cases.csv_files import read_csv
from sdpa_cli.cases.files import Wanted, check_file, read_text, refusal
from sdpa_cli.cases.npy_files import Array, mapped
from sdpa_cli.cases.numbers import NotUnderstood
from sdpa_cli.errors import InputError, Problem

_CSV = Wanted(
    "numbers as text, with commas between them",
    "export it as csv from a spreadsheet; what NumPy saved keeps its ending, .npy or .npz",
)


def read_array_file(path: Path, name: str, member: str | None, cell: Cell) -> Array:
    """The array in a file.

    Parameters
    ----------
    path
        The file.
    name
        What messages call it.
    member
        Which array of an npz archive.
    cell
        What its entries must be.

    Returns
    -------
    ndarray
        A read-only memory map where the format allows it. Numbers keep the dtype of the file.

    Raises
    ------
    InputError
        When there is no such array. A problem without a place concerns the file as a whole.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".npy", ".npz"):
        expected, hint = "a file whose name ends in .npy, .npz or .csv", _from_tensors(path)
        raise _refused(f"'{name}' has an unknown ending", expected, hint)
    check_file(path, name)
    if member is not None and suffix != ".npz":
        raise _refused(f"'{name}' has no members", hint="leave member out: only npz archives have them")
    if suffix == ".csv":
        return read_csv(read_text(path, name, _CSV), name, cell)
    try:
        with path.open("rb") as stream:
            found = mapped(stream) if suffix == ".npy" else _member(stream, member)
    except OSError as error:
        raise refusal(path, name, error) from None
    except NotUnderstood as problem:
        raise _refused(f"'{name}' {problem.message}", problem.expected, problem.hint) from None
    return _of_cells(found, name, cell)


def _from_tensors(path: Path) -> str | None:
    """How what PyTorch saved becomes a file that is read here. NumPy has no bfloat16, so all become float32."""
    suffix = path.suffix.lower()
    if suffix == ".safetensors":
        tensors = f'safetensors.torch.load_file("{path.name}")'
        return (
            f'np.savez("{path.stem}.npz", **{{n: t.float().numpy() for n, t in {tensors}.items()}}) makes an npz of it'
        )
    if suffix in (".pt", ".pth", ".ckpt", ".bin"):
        made = f'np.savez("{path.stem}.npz", q=tensor.detach().float().numpy())'
        return f'read it with torch.load("{path.name}", map_location="cpu") and write what is needed: {made}'
    return None


def _member(stream: BinaryIO, member: str | None) -> Array:
    # Python's zip reader takes long to import, and few cases need it.
    from sdpa_cli.cases.archives import read_member

    return read_member(stream, member)


def _refused(message: str, expected: str | None = None, hint: str | None = None) -> InputError:
    return InputError(Problem("array-file", message, expected, hint))


def _of_cells(found: Array, name: str, cell: Cell) -> Array:
    """The array, if it holds what is wanted."""
    numeric = found.dtype.kind in "iu" or found.dtype in (np.float16, np.float32, np.float64)
    if cell is TRUTH_VALUES:
        return found if found.dtype == np.bool_ else _truths(found, name, numeric)
    if numeric:
        return found
    raise _refused(f"'{name}' has dtype {found.dtype}", "float16, float32, float64 or integers")


def _truths(found: Array, name: str, numeric: bool) -> Array:
    if not numeric:
        raise _refused(f"'{name}' has dtype {found.dtype}", "bool, or numbers that are all 0 or 1")
    if not all(bool(((row == 0) | (row == 1)).all()) for row in np.atleast_1d(found)):
        hint = "an additive mask of 0 and -inf becomes a mask with mask == -np.inf"
        raise _refused(f"'{name}' holds other values than 0 and 1", "a mask of 0 and 1, or of bool", hint)
    return np.asarray(found == 1)
