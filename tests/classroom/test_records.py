"""Reports as canonical text, and what a hidden check's record does not tell."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.classroom.records import from_text, kept, messages_of, to_text
from sdpa_cli.grading.report import FeedbackItem, Finding, Message, Report, Status, failed, passed, say


def report(*items, printed=""):
    return Report("F3", items, "L3", printed)


def failing(*messages, visibility="visible", **details):
    return FeedbackItem("check", failed(*messages, **details), 3.0, visibility=visibility, hints="mask")


def test_a_report_comes_back_as_it_was():
    inner = say("x", shape=(2, 3), error=math.nan)
    details = {"share": 0.5, "part": "output", "stage": "mask", "fault": "mask-ignored"}
    item = failing(say("call.raised", error="ValueError: no", inner=inner), **details)
    found = from_text(to_text(report(item, FeedbackItem("other", passed(), 1.0, bonus=2.0), printed="hello")))
    (first, second) = found.report.items
    assert (found.report.points, found.report.max_points, found.report.printed) == (1.5 + 3.0, 4.0, "hello")
    told = (first.finding.part, first.finding.stage, first.finding.fault, first.hints)
    assert told == ("output", "mask", "mask-ignored", "mask")
    inner = first.finding.messages[0].values["inner"]
    assert inner.values["shape"] == (2, 3)
    assert math.isnan(inner.values["error"])
    assert second.status is Status.PASSED
    assert [message.key for message in messages_of(first)] == ["call.raised", "x"]


def test_the_same_report_gives_the_same_bytes():
    def made():
        return to_text(report(failing(say("a", b=np.float64(1), c=np.int64(2), names=("x", "y")))))

    assert made() == made()
    assert json.dumps(json.loads(made()), sort_keys=True, separators=(",", ":")) == made()


def test_addresses_are_left_out():
    item = failing(say("call.raised", error="E: <object at 0x7f3a5c0012d0>"))
    text = to_text(report(item, printed="<f at 0xdeadbeef>"))
    assert "0x7f" not in text
    assert "0xdead" not in text


@pytest.mark.parametrize(
    ("messages", "key"),
    [
        ((say("value.differs", actual=0.123456789),), "hidden.differs"),
        ((say("call.raised-at", error="ValueError: 0.123456789"),), "hidden.raised"),
        ((say("call.timeout", detail="0.123456789"),), "hidden.stopped"),
        ((say("return.shape", found="0.123456789"),), "hidden.shape"),
    ],
)
def test_a_hidden_check_keeps_its_result_and_its_kind_only(messages, key):
    item = failing(*messages, visibility="hidden", part="output", stage="mask", fault="mask-ignored")
    text = to_text(report(item))
    assert "0.123456789" not in text
    (found,) = from_text(text).report.items
    assert (found.status, found.finding.messages, found.finding.stage) == (Status.FAILED, (Message(key),), None)


def test_a_timeout_anywhere_is_noticed():
    assert from_text(to_text(report(failing(say("file.does-not-load", why=say("call.timeout", detail="x")))))).timed_out
    assert not from_text(to_text(report(failing(say("call.raised", detail="timeout"))))).timed_out


def messages(inner):
    return st.dictionaries(st.text(max_size=5), inner, max_size=3).map(
        lambda given_values: Message("key", given_values)
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | messages(inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), values, max_size=4))
def test_any_message_can_be_kept(given_values):
    text = to_text(report(FeedbackItem("c", Finding(Status.FAILED, 0.0, (Message("key", given_values),)), 1.0)))
    assert to_text(from_text(text).report) == text


@pytest.mark.parametrize("text", [None, "", "{", "[]", "7", "{}", '{"items": [{}]}', '{"items": [7]}', "null"])
def test_a_record_that_was_damaged_is_none(text):
    assert kept(text) is None
