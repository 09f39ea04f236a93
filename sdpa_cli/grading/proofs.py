"""Proofs as ordered blocks: how far an order is from a proof, and how far it stands.

After the dependency-graph grading of Proof Blocks (Poulsen et al., arXiv:2204.04196), with one change: a distractor
costs two steps, one for taking it out and one for having thought it true. At one step, as there, a proof with every
distractor in it would be worth as much as one with as many blocks missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST_BLOCKS = 15
"""The cover is exact, so its cost doubles with every other block."""
DISTRACTOR_COST = 2


@dataclass(frozen=True)
class Proof:
    """The blocks of a proof with what each rests on, and the blocks that belong to no proof."""

    needs: Mapping[str, tuple[str, ...]]
    distractors: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """Every id there is, in alphabetical order, so that the list gives nothing away."""
        return tuple(sorted((*self.needs, *self.distractors)))

    def ancestors(self) -> dict[str, frozenset[str]]:
        """Everything each block rests on, directly or not.

        Raises
        ------
        ValueError
            A block rests on one that is not there, or on itself.
        """
        found: dict[str, frozenset[str]] = {}

        def visit(block: str, below: tuple[str, ...]) -> frozenset[str]:
            if block in below:
                raise ValueError(f"{block} rests on itself")
            if block not in self.needs:
                raise ValueError(f"{below[-1]} rests on {block}, which is no block")
            if block not in found:
                direct = self.needs[block]
                found[block] = frozenset(direct).union(*(visit(need, (*below, block)) for need in direct))
            return found[block]

        for block in self.needs:
            visit(block, ())
        return found


def score(proof: Proof, order: Sequence[str]) -> float:
    """The worth of an order of distinct blocks, 0 to 1; 1 is any order in which each block follows what it rests on.

    Examples
    --------
    >>> proof = Proof({"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}, ("x",))
    >>> score(proof, ["a", "c", "b", "d"]), score(proof, ["a", "b", "d"]), score(proof, ["a", "b", "c", "d", "x"])
    (1.0, 0.75, 0.5)
    """
    kept = [block for block in order if block in proof.needs]
    above = proof.ancestors()
    conflicts = [(one, two) for at, one in enumerate(kept) for two in kept[at + 1 :] if two in above[one]]
    misplaced = smallest_cover(conflicts)
    distractors = len(order) - len(kept)
    missing = len(proof.needs) - (len(kept) - misplaced)
    steps = DISTRACTOR_COST * distractors + misplaced + missing
    return max(0.0, 1 - steps / len(proof.needs))


def standing(proof: Proof, order: Sequence[str]) -> int:
    """How many blocks at the beginning of an order follow from those before them.

    Examples
    --------
    >>> standing(Proof({"a": (), "b": ("a",), "c": ("b",)}), ["a", "c", "b"])
    1
    """
    seen: set[str] = set()
    for count, block in enumerate(order):
        if block not in proof.needs or not seen.issuperset(proof.needs[block]):
            return count
        seen.add(block)
    return len(order)


def smallest_cover(pairs: Iterable[tuple[str, str]]) -> int:
    """The least number of blocks whose removal leaves none of these pairs whole: a minimum vertex cover.

    Exact, by branching on the block in most pairs: it is in the cover, or all its partners are. Of 15 blocks that is
    some hundred branches at worst; networkx has only an approximation for graphs that are not bipartite.

    Examples
    --------
    >>> smallest_cover([("a", "b"), ("a", "c"), ("d", "c")])
    2
    """
    pairs = list(pairs)
    if not pairs:
        return 0
    blocks = [block for pair in pairs for block in pair]
    busiest = max(dict.fromkeys(blocks), key=blocks.count)
    partners = {block for pair in pairs if busiest in pair for block in pair} - {busiest}
    without = smallest_cover(pair for pair in pairs if busiest not in pair)
    if len(partners) == 1:
        return 1 + without
    rest = [pair for pair in pairs if not partners.intersection(pair)]
    return min(1 + without, len(partners) + smallest_cover(rest))
