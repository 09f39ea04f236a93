"""An exercise's statement with its blocks and choices filled in, so that each of them is worded in one place only."""

from __future__ import annotations

import re

from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.kinds.proof_blocks import ProofRule
from sdpa_cli.grading.kinds.written import ChoiceRule
from sdpa_cli.languages import Texts

# A line of a statement in whose place the blocks, or the options, of the answer under a key are listed.
PLACE = re.compile(r"^<!-- (?P<what>blocks|options): (?P<key>\w+) -->$", re.MULTILINE)


def statement(exercise: Exercise, language: str) -> str:
    """What there is to do, as Markdown.

    Parameters
    ----------
    exercise, language
        Whose statement, in which language.
    """
    texts = exercise.texts(language)
    listed = blocks_and_options(exercise)
    return PLACE.sub(lambda found: _listed(texts, found["what"], found["key"], listed), exercise.statement(language))


def blocks_and_options(exercise: Exercise) -> dict[str, tuple[str, ...]]:
    """The ids that a student may write, by the key they are written under."""
    rules = [check.rule for check in exercise.checks]
    found = {rule.key: rule.proof.blocks for rule in rules if isinstance(rule, ProofRule)}
    return found | {rule.key: rule.options for rule in rules if isinstance(rule, ChoiceRule)}


def text_key(what: str, key: str, name: str) -> str:
    """Under which key of the exercise's texts a block or an option is worded."""
    return f"blocks.{key}.{name}" if what == "blocks" else f"options.{key}.{name}.text"


def _listed(texts: Texts, what: str, key: str, listed: dict[str, tuple[str, ...]]) -> str:
    return "\n".join(f"- `{name}`: {texts(text_key(what, key, name))}" for name in listed.get(key, ()))
