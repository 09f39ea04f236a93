"""A proof to be put together from blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sdpa_cli.cases.kinds import Kind, ListOf
from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.fields import Pick
from sdpa_cli.grading.kinds.written import unanswered
from sdpa_cli.grading.proofs import Proof, score, standing
from sdpa_cli.grading.report import Finding, failed, passed, say


@dataclass(frozen=True)
class ProofRule:
    """Blocks in an order in which each follows from those before it, all of them and no others."""

    file: str
    key: str
    proof: Proof

    def questions(self) -> Mapping[str, Kind]:
        """A list of block ids."""
        return {self.key: ListOf(Pick(self.proof.blocks), f"[{', '.join(self.proof.blocks[:3])}]")}

    def judge(self, attempt: Attempt) -> Finding:
        """The score, and how far the order stands."""
        if (finding := unanswered(attempt, self.file, self.key)) is not None:
            return finding
        order = attempt.answers(self.file).values[self.key]
        twice = sorted({block for block in order if order.count(block) > 1})
        if twice:
            return failed(say("proof.twice", blocks=", ".join(twice)))
        share = score(self.proof, order)
        if share == 1:
            return passed()
        if attempt.seed is not None:
            # The instructor's run gives points; where an order first fails is for the student's own runs to find out.
            return failed(say("proof.partial"), share=share)
        stands = standing(self.proof, order)
        if stands == len(order):
            return failed(say("proof.unfinished", stands=stands), share=share)
        key = "proof.first-wrong" if stands else "proof.wrong-start"
        return failed(say(key, stands=stands, next=stands + 1, block=order[stands]), share=share)
