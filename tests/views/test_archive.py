import io

import numpy as np
import pytest

from sdpa_cli.views.archive import save_archive
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.windows import selection

HEADS = (
    "Q: {random: normal, shape: [2, 4, 3, 2], seed: 1}\nK: {random: normal, shape: [2, 2, 5, 2], seed: 2}\n"
    "V: {random: normal, shape: [2, 2, 5, 3], seed: 3}\nmask: {key_lengths: [5, 2]}\n"
)


def saved(result, shown):
    file = io.BytesIO()
    save_archive(result, shown, file)
    return file.getvalue()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numpy_reads_what_was_computed(computed, dtype, monkeypatch):
    monkeypatch.setattr("sdpa_cli.computing.results.BLOCK_CELLS", 7)
    (result,) = computed(HEADS + f"dtype: {dtype}\n")
    archive = np.load(io.BytesIO(saved(result, Shown(rows=selection("1")))), allow_pickle=False)
    assert sorted(archive) == ["lse", "output", "scores", "weights"]
    attention = result.attention
    wanted = {"scores": attention.scores(), "weights": attention.weights()}
    for name, values in (wanted | {"output": attention.output, "lse": attention.lse}).items():
        assert archive[name].dtype == dtype
        np.testing.assert_allclose(archive[name], values, rtol=1e-12 if dtype == "float64" else 1e-4)


def test_show_chooses_what_is_saved(computed):
    (result,) = computed(HEADS)
    assert sorted(np.load(io.BytesIO(saved(result, Shown(("output",)))))) == ["lse", "output"]


def test_the_same_case_gives_the_same_bytes(computed):
    assert saved(*computed(HEADS), Shown()) == saved(*computed(HEADS), Shown())
