"""Topic: attention weights are not explanations."""

from __future__ import annotations

import numpy as np

from sdpa_cli.explaining.maths import entry, equal, vector
from sdpa_cli.explaining.steps.output import certified, left_out, mixture
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Command, Facts, Link, Step, Worked, words

WRITER = Writer("weights-are-not-explanations")
WEIGHTS, VALUES = np.array([0.1, 0.9]), np.array([[10.0, 0.0], [-1.0, 0.0]])
LEFT_WEIGHTS, LEFT_VALUES = np.array([0.6, 0.3, 0.1]), np.array([[1.0], [2.0], [-8.0]])
OTHER_WEIGHTS, OTHER_VALUES = np.array([0.2, 0.6, 0.2]), np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
STUDIES = (
    Link("S. Jain and B. C. Wallace, Attention is not Explanation, 2019", "https://arxiv.org/abs/1902.10186"),
    Link("S. Wiegreffe and Y. Pinter, Attention is not not Explanation, 2019", "https://arxiv.org/abs/1908.04626"),
)


def not_explanations(options: TopicOptions) -> tuple[Step, ...]:
    """The counterexample; leaving keys out; other weights with the same output."""
    mixed = equal(entry("o", 0), mixture(WEIGHTS, VALUES), vector(map(float, WEIGHTS @ VALUES)))
    return (
        WRITER.step(
            "counterexample",
            WRITER.words("counterexample.why", light=float(WEIGHTS[0]), heavy=float(WEIGHTS[1])),
            Worked(mixed),
            WRITER.words("counterexample.reading", output=float((WEIGHTS @ VALUES)[0])),
        ),
        WRITER.step(
            "leave-one-out",
            WRITER.words("leave-one-out.why"),
            Worked(
                equal(entry("o", 0), mixture(LEFT_WEIGHTS, LEFT_VALUES), vector(map(float, LEFT_WEIGHTS @ LEFT_VALUES)))
            ),
            *left_out(LEFT_WEIGHTS, LEFT_VALUES, np.arange(len(LEFT_WEIGHTS))),
        ),
        WRITER.step(
            "certificate",
            WRITER.words("certificate.why"),
            Worked(
                equal(
                    entry("o", 0),
                    mixture(OTHER_WEIGHTS, OTHER_VALUES),
                    vector(map(float, OTHER_WEIGHTS @ OTHER_VALUES)),
                )
            ),
            *certified(OTHER_WEIGHTS, OTHER_VALUES, np.arange(len(OTHER_WEIGHTS))),
            WRITER.words("certificate.own"),
            Command("sdpa explain CASE.yaml --steps alternatives"),
        ),
        WRITER.step(
            "causes",
            WRITER.words("causes.why"),
            Facts(tuple((words("topic.source"), study) for study in STUDIES)),
        ),
    )
