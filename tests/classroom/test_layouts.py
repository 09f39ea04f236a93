"""Exports of every kind: which files belong together."""

import pytest

from sdpa_cli.classroom.layouts import deliveries_in, one_delivery

FILES = ("attention.py", "test_attention.py", "answers.yaml")


def found(entries, *paths, root="export"):
    return [
        (one.label.name, one.label.id, one.version, one.label.late, sorted("/".join(e.path) for e in one.entries))
        for one in deliveries_in(entries(*paths), root, FILES)
    ]


MOODLE = "Anna Kovács_1_assignsubmission_file_"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(
            [f"{MOODLE}/attention.py", f"{MOODLE}/sub/answers.yaml", "Béla Nagy_2_assignsubmission_file_/attention.py"],
            [
                ("Anna Kovács", "1", 1, False, ["attention.py", "sub/answers.yaml"]),
                ("Béla Nagy", "2", 1, False, ["attention.py"]),
            ],
            id="Moodle, folders",
        ),
        pytest.param(
            [f"{MOODLE}attention.py", f"{MOODLE}answers.yaml"],
            [("Anna Kovács", "1", 1, False, ["answers.yaml", "attention.py"])],
            id="Moodle, files without folders",
        ),
        pytest.param(
            [f"{MOODLE}/attention.py", "Anna Kovács_1_assignsubmission_onlinetext_/onlinetext.html"],
            [("Anna Kovács", "1", 1, False, ["attention.py", "onlinetext.html"])],
            id="Moodle, a file and a text of one person",
        ),
        pytest.param(
            [f"export-F3/{MOODLE}/attention.py"],
            [("Anna Kovács", "1", 1, False, ["attention.py"])],
            id="Moodle, in a folder more",
        ),
        pytest.param(
            ["kovacsanna_77_1_attention.py", "kovacsanna_77_2_answers.yaml", "nagybela_LATE_78_3_attention-2.py"],
            [
                ("kovacsanna", "77", 1, False, ["answers.yaml", "attention.py"]),
                ("nagybela", "78", 1, True, ["attention-2.py"]),
            ],
            id="Canvas",
        ),
        pytest.param(
            ["Kovács Anna/attention.py", "Nagy Béla [N1]/attention.py", "README.md"],
            [
                ("Kovács Anna", None, 1, False, ["attention.py"]),
                ("Nagy Béla", "N1", 1, False, ["attention.py"]),
                ("README", None, 1, False, ["README.md"]),
            ],
            id="folders",
        ),
        pytest.param(
            ["anna.py", "anna-2.py", "béla.ipynb", "group-1.py", "group-2.py"],
            [
                ("anna", None, 2, False, ["anna-2.py"]),
                ("anna", None, 1, False, ["anna.py"]),
                ("béla", None, 1, False, ["béla.ipynb"]),
                ("group-1", None, 1, False, ["group-1.py"]),
                ("group-2", None, 1, False, ["group-2.py"]),
            ],
            id="files, of which one was uploaded again",
        ),
        pytest.param(
            ["attention.py", "answers.yaml", "notes/old.py"],
            [("export", None, 1, False, ["answers.yaml", "attention.py", "notes/old.py"])],
            id="one submission",
        ),
        pytest.param([], [], id="nothing"),
    ],
)
def test_a_layout_is_recognised(entries, paths, expected):
    assert found(entries, *paths) == expected


def test_two_of_one_name_with_two_numbers_are_two(entries):
    paths = [f"Anna Kovács_{number}_assignsubmission_file_/attention.py" for number in (1, 2)]
    assert [one[1] for one in found(entries, *paths)] == ["1", "2"]


def test_what_has_no_number_in_an_lms_export_is_not_lost(entries):
    names = [one[0] for one in found(entries, f"{MOODLE}/attention.py", "stray.py")]
    assert names == ["Anna Kovács", "stray"]


def test_one_submission_may_be_any_number_of_files_and_folders(entries):
    (delivery,) = one_delivery(entries("mine.py", "tests.py", "F3/answers.yaml", "notes/a.txt"), "submission", ())
    assert (delivery.label.name, len(delivery.entries)) == ("submission", 4)
    assert one_delivery((), "submission", ())[0].entries == ()
