"""A benchmark report in its four forms, from figures that are given: nothing is measured here."""

import base64
import hashlib
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from rich.console import Console

from sdpa_cli.benchmarking.machine import Machine
from sdpa_cli.benchmarking.report import Measurement, Missing, Report, Status, compare, slopes, summarise
from sdpa_cli.benchmarking.workloads import select
from sdpa_cli.views.bench import document
from sdpa_cli.views.bench_axes import LogAxis, decades_around
from sdpa_cli.views.bench_cells import Series, digits
from sdpa_cli.views.bench_plot import plot_lines
from sdpa_cli.views.bench_svg import svg
from sdpa_cli.views.bench_terminal import table_text

MIB = 1 << 20
MACHINE = Machine(
    system="Linux 6.1",
    processor="A Processor",
    cpus=2,
    load=0.25,
    memory_bytes=24 << 30,
    python="3.11.7",
    blas="openblas 0.3",
    simd=("AVX2",),
    oracle="64-bit significand",
    settings=(("OPENBLAS_CORETYPE", "Zen"),),
)


def report_of(measurements):
    rows = compare(measurements)
    return Report(
        rows=rows,
        slopes=slopes(rows),
        summaries=summarise(rows),
        missing=(Missing("onnxruntime", ("onnxruntime", "onnx"), "pip install onnxruntime onnx"),),
        machine=MACHINE,
        versions=(("numpy", "2.4"), ("torch", "2.13")),
        threads=2,
        rounds=3,
        memory_method="resident high-water mark, reset before the call",
    )


def measurements():
    for name, scale in (("full-1024-f32", 1), ("full-2048-f32", 4)):
        workload = select([name])[0]
        yield Measurement(workload, "streaming", rounds=(0.01 * scale,) * 3, peak_bytes=3 * MIB, max_error=1.5e-7)
        naive = {"rounds": (0.03 * scale,) * 3, "peak_bytes": 34 * MIB * scale, "max_error": 2e-7}
        yield Measurement(workload, "naive", **naive)
        yield Measurement(workload, "floor", rounds=(0.008 * scale,) * 3, peak_bytes=MIB)
        yield Measurement(workload, "torch", rounds=(0.0125 * scale,) * 3, peak_bytes=4 * MIB, max_error=1e-7)
        wrong = {"status": Status.WRONG, "reason": "its error is more than float32 rounding"}
        yield Measurement(workload, "jax", rounds=(0.05 * scale,) * 3, max_error=float("nan"), **wrong)
    long = select(["one-head-65536-f32"])[0]
    yield Measurement(long, "naive", Status.STOPPED, "would need 16 GiB of 12 free")
    yield Measurement(long, "torch", Status.FAILED, "Error: <b>*bad* | [red]news</b>")


@pytest.fixture
def report():
    return report_of(list(measurements()))


def terminal(report, **console):
    return table_text(report, Console(**{"file": io.StringIO(), "width": 80, "_environ": {}, **console}))


GOLDEN = """\
full-1024-f32  B=1 H=8 T=1024 d=64
engine                ms  / torch  / floor / streaming     MiB     max error
streaming           10.0     0.80     1.25        1.00    3.00       1.5e-07
naive               30.0     2.40     3.75        3.00    34.0       2.0e-07
floor               8.00     0.64     1.00        0.80    1.00
torch               12.5     1.00     1.56        1.25    4.00       1.0e-07
jax                 50.0     4.00     6.25        5.00             nan wrong
"""
STOPPED = """\
one-head-65536-f32  B=1 H=1 T=65536 d=64
engine                ms  / torch  / floor / streaming     MiB     max error
naive            stopped
torch             failed
"""
SLOPES = """\
How cost grows with T
series       fitted to      engine      time memory
full float32 T 1024 to 2048 streaming T^2.00 T^0.00
full float32 T 1024 to 2048 naive     T^2.00 T^2.00
full float32 T 1024 to 2048 floor     T^2.00 T^0.00
full float32 T 1024 to 2048 torch     T^2.00 T^0.00
full float32 T 1024 to 2048 jax       T^2.00
"""
SUMMARY = """\
Time over another's time
engine    keys         against      workloads mean worst where
streaming 1024 or more torch                2 0.80  0.80 full-2048-f32
streaming 1024 or more fastest peer         2 0.80  0.80 full-2048-f32
streaming 1024 or more floor                2 1.25  1.25 full-2048-f32
naive     1024 or more torch                2 2.40  2.40 full-2048-f32
naive     1024 or more fastest peer         2 2.40  2.40 full-2048-f32
naive     1024 or more floor                2 3.75  3.75 full-2048-f32
"""
NOTES = """\
jax wrong: its error is more than float32 rounding (full-1024-f32,
full-2048-f32)
naive stopped: would need 16 GiB of 12 free (one-head-65536-f32)
torch failed: Error: <b>*bad* | [red]news</b> (one-head-65536-f32)
onnxruntime is not installed; to measure it: pip install onnxruntime onnx
"""


