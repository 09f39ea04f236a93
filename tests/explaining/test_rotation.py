"""Queries that a case gives itself are explained as they were computed: turned where the mask says they stand."""

import pytest

from sdpa_cli.attention import Rope, rotate
from sdpa_cli.cases import load_case
from sdpa_cli.explaining.derivation import derive
from sdpa_cli.explaining.maths import vector
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.trace import Table

KEYS = "K: [[9, 9], [1, 2], [3, 4], [5, 6]]\nV: [[9], [1], [2], [3]]\nrope: half\n"
PLACES = {
    "after-padding": ("mask: {query_offset: 2, key_lengths: 3, padding_side: left}\n", [2, 3]),
    "after-a-past": ("past: {K: [[1, 1]], V: [[1]]}\nmask: {query_offset: 3}\n", [3, 4]),
}


@pytest.mark.parametrize(("more", "positions"), PLACES.values(), ids=PLACES)
def test_given_queries_stand_where_the_mask_says(tmp_path, more, positions):
    (tmp_path / "case.yaml").write_text(f"Q: [[1, 2], [3, 4]]\n{KEYS}{more}")
    case = load_case(tmp_path / "case.yaml")
    step = next(step for step in derive(case, Selectors()).steps if step.name == "rope")
    (table,) = (part for part in step.parts if isinstance(part, Table))
    assert [row[1] for row in table.rows] == positions
    turned = rotate([[1, 2], [3, 4]], positions, Rope("half"))
    assert [row[3] for row in table.rows] == [vector(map(float, row)) for row in turned]
