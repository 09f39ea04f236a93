"""What `sdpa init` and `sdpa prove` say: a line for each exercise."""

from __future__ import annotations

from collections.abc import Iterable

from sdpa_cli.grading.beginning import Begun
from sdpa_cli.grading.proving import Proof
from sdpa_cli.grading.saying import Speaker


def begun_text(begun: Begun) -> str:
    """What was written, what was kept, and what to type next."""
    speaker, lines = begun.speaker, []
    if begun.backup is not None:
        lines.append(speaker("view.backup", exercise=begun.backup[0], path=begun.backup[1]))
    for name, found in begun.laid_out.items():
        if found.written:
            lines.append(speaker("view.created", exercise=name, count=len(found.written)))
        if found.kept:
            lines.append(speaker("view.kept", exercise=name, count=len(found.kept)))
    lines.append(f"{speaker('view.next')}: {begun.next_command}")
    return "".join(f"{line}\n" for line in lines)


def proof_text(proofs: Iterable[Proof], speaker: Speaker) -> str:
    """Each exercise with its objections."""
    lines = []
    for proof in proofs:
        lines += [f"{proof.exercise}: {objection}" for objection in proof.objections]
        if not proof.objections:
            lines.append(speaker("view.proved", exercise=proof.exercise))
    return "".join(f"{line}\n" for line in lines)
