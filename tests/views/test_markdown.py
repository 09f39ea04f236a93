from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.markdown import markdown_pieces

CASE = (
    "title: 'a *bold* <case>'\nQ: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"
    "queries: ['a|b', '[red]']\nkeys: [x, '`y`']\nmask: causal\nexpect: {weights: [[1, 0], [0.65, 0.33]], atol: 1e-4}\n"
)

TEXT = """\
## a \\*bold\\* \\<case\\>

- shapes: Q (Tq=2, d\\_k=2)   K (Tk=2, d\\_k=2)   V (Tk=2, d\\_v=3)
- scale: 1/√2 = 0.7071
- mask: causal: 1 of 4 cells forbidden

**weights**: `A = softmax(S), row by row`

| q\\\\k | x | \\`y\\` | sum |
| --- | ---: | ---: | ---: |
| **a\\|b** | 1.0000 | · | 1.0000 |
| **\\[red\\]** | 0.6698 | 0.3302 | 1.0000 |

**output**: `O = A·V`

|  | 1 | 2 | 3 |
| --- | ---: | ---: | ---: |
| **a\\|b** | 1.0000 | 0.0000 | 0.0000 |
| **\\[red\\]** | 0.6698 | 0.3302 | 0.0000 |

- ✗ weights differ in 2 of 4 cells; worst at A\\[2,1\\] (query "\\[red\\]", key "x"); \
expected 0.65, computed 0.66976155, off by 0.0198, allowed 0.000101
"""


def test_a_section_for_a_handout(computed):
    assert "".join(markdown_pieces(computed(CASE), Shown(("weights", "output")))) == TEXT + "\n"


def test_what_is_left_out_is_named(computed):
    text = "".join(
        markdown_pieces(
            computed(
                "Q: {random: normal, shape: [9, 1, 1], seed: 1}\nK: {random: normal, shape: [9, 40, 1], seed: 1}\n"
                "V: {random: normal, shape: [9, 40, 1], seed: 1}\n"
            ),
            Shown(("scores",)),
        )
    )
    assert "\n\n… columns 6 to 35 of 40 are hidden; --cols 6:35 shows them\n" in text
    assert "**scores**, batch 9 of 9: `S = QKᵀ/√d_k`\n" in text
    assert text.endswith("\n\n… 5 of 9 batch entries not shown: --format json has them all\n\n")
