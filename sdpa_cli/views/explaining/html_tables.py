"""Matrices and tables as HTML: headers with a scope, captions, heat maps whose values show on hover and on focus."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from sdpa_cli.explaining.trace import Matrix, Reasons, Words, words
from sdpa_cli.views.explaining.cells import Label, WrittenCell, labels, written
from sdpa_cli.views.explaining.mathml import mathml
from sdpa_cli.views.explaining.notation import Notation
from sdpa_cli.views.explaining.plain import plain

LEVELS = 8
"""The heat map's classes are h0 to h8."""

Say = Callable[[Words], str]


def matrix_table(matrix: Matrix, notation: Notation, say: Say) -> str:
    """A matrix, its name as the caption.

    Parameters
    ----------
    matrix, notation
        The matrix, and how its numbers are written.
    say
        What makes HTML of a text.
    """
    found = written(matrix, notation)
    name = plain(matrix.name, notation)
    head = [_head(label, "col") for label in found.columns]
    if found.totals:
        head.append(f"<th scope='col'>{say(words('page.sum'))}</th>")
    rows = []
    for label, cells, total in found.rows:
        texts = [
            _cell(cell, f"{name}[{label.number},{column.number}]")
            for cell, column in zip(cells, found.columns, strict=True)
        ]
        texts += [f"<td class='total'>{escape(total)}</td>"] if found.totals else []
        rows.append(f"<tr>{_head(label, 'row')}{''.join(texts)}</tr>")
    caption = f"<caption><math>{mathml(matrix.name, notation)}</math></caption>"
    table = f"<table class='matrix'>{caption}{_thead(head)}<tbody>{''.join(rows)}</tbody></table>"
    return scrolling(table, name, "scroll shaded" if found.shaded else "scroll")


def reasons_table(reasons: Reasons, say: Say) -> str:
    """The mask: in each cell the rules that forbid it."""
    rows = [
        f"<tr>{_head(label, 'row')}{''.join(_rules(cell, say) for cell in row)}</tr>"
        for label, row in zip(labels(reasons.rows), reasons.cells, strict=True)
    ]
    head = [_head(label, "col") for label in labels(reasons.cols)]
    caption = "<caption><math><mi>M</mi></math></caption>"
    return scrolling(f"<table class='matrix'>{caption}{_thead(head)}<tbody>{''.join(rows)}</tbody></table>", "M")


def plain_table(columns: list[str], rows: list[list[str]], wide: bool) -> str:
    """A table of cells that are HTML already; a wide one holds sentences."""
    head = "".join(f"<th scope='col'>{column}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    look = " class='wide'" if wide else ""
    return scrolling(f"<table{look}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>", "")


def scrolling(table: str, name: str, look: str = "scroll") -> str:
    """A table that scrolls by itself on a narrow page; a keyboard reaches it for that."""
    label = f" role='region' aria-label='{escape(name)}'" if name else ""
    return f"<div class='{look}' tabindex='0'{label}>{table}</div>"


def _thead(head: list[str]) -> str:
    return f"<thead><tr><td></td>{''.join(head)}</tr></thead>"


def _head(label: Label, scope: str) -> str:
    if label.number is None:
        return f"<th scope='{scope}'>…</th>"
    return f"<th scope='{scope}'>{escape(f'{label.number} {label.token}'.rstrip())}</th>"


def _cell(cell: WrittenCell, name: str) -> str:
    if cell.kind == "gap":
        return "<td class='gap'>…</td>"
    classes: list[str] = [cell.kind] if cell.kind == "forbidden" else []
    classes += ["marked"] if cell.marked else []
    if cell.share is None:
        look = f" class='{' '.join(classes)}'" if classes else ""
        exact = f" title='{escape(cell.exact)}'" if cell.exact not in ("", cell.text) else ""
        return f"<td{look}{exact}>{escape(cell.text)}</td>"
    classes += ["heat", f"h{min(LEVELS, int(cell.share * LEVELS + 0.5))}"]
    exact = f"<span class='exact'>{escape(name)} = {escape(cell.exact)}</span>"
    return f"<td class='{' '.join(classes)}' tabindex='0'>{escape(cell.text)}{exact}</td>"


def _rules(cell: tuple[str, ...], say: Say) -> str:
    if not cell:
        unseen = f"<span class='unseen'>{say(words('page.allowed'))}</span>"
        return f"<td class='forbidden'><span aria-hidden='true'>·</span>{unseen}</td>"
    return f"<td>{', '.join(say(words(f'reason.{name}')) for name in cell)}</td>"
