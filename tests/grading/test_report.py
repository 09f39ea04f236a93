"""Points are added up in one place, and nothing that is open or broken counts as lost or as won."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.grading.report import FeedbackItem, Finding, Report, Status, failed, passed

ITEMS = st.builds(
    FeedbackItem,
    st.text("abc", min_size=1, max_size=3),
    st.builds(Finding, st.sampled_from(Status), st.floats(0, 1)),
    st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.0]),
    st.sampled_from([0.0, 1.0]),
)


@given(st.lists(ITEMS, max_size=8))
@settings(deadline=None, max_examples=100)
def test_totals(items):
    report = Report("F3", tuple(items))
    assert report.points == sum(item.earned for item in items)
    assert report.max_points == sum(item.possible for item in items)
    assert 0 <= report.open_points <= report.max_points
    assert all(0 <= item.earned <= item.possible + item.bonus for item in items)
    assert report.complete == all(i.earned >= i.possible for i in items if i.status is not Status.OPEN)


def test_a_share_is_rounded_down_to_quarters():
    shares = {share: FeedbackItem("a", failed(share=share), 4.0).earned for share in (0, 0.2, 0.25, 0.6, 0.999, 1)}
    assert shares == {0: 0, 0.2: 0, 0.25: 1, 0.6: 2, 0.999: 3, 1: 4}


def test_three_thirds_are_everything():
    assert FeedbackItem("a", Finding(Status.PASSED, 1 - 0 / 3), 3.0).earned == 3


def test_a_bonus_is_never_missing():
    report = Report("F3", (FeedbackItem("a", passed(), 1.0), FeedbackItem("b", failed(), 0.0, 1.0)))
    assert (report.points, report.max_points, report.complete) == (1, 1, True)
    assert report.first_failed is None


def test_what_is_broken_is_not_complete():
    report = Report("F3", (FeedbackItem("a", Finding(Status.ERROR), 1.0),))
    assert (report.broken, report.complete) == (True, False)
