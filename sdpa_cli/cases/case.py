"""What a case file says, once read: the frozen value that every command starts from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from sdpa_cli.attention import Attention, EmptyRowsError, Mask, NonFiniteScoreError, Placement
from sdpa_cli.attention.attending import attention_of
from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.attention.head_inputs import Heads
from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.options import Options
from sdpa_cli.attention.placement import UNPLACED
from sdpa_cli.attention.score_functions import Score
from sdpa_cli.cases.lowering import Layer
from sdpa_cli.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from sdpa_cli.attention import Decoded
    from sdpa_cli.attention.solving import Progress
    from sdpa_cli.cases.source import Source

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Expectation:
    """The values a case says it must give. None where it says nothing."""

    scores: Array | None = None
    """``(…, Tq, Tk)``: the logits that enter the softmax, −inf where a key is forbidden."""
    weights: Array | None = None
    """``(…, Tq, Tk)``."""
    heads: Array | None = None
    """The output of each head of a layer, ``(…, H, Tq, d_v)``."""
    concatenated: Array | None = None
    """The heads' outputs side by side, ``(…, Tq, H · d_v)``."""
    output: Array | None = None
    """``(…, Tq, d_v)``; of a layer, after W_O and b_O, ``(…, Tq, d_out)``."""
    tolerance: Tolerance = field(default_factory=Tolerance)


@dataclass(frozen=True, eq=False)
class Case:
    """One attention problem as its author wrote it, with every value checked.

    Arrays that came from a file may be memory maps; none is ever written to.
    """

    source: Source
    """Where it was read, so that a later problem can still point at line and column."""
    q: Array
    """Queries, ``(…, Tq, d_k)``; of a layer ``(…, H, Tq, d_k)``, projected and turned."""
    k: Array
    """Keys, ``(…, Tk, d_k)``, the cached ones first; of a layer ``(…, H_kv, Tk, d_k)``."""
    v: Array
    """Values, ``(…, Tk, d_v)``."""
    mask: Mask
    title: str | None = None
    query_labels: tuple[str, ...] | None = None
    key_labels: tuple[str, ...] | None = None
    bias: Array | None = None
    scale: float | None = None
    softcap: float | None = None
    dtype: Literal["float32", "float64"] = "float64"
    block_size: int | None = None
    empty_rows: Literal["error", "zero"] = "error"
    nonfinite: Literal["error", "propagate"] = "error"
    expect: Expectation | None = None

    alibi: bool | tuple[float, ...] = False
    """ALiBi: the usual slopes, or one per head."""
    score: Score | None = None
    """How queries and keys are compared; None for the scaled dot product."""
    placement: Placement = UNPLACED
    """What positions were told, and how; Q and K are turned by them already."""
    layer: Layer | None = None
    """What Q, K and V were made of, if not given."""
    cached: int = 0
    """How many of the keys came from a cache, in front of the others."""
    decode: bool = False
    """Whether the tokens are fed one at a time."""
    files: tuple[Path, ...] = ()
    """The files that matrices came from."""

    @property
    def options(self) -> Options:
        """The settings of the case besides its arrays."""
        return Options(
            scale=self.scale,
            softcap=self.softcap,
            empty_rows=self.empty_rows,
            nonfinite=self.nonfinite,
            block_size=self.block_size,
            alibi=self.alibi,
            score=self.score,
        )

    def inputs(self, threads: int | None = None) -> Inputs:
        """The case as the engine takes it, on so many threads.

        Raises
        ------
        InputError
            With every problem found, as `sdpa_cli.attend` does.
        """
        batched = self.layer is None or self.layer.x.ndim == 3
        options = replace(self.options, threads=threads)
        return Heads(self.q, self.k, self.v, batched).inputs(self.mask, self.bias, options)

    def attend(
        self, threads: int | None = None, executor: Executor | None = None, progress: Progress | None = None
    ) -> Attention:
        """Compute the case.

        Parameters
        ----------
        threads, executor, progress
            As in `sdpa_cli.attend`.

        Returns
        -------
        Attention
            Of each head, where the case has a layer of several.

        Raises
        ------
        InputError
            As `sdpa_cli.attend` does, with every problem at its place in the case file and indices counted from 1.
        """
        with self._placed():
            inputs = self.inputs(threads)
            return self.decoded().attention if self.decode else attention_of(inputs, executor, progress)

    def decoded(self) -> Decoded:
        """Compute the case one token at a time, through a cache.

        Raises
        ------
        InputError
            As `attend` does.
        """
        from sdpa_cli.attention.decoding import decode_inputs

        with self._placed():
            return decode_inputs(self.inputs())

    @contextmanager
    def _placed(self) -> Iterator[None]:
        """Tell problems at their place in the case file, counting from 1."""
        try:
            yield
        except EmptyRowsError as error:
            from sdpa_cli.cases.emptied import emptied

            raise emptied(self, error).located(self.source.locate) from None
        except NonFiniteScoreError as error:
            from sdpa_cli.cases.blaming import blamed

            raise blamed(self, error).located(self.source.locate) from None
        except InputError as error:
            raise error.located(self.source.locate) from None
