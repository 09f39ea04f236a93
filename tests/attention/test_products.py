"""Products in pieces are the products, whatever the number of rows, and are cut only where that pays."""

import numpy as np
import pytest

from sdpa_cli.attention import products
from sdpa_cli.attention.scratch import Scratch

ROWS = (0, 1, 15, 16, 30, 31, 33, 63, 64, 65, 127, 128, 200, 1024, 1025)


@pytest.fixture(params=[True, False], ids=["in-place", "repacked"])
def kernels(request, monkeypatch):
    monkeypatch.setattr(products, "reads_in_place", lambda: request.param)
    return request.param


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("lead", [(), (2, 3)], ids=str)
def test_a_product_in_pieces_is_the_product(rows, lead):
    rng = np.random.default_rng(rows)
    a, b = rng.standard_normal((*lead, rows, 40)), rng.standard_normal((*lead, 240, 40))
    out = np.full((*lead, rows, 240), np.nan)
    expected = a @ b.swapaxes(-1, -2)
    np.testing.assert_allclose(products.multiply_transposed(a, b, out, Scratch()), expected, rtol=1e-12, atol=1e-12)
    turned = np.ascontiguousarray(b.swapaxes(-1, -2))
    assert products.multiply(a, turned, out) is out
    np.testing.assert_allclose(out, a @ turned, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", ROWS[1:])
@pytest.mark.parametrize("multiplications", [1, 64, 240 * 64, 128 * 128, 10**5])
def test_no_piece_is_larger_than_what_is_read_in_place(rows, multiplications, monkeypatch):
    monkeypatch.setattr(products, "reads_in_place", lambda: True)
    size = products.piece_rows(rows, multiplications)
    assert 1 <= size <= rows
    if multiplications * products.STEP_ROWS <= products.SMALL_PRODUCT:
        assert size * multiplications <= products.SMALL_PRODUCT


def test_without_those_kernels_nothing_is_cut(monkeypatch):
    monkeypatch.setattr(products, "reads_in_place", lambda: False)
    assert products.piece_rows(1024, 240 * 64) == 1024
