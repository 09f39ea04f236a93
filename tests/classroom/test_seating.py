"""A class list and what was handed in: everybody has a seat, and no seat is guessed."""

import unicodedata

import pytest

from sdpa_cli.classroom.layouts import Delivery
from sdpa_cli.classroom.names import Label
from sdpa_cli.classroom.roster import Kind, Student, read_roster
from sdpa_cli.classroom.seating import seats
from sdpa_cli.errors import InputError

ANNA = Student("Kovács Anna", ("1", "anna@example.org"), row=0)
BELA = Student("Nagy Béla", ("2",), row=1)
KAJ = Student("Kaj Møller", ("km42",), row=2)
ROSTER = (ANNA, BELA, KAJ)


def delivery(name, number=None, version=1, late=False, place=None):
    return Delivery(Label(name, number, late), place or f"{name}{version}", (), version)


def seated(*deliveries, roster=ROSTER):
    return {
        seat.student.name: (
            seat.delivery and seat.delivery.place,
            [remark.key for remark in seat.remarks],
            seat.unclear,
        )
        for seat in seats(deliveries, roster)
    }


@pytest.mark.parametrize(
    "label",
    [
        Label("Kovács Anna"),
        Label("KOVÁCS  ANNA"),
        Label(unicodedata.normalize("NFD", "Kovács Anna")),
        Label("Anna Kovács"),
        Label("Kovács, Anna"),
        Label("Kovacs Anna"),
        Label("kovacsanna"),
        Label("annakovacs"),
        Label("somebody", "1"),
        Label("anna@example.org"),
        Label("anna"),
    ],
    ids=lambda label: f"{label.name} {label.id or ''}",
)
def test_a_student_is_found_under_many_names(label):
    (seat, *others) = seats([Delivery(label, "place", ())], ROSTER)
    assert (seat.student, seat.delivery.place, seat.unclear) == (ANNA, "place", False)
    assert [other.delivery for other in others] == [None, None]


def test_everybody_on_the_list_has_a_seat_in_its_order():
    assert [seat.student for seat in seats([], ROSTER)] == [*ROSTER]


def test_somebody_who_is_not_on_the_list_is_for_a_person():
    assert seated(delivery("Nobody Known"))["Nobody Known"] == ("Nobody Known1", ["seat.not-listed"], True)


def test_without_a_list_those_who_handed_in_are_the_class():
    assert seated(delivery("b"), delivery("a"), roster=None) == {"a": ("a1", [], False), "b": ("b1", [], False)}


def test_a_name_that_fits_two_is_nobody_s():
    twins = (Student("Kovács Anna", ("1",), row=0), Student("Anna Kovács", ("2",), row=1))
    found = seated(delivery("kovacs anna"), roster=twins)
    assert found["kovacs anna"] == ("kovacs anna1", ["seat.ambiguous"], True)


def test_whose_it_may_be_is_not_missing():
    twins = (Student("Kovács Anna", ("1",), row=0), Student("Anna Kovács", ("2",), row=1), KAJ)
    found = seated(delivery("kovacs anna"), roster=twins)
    assert found["Kovács Anna"] == found["Anna Kovács"] == (None, ["seat.perhaps-theirs"], True)
    assert found["Kaj Møller"] == (None, [], False)


@pytest.mark.parametrize("name", ["Nagy Béla", "Nagy Bela", "bela nagy", "nagybela"])
def test_a_number_and_a_name_of_two_students_are_for_a_person(name):
    """A list of one's own may number its students as it likes, and an export has numbers of its own."""
    anna, bela, _, stranger = seats([delivery(name, "1")], ROSTER)
    assert [[remark.key for remark in seat.remarks] for seat in (anna, bela)] == [["seat.perhaps-theirs"]] * 2
    assert (anna.delivery, bela.delivery, anna.unclear, bela.unclear) == (None, None, True, True)
    assert (stranger.remarks[0].values["names"], stranger.unclear) == ("Kovács Anna, Nagy Béla", True)


def test_a_number_tells_namesakes_apart():
    twins = (Student("Kovács Anna", ("1",), row=0), Student("Kovács Anna", ("2",), row=1))
    assert [
        seat.delivery.place
        for seat in seats([delivery("Kovács Anna", "2", place="b"), delivery("Kovács Anna", "1", place="a")], twins)
    ] == ["a", "b"]


def test_an_exact_name_goes_before_one_without_its_diacritics():
    roster = (Student("Bálint", row=0), Student("Balint", row=1))
    assert seated(delivery("Balint"), delivery("Bálint"), roster=roster) == {
        "Bálint": ("Bálint1", [], False),
        "Balint": ("Balint1", [], False),
    }