@pytest.mark.parametrize("part", [GOLDEN, STOPPED, SLOPES, SUMMARY, NOTES], ids=lambda part: part.split("\n")[0])
def test_the_table_in_eighty_columns(report, part):
    assert part in terminal(report)


def test_the_circumstances_come_first(report):
    assert terminal(report, width=200).splitlines()[:7] == [
        "machine       A Processor, 2 CPUs, 24 GiB, Linux 6.1, load 0.2 before the run",
        "vector units  AVX2",
        "libraries     Python 3.11.7, numpy 2.4, torch 2.13; NumPy's BLAS: openblas 0.3",
        "protocol      2 threads each, one process per engine, up to 3 interleaved rounds",
        "memory        resident high-water mark, reset before the call",
        "oracle        64-bit significand",
        "environment   OPENBLAS_CORETYPE=Zen",
    ]


def test_a_terminal_without_unicode_is_served():
    text = terminal(report_of(list(measurements())), file=io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert text.isascii()


def test_colour_only_where_it_is_wanted(report):
    assert "\x1b[" in terminal(report, force_terminal=True, color_system="standard")
    assert "\x1b[" not in terminal(report)


def test_nothing_measured_is_still_a_report():
    text = terminal(report_of([]))
    assert "onnxruntime is not installed" in text
    assert document(report_of([]), "html", io.StringIO())
    assert json.loads(document(report_of([]), "json", io.StringIO()))["rows"] == []


def test_json_rows(report):
    found = json.loads(document(report, "json", io.StringIO()))
    assert found["schema_version"] == 1
    assert found["machine"]["settings"] == {"OPENBLAS_CORETYPE": "Zen"}
    assert found["versions"] == {"numpy": "2.4", "torch": "2.13"}
    assert found["rows"][0] == {
        "workload": "full-1024-f32",
        "dtype": "float32",
        "shape": {"B": 1, "H": 8, "H_kv": 8, "Tq": 1024, "Tk": 1024, "d": 64},
        "engine": "streaming",
        "status": "ok",
        "reason": None,
        "seconds": 0.01,
        "ratio_to_torch": pytest.approx(0.8),
        "ratio_to_floor": 1.25,
        "ratio_to_streaming": 1.0,
        "ratio_to_fastest_peer": pytest.approx(0.8),
        "peak_memory_bytes": 3 * MIB,
        "output_bytes": 8 * 1024 * 64 * 4,
        "max_error": 1.5e-7,
        "rounds": [0.01, 0.01, 0.01],
    }
    assert [row["max_error"] for row in found["rows"] if row["engine"] == "jax"] == ["nan", "nan"]
    assert found["rows"][-1]["seconds"] is None
    assert found["slopes"][1]["memory"] == pytest.approx(2)
    assert found["summaries"][0]["against"] == "torch"
    assert found["missing"][0]["engine"] == "onnxruntime"


def test_markdown_rows_have_as_many_cells_as_their_head(report):
    text = document(report, "markdown", io.StringIO())
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) == 3
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert "| full-1024-f32 | B=1 H=8 T=1024 d=64 | streaming | 10.0 | 0.80 | 1.25 | 1.00 | 3.00 | 1.5e-07 |" in text
    assert r"Error: \<b\>\*bad\* \| \[red\]news\</b\>" in text


