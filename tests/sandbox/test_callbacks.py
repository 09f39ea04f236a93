"""A student's own tests, run against functions that stay in the parent."""

# ruff: noqa: E501 # a submission in a table is one line

import numpy as np
import pytest

from sdpa_cli.sandbox import Kind, Limits, Sandbox

MINE = b"""
import numpy as np
import pytest
from attention import attention

def test_rows():
    out, weights = attention(np.eye(2), np.eye(2), np.eye(2), mask=None)
    assert np.allclose(weights.sum(-1), 1), "rows"

def test_masked_row():
    with pytest.raises(ValueError, match="row 1"):
        attention(np.eye(2), np.eye(2), np.eye(2), np.ones((2, 2), bool))

def helper(): raise AssertionError
"""


def right(q, k, v, mask=None):
    scores = q @ k.T / np.sqrt(k.shape[-1])
    if mask is not None and mask.all(axis=-1).any():
        raise ValueError("row 1 has no key")
    weights = np.exp(scores)
    weights /= weights.sum(-1, keepdims=True)
    return weights @ v, weights


def unscaled(q, k, v, mask=None):
    return v, np.exp(q @ k.T)


@pytest.fixture(scope="module")
def box():
    with Sandbox() as made:
        yield made


@pytest.mark.parametrize(
    ("function", "kinds"),
    [
        pytest.param(right, {"test_rows": "returned", "test_masked_row": "returned"}, id="the right function"),
        pytest.param(unscaled, {"test_rows": "raised", "test_masked_row": "raised"}, id="a fault"),
    ],
)
def test_tests_tell_the_right_function_from_a_fault(box, function, kinds):
    with box.open(MINE, "test_attention.py", provide={"attention": function}) as submission:
        outcomes = submission.run_tests()
    assert {name: str(outcome.kind) for name, outcome in outcomes.items()} == kinds
    assert [outcome.callbacks for outcome in outcomes.values()] == [1, 1]