def test_the_latest_counts_and_the_others_are_listed():
    (seat, *_) = seats([delivery("Kovács Anna", version=v) for v in (2, 10, 1)], ROSTER)
    assert (seat.delivery.version, seat.earlier, seat.unclear) == (10, ("Kovács Anna1", "Kovács Anna2"), False)


def test_two_latest_are_for_a_person():
    found = seated(delivery("Kovács Anna", place="a"), delivery("Anna Kovács", place="b"))
    assert found["Kovács Anna"] == ("b", ["seat.two-latest"], True)


def test_late_is_told():
    assert seated(delivery("Nagy Béla", late=True))["Nagy Béla"] == ("Nagy Béla1", ["seat.late"], False)


def roster(tmp_path, text, encoding="utf-8"):
    (tmp_path / "class.csv").write_bytes(text.encode(encoding))
    return read_roster(tmp_path / "class.csv")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1250"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_list_of_one_s_own(tmp_path, encoding, separator):
    rows = [["Név", "Neptun", "E-mail cím", "Nyelv"], ["Kovács Lőrinc", "ABC", "k@example.org", "hu"]]
    found = roster(tmp_path, "\r\n".join(separator.join(row) for row in rows), encoding)
    assert found.kind is Kind.OWN
    assert found.students == (Student("Kovács Lőrinc", ("ABC", "k@example.org"), "hu", 0),)


@pytest.mark.parametrize(
    ("name", "encoding"), [("Lőrinc Fűzi", "cp1250"), ("Søren Ægidius", "cp1252"), ("Kåre", "cp1252")]
)
def test_a_list_that_an_old_spreadsheet_saved(tmp_path, name, encoding):
    assert roster(tmp_path, f"name;id\n{name};1\n", encoding).students[0].name == name


def test_a_spreadsheet_s_own_file_is_told_how_to_become_a_list(tmp_path):
    (tmp_path / "class.xlsx").write_bytes(b"PK\x03\x04rest")
    with pytest.raises(InputError, match=r"class\.xlsx is a spreadsheet's own file"):
        read_roster(tmp_path / "class.xlsx")


def test_a_row_without_a_name_is_called_by_its_number_and_one_without_both_is_nobody(tmp_path):
    found = roster(tmp_path, "\r\n\r\nname;id;language\r\n;42;hu\r\n;;da\r\nAnna;;\r\n")
    assert [(one.name, one.ids, one.row) for one in found.students] == [("42", ("42",), 0), ("Anna", (), 2)]


def test_first_and_last_names(tmp_path):
    found = roster(tmp_path, "Last name,First name,id\nKovács,Anna,1\n")
    assert found.students == (Student("Anna Kovács", ("1",), None, 0),)


@pytest.mark.parametrize(
    "title", ["nr", "Nummer", "ID-nummer", "Studienr.", "azonosító", "Neptun-kód", "Hallgatói azonosító", "Student no."]
)
def test_what_numbers_are_called(tmp_path, title):
    found = roster(tmp_path, f"navn;{title}\nKaj;7\n")
    assert (found.students[0].ids, found.unread) == (("7",), ())


def test_columns_that_say_nothing_are_known(tmp_path):
    assert roster(tmp_path, "navn;hold;sprog;mærke\nKaj;7;da;x\n").unread == ("hold", "mærke")


@pytest.mark.parametrize("first", ["Résztvevő12", "Résztvevő 12", "Deltager 12", "Participant 12"])
def test_a_moodle_worksheet_in_any_language(tmp_path, first):
    header = "Azonosító,Teljes név,E-mail cím,Állapot,Osztályzat,Maximális osztályzat"
    found = roster(tmp_path, f"{header}\n{first},Kovács Anna,a@b.hu,Leadva,,10\n")
    assert found.unread == ()
    assert (found.kind, found.students) == (Kind.MOODLE, (Student("Kovács Anna", ("12", "a@b.hu"), None, 0),))


def test_a_canvas_gradebook(tmp_path):
    text = (
        "Student,ID,SIS User ID,SIS Login ID,Section,F3 (9)\n    Points Possible,,,,,30\n"
        '"Kovács, Anna",77,u1,anna,S1,\n"Student, Test",1,,x,S1,\n'
    )
    found = roster(tmp_path, text)
    assert found.kind is Kind.CANVAS
    assert found.students == (Student("Kovács, Anna", ("77", "u1", "anna"), None, 1),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no table"),
        ("color,size\nred,3\n", "names nobody; its columns are color, size"),
        ("name\n", "names nobody"),
    ],
)
def test_what_is_no_list_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        roster(tmp_path, text)