class Outline(HTMLParser):
    """Which elements a page opens and never closes, and what it refers to."""

    def __init__(self):
        super().__init__()
        self.open, self.references, self.seen = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.references += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(report):
    text = document(report, "html", io.StringIO())
    page = Outline()
    page.feed(text)
    assert page.open == []
    assert page.references == []
    assert page.seen.count("svg") == 2
    assert "<b>" not in text
    assert "&lt;b&gt;*bad*" in text
    assert "prefers-color-scheme: dark" in text
    style = text.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}';" in text


def test_a_drawing_has_a_point_for_each_figure():
    series = Series("time", "ms", (("naive", ((16, 1.0), (64, 16.0))), ("a&b", ((16, 1.0), (64, 2.0)))))
    drawing = ElementTree.fromstring(svg(series, {"naive": "c0", "a&b": "c1"}))
    circles = list(drawing.iter("circle"))
    assert len(circles) == 4
    heights = [float(circle.get("cy")) for circle in circles]
    assert heights[0] == heights[2]
    assert heights[1] < heights[3] < heights[2], "more is higher"
    assert [title.text for title in drawing.iter("title")][-1] == "a&b, T = 64: 2.00 ms"
    labels = [float(text.get("y")) for group in drawing.iter("g") for text in group.iter("text")]
    assert abs(labels[0] - labels[1]) >= 14


def test_labels_neither_cover_each_other_nor_leave_the_drawing():
    series = Series("time", "ms", tuple((f"engine-{n}", ((16, 1.0), (64, 99.0 - n))) for n in range(6)))
    drawing = ElementTree.fromstring(svg(series, {f"engine-{n}": "c0" for n in range(6)}))
    heights = [float(text.get("y")) for group in drawing.iter("g") for text in group.iter("text")]
    assert heights == sorted(heights), "in the order of the lines"
    assert min(later - earlier for earlier, later in pairwise(heights)) >= 14
    assert min(heights) > 12


PLOT = """\
time, against T (both logarithmic)
  100 ms |
         |                      .n
         |                    .
         |                  .
         |                .
         |              .
   10 ms |            .
         |          .
         |        .
         |      .
         |    .             . . .s
         |  .   . . . . . .
    1 ms |* . .
          16                    64
n naive  s streaming  * several"""


def test_a_chart_in_characters():
    series = Series("time", "ms", (("naive", ((16, 1.0), (64, 64.0))), ("streaming", ((16, 1.0), (64, 2.0)))))
    assert "\n".join(line.plain for line in plot_lines(series, 39)) == PLOT


@pytest.mark.parametrize(
    ("engines", "marks"),
    [(("streaming", "sdpa"), "sd"), (("a", "a2", "aa"), "a20")],
    ids=["next letter", "number"],
)
def test_every_engine_has_a_mark_of_its_own(engines, marks):
    series = Series("time", "ms", tuple((engine, ((16, 1.0), (64, 2.0))) for engine in engines))
    legend = [line.plain for line in plot_lines(series, 60)][-1]
    found = [entry.split()[0] for entry in legend.split("  ")][: len(engines)]
    assert len(set(found)) == len(engines)
    assert "".join(found) == marks


def test_axes():
    axis = LogAxis(1.0, 100.0)
    assert [axis.at(value) for value in (1, 10, 100)] == [0, 0.5, 1]
    assert axis.decades == [1.0, 10.0, 100.0]
    assert LogAxis(5, 5).at(5) == 0.5
    assert decades_around([10.0]) == LogAxis(10.0, 100.0)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.5, "1234"), (999.9, "1000"), (0.00123, "0.00123"), (12.0, "12.0"), (0, "0"), (0.00001, "0.0000100")],
)
def test_three_digits(value, text):
    assert digits(value) == text


def test_a_wrong_or_failed_streaming_engine_does_not_hold(report):
    assert report.streaming_holds
    for status in (Status.WRONG, Status.FAILED, Status.UNSUPPORTED):
        broken = replace(report.rows[0].measurement, status=status, reason="why")
        assert not report_of([broken]).streaming_holds
    assert report_of([replace(report.rows[0].measurement, status=Status.STOPPED)]).streaming_holds