@pytest.mark.parametrize(
    ("source", "results"),
    [
        pytest.param(
            "import attention\ndef test_a(): assert attention.attention(1) == 2",
            {"test_a": "returned"},
            id="import module",
        ),
        pytest.param(
            "from attention import *\ndef test_a(): assert attention(1) == 2", {"test_a": "returned"}, id="import all"
        ),
        pytest.param(
            "import attention as a\nassert a.attention(1) == 2\ndef test_a(): assert a.attention.__name__ == 'attention'",
            {"test_a": "returned"},
            id="called at import",
        ),
        pytest.param(
            "def test_a(): pass\ndef test_b(): assert False",
            {"test_a": "returned", "test_b": "raised"},
            id="in their order",
        ),
        pytest.param(
            "import pytest\n@pytest.mark.parametrize('x, y', [(1, 2), (2, 4)])\ndef test_a(x, y): assert y == x + 1",
            {"test_a[0]": "returned", "test_a[1]": "raised"},
            id="parametrised",
        ),
        pytest.param(
            "import pytest\n@pytest.mark.parametrize('x', [1, 2])\n@pytest.mark.parametrize('y', [1])\ndef test_a(x, y): assert x == y",
            {"test_a[0]": "returned", "test_a[1]": "raised"},
            id="parametrised twice",
        ),
        pytest.param(
            "import pytest\ndef test_a(): assert 0.1 + 0.2 == pytest.approx(0.3)\ndef test_b(): assert 1.1 == pytest.approx(1)",
            {"test_a": "returned", "test_b": "raised"},
            id="approximately",
        ),
        pytest.param(
            "import pytest\ndef test_a():\n    with pytest.raises(ValueError): pass",
            {"test_a": "raised"},
            id="did not raise",
        ),
        pytest.param(
            "import pytest\ndef test_a(): pytest.raises(ValueError, int, 'x')",
            {"test_a": "returned"},
            id="raises as a function",
        ),
        pytest.param(
            "class TestX:\n    def setup_method(self): self.x = 1\n    def test_a(self): assert self.x == 1\n    def test_b(self): assert self.x == 2",
            {"TestX.test_a": "returned", "TestX.test_b": "raised"},
            id="a class",
        ),
        pytest.param(
            "import unittest\nclass Mine(unittest.TestCase):\n    def setUp(self): self.x = 1\n    def test_a(self): self.assertEqual(self.x, 1)\n    def test_b(self): self.assertAlmostEqual(self.x, 2)",
            {"Mine.test_a": "returned", "Mine.test_b": "raised"},
            id="unittest",
        ),
        pytest.param(
            "import numpy as np\ndef test_a(): np.testing.assert_allclose(1, 2)",
            {"test_a": "raised"},
            id="numpy.testing",
        ),
        pytest.param(
            "import pytest\n@pytest.fixture\ndef two(): return 2\n@pytest.fixture(scope='module')\ndef four(two): return [two * 2]\n"
            "def test_a(four, two, one=1): assert (four, two, one) == ([4], 2, 1)\ndef test_b(three): pass\n"
            "class TestX:\n    def test_c(self, two): assert two == 2",
            {"test_a": "returned", "test_b": "raised", "TestX.test_c": "returned"},
            id="fixtures",
        ),
        pytest.param(
            "import pytest\ndone = []\n@pytest.fixture\ndef test_data():\n    done.append('begun')\n    yield done\n    done.append('ended')\n"
            "@pytest.mark.parametrize('x', [1, 2])\ndef test_a(test_data, x): assert done == ['begun', 'ended'] * (x - 1) + ['begun']\n"
            "def test_b(): assert done == ['begun', 'ended'] * 2",
            {"test_a[0]": "returned", "test_a[1]": "returned", "test_b": "returned"},
            id="fixtures that clear away",
        ),
        pytest.param(
            "import pytest, numpy as np\n@pytest.fixture\ndef two(): return 2\n@pytest.fixture\ndef counted(): return (x for x in [1, 2])\n"
            "@np.errstate(all='ignore')\ndef test_a(two): assert two == 2\ndef test_b(*, two): assert two == 2\n"
            "def test_c(counted): assert list(counted) == [1, 2]\n"
            "class TestX:\n    @pytest.fixture\n    def two(self): return 3\n    def test_d(self, two): assert two == 3",
            {"test_a": "returned", "test_b": "returned", "test_c": "returned", "TestX.test_d": "returned"},
            id="fixtures wherever they are named and defined",
        ),
        pytest.param(
            "import pytest\nclass TestX:\n    @pytest.mark.parametrize('x', [1, 2])\n    def test_a(self, x): assert x == 1",
            {"TestX.test_a[0]": "returned", "TestX.test_a[1]": "raised"},
            id="a class, parametrised",
        ),
        pytest.param("test_a = 3\nTest = 4", {}, id="no test"),
    ],
)
def test_the_forms_that_tests_come_in(box, source, results):
    with box.open(source.encode(), "test_mine.py", provide={"attention": lambda x: x + 1}) as submission:
        assert submission.load.kind is Kind.RETURNED, submission.load
        assert {name: str(outcome.kind) for name, outcome in submission.run_tests().items()} == results


def test_a_function_may_have_the_name_of_a_test(box):
    with box.open(b"def test_statistic(x, y, *, scale=1): return (x - y) * scale", "solution.py") as submission:
        assert submission.call("test_statistic", (3, 1), {"scale": 2}).value == 4


def test_a_provided_function_takes_the_place_of_the_files_own(box):
    source = b"def attention(x): return 'mine'\ndef test_a(): assert attention(1) == 'theirs'"
    with box.open(source, "solution.py", provide={"solution.attention": lambda x: "theirs"}) as submission:
        assert submission.run_tests()["test_a"].kind is Kind.RETURNED
    files = {
        "test_it.py": b"from attention import attention, other\ndef test_a(): assert attention(1) + other() == 3",
        "attention.py": b"def attention(x): return 9\ndef other(): return 1",
    }
    with box.open(files, provide={"attention": lambda x: x + 1}) as submission:
        assert submission.run_tests()["test_a"].kind is Kind.RETURNED


