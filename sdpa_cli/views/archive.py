"""``.npz`` archives of what was computed, written some rows at a time."""

from __future__ import annotations

import zipfile
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from sdpa_cli.computing import Computed, Matrix, shape_of, window
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.reading import in_parts, leading_indices


def save_archive(result: Computed, shown: Shown, file: IO[bytes]) -> None:
    """Write the shown matrices, whole, and the log-sum-exp, for `numpy.load`.

    Parameters
    ----------
    result
        What was computed.
    shown
        Which matrices; its rows and columns do not matter here.
    file
        Where to.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name in shown.of(result):
            dtype = np.dtype(np.bool_) if name == "mask" else result.attention.dtype
            with _member(archive, name, shape_of(result, name), dtype) as member:
                _write_matrix(result, name, member)
        lse = np.ascontiguousarray(result.attention.lse)
        with _member(archive, "lse", lse.shape, lse.dtype) as member:
            member.write(lse.tobytes())


def _write_matrix(result: Computed, name: Matrix, member: IO[bytes]) -> None:
    *_, height, breadth = shape_of(result, name)
    for leading in leading_indices(result, name, Shown()):
        for part in in_parts(window(result, name, leading), np.arange(height), np.arange(breadth)):
            member.write(np.ascontiguousarray(part).tobytes())


def _member(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> IO[bytes]:
    # A ZipInfo of its own, so that the same case gives the same bytes at any time of day.
    member = archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)
    npy.write_array_header_1_0(member, {"descr": dtype.str, "fortran_order": False, "shape": shape})
    return member
