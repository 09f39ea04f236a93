import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.views.windows import columns_that_fit, middle_hidden, panels, selection

SELECTED = {
    "one": ("3", 5, (2,)),
    "range": ("1:3", 5, (0, 1, 2)),
    "dash": ("4-6", 9, (3, 4, 5)),
    "open end": ("4:", 6, (3, 4, 5)),
    "open start": (":2", 6, (0, 1)),
    "list": ("1,4-6", 9, (0, 3, 4, 5)),
    "order kept": ("5,1", 9, (4, 0)),
    "once each": ("1:3,2", 9, (0, 1, 2)),
    "spaces": (" 1 , 4 : 5 ", 9, (0, 3, 4)),
    "beyond the end": ("2:1000000000", 3, (1, 2)),
}


@pytest.mark.parametrize(("text", "size", "indices"), SELECTED.values(), ids=SELECTED)
def test_selections(text, size, indices):
    assert selection(text).within(size) == indices


REFUSED = {
    "empty": ("", "'' is no index and no range; write for example 3, 1:8, 5: or 1,4-6"),
    "word": ("all", "'all' is no index and no range; write for example 3, 1:8, 5: or 1,4-6"),
    "only a colon": (":", "':' is no index and no range; write for example 3, 1:8, 5: or 1,4-6"),
    "trailing comma": ("1,", "'' is no index and no range; write for example 3, 1:8, 5: or 1,4-6"),
    "zero": ("0", "'0': rows and columns are counted from 1"),
    "up to zero": (":0", "':0': rows and columns are counted from 1"),
    "backwards": ("3:1", "'3:1' runs backwards"),
    "from the end": ("-1", "'-1': rows and columns are counted from 1; write :3 for the first 3"),
    "negative": ("1,-2:-1", "'-2:-1' is no index and no range; write for example 3, 1:8, 5: or 1,4-6"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_selections(text, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        selection(text)


@pytest.mark.parametrize(
    ("text", "size", "reaches"), [("3", 3, True), ("4", 3, False), ("1,9:", 8, False), (":9", 1, True)]
)
def test_a_selection_reaches_into_a_matrix_or_not(text, size, reaches):
    assert selection(text).reaches(size) is reaches


@given(size=st.integers(0, 60), room=st.integers(1, 20))
def test_what_is_shown_and_what_is_hidden_is_everything(size, room):
    visible = middle_hidden(size, room)
    assert sorted([*visible.indices, *visible.hidden]) == list(range(size))
    assert len(visible.indices) == min(size, room)
    assert (visible.gap is None) == (size <= room)
    if visible.gap is not None:
        assert all(i < visible.hidden.start for i in visible.indices[: visible.gap])
        assert all(i >= visible.hidden.stop for i in visible.indices[visible.gap :])


@given(
    widths=st.lists(st.integers(3, 12), min_size=1, max_size=20), more=st.integers(0, 5), available=st.integers(3, 90)
)
def test_as_many_columns_as_fit_and_never_none(widths, more, available):
    size = len(widths) + more
    fitting = columns_that_fit(widths, size, available, ellipsis=3)

    def taken(room):
        return sum(widths[i] for i in middle_hidden(len(widths), room).indices) + (3 if room < size else 0)

    assert 1 <= fitting <= len(widths)
    assert fitting == 1 or taken(fitting) <= available
    assert fitting == len(widths) or taken(fitting + 1) > available


@given(widths=st.lists(st.integers(3, 40), max_size=20), available=st.integers(3, 60))
def test_panels_hold_every_column_once_and_fit(widths, available):
    runs = panels(widths, available)
    assert [column for run in runs for column in run] == list(range(len(widths)))
    assert all(len(run) <= 1 or sum(widths[column] for column in run) <= available for run in runs)
