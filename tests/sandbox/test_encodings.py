"""A submission's encoding must not cost it anything at a level where nothing can be read any more."""

import pytest

from sdpa_cli.sandbox import Kind, Level, Sandbox
from sdpa_cli.sandbox.levels import candidates

TEXT = "word = 'Lőrinc'\n\n\ndef length():\n    return len(word)\n"
SOURCES = {
    "a byte order mark": b"\xef\xbb\xbf" + TEXT.encode("utf-8"),
    "Latin-2": b"# coding: iso-8859-2\n" + TEXT.encode("iso-8859-2"),
    "Windows": b"# coding: cp1250\n" + TEXT.encode("cp1250"),
    "DOS": b"# coding: cp852\n" + TEXT.encode("cp852"),
    "Latin-1": b"# coding: latin-1\n" + TEXT.replace("ő", "ö").encode("latin-1"),
    "ASCII": b"# coding: us-ascii\n" + TEXT.replace("ő", "o").encode("ascii"),
}


@pytest.fixture(scope="module", params=[level.name for level in candidates()])
def box(request):
    with Sandbox(Level[request.param]) as found:
        yield found


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_level_reads_it(box, source):
    with box.open(source, "words.py") as submission:
        outcome = submission.call("length")
    assert (submission.load.kind, outcome.value) == (Kind.RETURNED, 6), submission.load
