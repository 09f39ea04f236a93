"""``sdpa bench`` as a user runs it, on problems too small to take time."""

import json

import pytest

from sdpa_cli.cli import run


def test_a_table_on_standard_output_and_nothing_else(capsys):
    assert run(["bench", "--workload", "full-16-f32", "--engines", "streaming,naive", "--threads", "1"]) == 0
    out, err = capsys.readouterr()
    assert "full-16-f32  B=1 H=8 T=16 d=64" in out
    assert err == ""


def test_json_in_a_file(capsys, tmp_path):
    target = tmp_path / "bench.json"
    options = [
        "--workload",
        "causal-16-*",
        "--engines",
        "naive",
        "--quick",
        "--format",
        "json",
        "--output",
        str(target),
    ]
    assert run(["bench", *options]) == 0
    rows = json.loads(target.read_text("utf-8"))["rows"]
    assert [(row["workload"], row["status"]) for row in rows] == [("causal-16-f32", "ok"), ("causal-16-f64", "ok")]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workload", "casual-16-f32"], "error: no workload is called 'casual-16-f32'"),
        (["--engines", "streaming,pytorch"], "error: no engine is called 'pytorch'"),
        (["--threads", "0"], "Invalid value for '--threads'"),
        (["--format", "xml"], "Invalid value for '--format'"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_wrong_name_is_the_users_mistake(capsys, options, message):
    assert run(["bench", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_wrong_answer_of_the_tools_own_is_a_failed_check(monkeypatch, capsys):
    # Agreement itself is refused, so that what is right counts as wrong.
    monkeypatch.setattr("sdpa_cli.benchmarking.oracle.agrees", lambda error, workload: False)
    assert run(["bench", "--workload", "full-16-f32", "--engines", "streaming", "--threads", "1"]) == 1
    assert "streaming wrong: its error is more than float32 rounding (full-16-f32)" in capsys.readouterr().out