class OwnError(KeyError, ValueError):
    """An error that the jail does not know."""


def thrower(error):
    def throw(*_, **__):
        raise error

    return throw


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        pytest.param(ValueError("d_k differs"), ("ValueError", "d_k differs"), id="built-in"),
        pytest.param(OwnError("x"), ("KeyError", "\"'x'\""), id="nearest known class"),
        pytest.param(np.linalg.LinAlgError("singular"), ("ValueError", "singular"), id="NumPy's"),
    ],
)
def test_what_a_provided_function_raises_is_raised_there(box, error, seen):
    with box.open(
        b"import attention\ndef f(): attention.attention()", "f.py", provide={"attention": thrower(error)}
    ) as submission:
        fault = submission.call("f").error
    assert (fault.type, fault.message, fault.line) == (*seen, 2)


@pytest.mark.parametrize(
    ("call", "received"),
    [
        pytest.param(
            "g([[1, 2]], scale=[0.5])", (np.array([[1, 2]]), {"scale": np.array([0.5])}), id="lists are arrays"
        ),
        pytest.param("g(1, mask=None)", (1, {"mask": None}), id="plain values"),
        pytest.param("g((1, 'x'), flag=True)", ((1, "x"), {"flag": True}), id="tuples"),
    ],
)
def test_what_a_provided_function_receives(box, call, received):
    seen = []
    with box.open(
        f"from g import g\ndef f(): {call}".encode(), "f.py", provide={"g": lambda *a, **k: seen.append((*a, k))}
    ) as submission:
        assert submission.call("f").kind is Kind.RETURNED
    assert repr(seen) == repr([received])


TOO_LONG = ("ValueError", "a test may send at most 64 KiB in one call; this is more")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param("for _ in range(9): g(1)", ("RuntimeError", "more than 5 calls"), id="too many calls"),
        pytest.param(
            "g(np.zeros(101))",
            ("ValueError", "a test may send at most 100 numbers in one call; these are 101"),
            id="too many numbers",
        ),
        pytest.param("g(np.zeros(1 << 20, 'u1'))", TOO_LONG, id="more than a frame"),
        pytest.param(
            "g(np.zeros((64 << 10) + 800, 'u1'))", TOO_LONG, id="just more than a frame, by what is around it"
        ),
        pytest.param("g(b'x' * (1 << 20))", TOO_LONG, id="more than a frame that holds no numbers"),
        pytest.param("g([object()])", ("ValueError", None), id="objects"),
    ],
)
def test_callbacks_are_bounded(box, body, error):
    limits = Limits(callbacks=5, callback_numbers=100)

    def g(value):
        assert isinstance(value, np.ndarray | int)
        return value

    def strict(value):
        if not isinstance(value, np.ndarray | int):
            raise ValueError("no array")
        return g(value)

    with box.open(
        f"import numpy as np\nfrom g import g\ndef f():\n    {body}".encode(), "f.py", limits, {"g": strict}
    ) as submission:
        outcome = submission.call("f")
        assert (outcome.error.type, outcome.error.message if error[1] else None) == error
        assert submission.call("f").kind is Kind.RAISED, "the process is none the worse for it"


def test_the_functions_code_and_values_stay_outside(box):
    secret = "a-secret-" + "constant"

    def attention(x):
        """Documented."""
        return len(secret) + x

    source = f"""
import gc
from attention import attention
def f():
    attention(1)
    needle = {secret[:9]!r} + {secret[9:]!r}
    return (attention.__doc__, any(needle in repr(o) for o in gc.get_objects() if type(o) is dict),
            [type(cell.cell_contents).__name__ for cell in attention.__closure__])
"""
    with box.open(source.encode(), "f.py", provide={"attention": attention}) as submission:
        assert submission.call("f").value == (None, False, ["Channel", "int", "str"])
