"""What `sdpa doctor` says: a line for each thing, and beneath what is missing how to get it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sdpa_cli.classroom.examining import Examination
from sdpa_cli.views.glyphs import Glyphs

SCHEMA_VERSION = 1


def examination_text(found: Examination, glyphs: Glyphs) -> str:
    """For people."""
    return "".join(f"{line}\n" for line in _lines(found, glyphs))


def examination_json(found: Examination) -> str:
    """For programs."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "system": found.system,
        "versions": dict(found.versions),
        "cores": found.cores,
        "sandbox": found.offer.as_dict(),
        "warm_start": found.warm,
        "grades_a_class": found.grades,
        "extras": [
            {"name": one.name, "present": one.present, "use": one.use, "cure": one.cure} for one in found.extras
        ],
    }
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def _lines(found: Examination, glyphs: Glyphs) -> Iterator[str]:
    yield ", ".join(f"{name} {version}" for name, version in found.versions)
    yield f"{found.system}; cores that may be used: {found.cores}"
    yield ""
    yield "sandbox for submissions"
    for rung in found.offer.rungs:
        yield f"  {glyphs.tick if rung.available else glyphs.cross} {rung.level.name}  {rung.means}"
        for part in rung.missing:
            yield f"        missing: {part.part}"
            yield f"        get it:  {part.cure}"
    for note in found.offer.notes:
        yield f"  ! {note}"
    start = "forked from a warm interpreter, milliseconds each" if found.warm else "a new interpreter each, slowly"
    yield f"  submissions start: {start}"
    yield ""
    yield "extras"
    for extra in found.extras:
        yield f"  {glyphs.tick if extra.present else glyphs.cross} {extra.name}  {extra.use}"
        if not extra.present:
            yield f"        get it:  {extra.cure}"
    yield ""
    if found.grades:
        yield f"sdpa grade can be used here, at {found.offer.best.name}."
    else:
        yield f"sdpa grade asks for {found.least.name} ({found.least.means}) and refuses to run here."
