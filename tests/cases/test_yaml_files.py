"""Other YAML files than cases: read with the same care, and called by their names."""

import pytest

from sdpa_cli.cases.groups import Field, Group
from sdpa_cli.cases.kinds import Integer
from sdpa_cli.cases.source import Source
from sdpa_cli.cases.yaml_files import FreeMapping, read_source
from sdpa_cli.errors import render

GROUP = Group((Field("largest", Integer(), ""),), "largest: …")
FREE = FreeMapping(Integer(), "{rows: 3}")
DUE = "  expected: a mapping such as largest: …"


@pytest.mark.parametrize(("kind", "text"), [(GROUP, "largest: 3\n"), (FREE, "--- {largest: 3}\n")])
def test_a_file_is_read(kind, text):
    problems = []
    assert read_source(Source("answers.yaml", text), kind.read, problems) == {"largest": 3}
    assert problems == []


REFUSED = {
    "nothing": (GROUP, "# later\n", "1:1: error: answers.yaml is empty\n    # later\n    ^"),
    "a list": (GROUP, "- largest\n", f"1:1: error: answers.yaml is a list\n    - largest\n    ^\n{DUE}"),
    "a word": (GROUP, "three\n", f"1:1: error: answers.yaml is 'three'\n    three\n    ^\n{DUE}"),
    "a list, of free keys": (
        FREE,
        "[3]\n",
        "1:1: error: answers.yaml is a list\n    [3]\n    ^\n  expected: a mapping such as {rows: 3}",
    ),
    "two documents": (
        GROUP,
        "largest: 3\n---\nlargest: 4\n",
        "2:1: error: answers.yaml holds a second document\n    ---\n    ^\n  hint: remove the line ---",
    ),
    "no YAML": (
        GROUP,
        "{largest: 3\n",
        "1:1: error: this mapping is not closed\n    {largest: 3\n    ^\n  hint: a } or a comma is missing after it",
    ),
}


@pytest.mark.parametrize(("kind", "text", "told"), REFUSED.values(), ids=REFUSED)
def test_a_file_is_refused_by_its_name(kind, text, told):
    problems = []
    read_source(Source("answers.yaml", text), kind.read, problems)
    assert "\n".join(map(render, problems)) == f"answers.yaml:{told}"
