"""What rooms beneath say in English of a student's work is told in their language; what it quotes stays."""

import ast
import re
import string

import pytest
from grading.items import ROOT
from grading.mistakes import EACH, FILES
from submissions.faults import source as function
from yaml import SafeLoader

from sdpa_cli.cases import cursor
from sdpa_cli.grading.answers import read_answers
from sdpa_cli.grading.handed_in import HandedIn
from sdpa_cli.grading.phrasebook import compiled, entries_of, phrasebook
from sdpa_cli.grading.saying import speaker
from sdpa_cli.languages import LANGUAGES
from sdpa_cli.sandbox import Level

OTHERS = sorted(set(LANGUAGES) - {"en"})
PHRASES = entries_of("hu")
BOOK = compiled({english: english for english in PHRASES})
# What is no English but an example of what to write.
EXAMPLES = {"{scale: 1, layers: 1}"}
# How code ends in the sandbox, and where it runs.
ENDINGS = {
    "no answer after {seconds} s",
    "more than {seconds} s of processor time",
    "printed more than {most} bytes",
    "more than {most} bytes",
    "exit status {status}",
    "signal {name}",
    "{level} (limits and timeouts only)",
}
# What a short file can only do where the limits are low.
LIMITS = {"MAX_REPLAYED": ("Q: [&a [1, 2], *a, *a]", 3), "MAX_ANCHORED": ("Q: &a [[1, 2], [3, 4]]", 3)}


@pytest.fixture(params=[cursor.PARSER, SafeLoader], ids=["LibYAML", "PyYAML"])
def parser(request, monkeypatch):
    """Both of YAML's parsers, which complain in different words; LibYAML where it is."""
    monkeypatch.setattr(cursor, "PARSER", request.param)


def sentences(exercise, name, data):
    """What is said about a file of answers, as the rooms beneath say it."""
    handed_in = HandedIn({FILES[name]: data.encode() if isinstance(data, str) else data})
    problems = read_answers(exercise(name), handed_in, FILES[name]).problems
    return [text for one in problems for text in (one.message, one.expected, one.hint) if text]


def beyond_limits(exercise, monkeypatch):
    for limit, (data, most) in LIMITS.items():
        with monkeypatch.context() as patched:
            patched.setattr(cursor, limit, most)
            yield from sentences(exercise, "F1", data)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(("name", "data"), EACH, ids=lambda value: repr(value[:40]))
def test_every_mistake_in_a_file_of_answers_is_told_in_every_language(exercise, name, data):
    found = sentences(exercise, name, data)
    assert found
    for language in OTHERS:
        told = map(phrasebook(language), found)
        assert [text for text, said in zip(found, told, strict=True) if text == said and text not in EXAMPLES] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("data", ["Q: [[5; 0]]\nprof: [a1]", "Q:\n\t- 1", b"proof: \xff", "proof: [a9]"], ids=repr)
def test_the_feedback_says_it(exercise, graded, data, language):
    report = graded("F1", {"answers.yaml": data})
    voice = speaker(language, exercise("F1"))
    told = "\n".join(voice.say(message) for item in report.items for message in item.finding.messages)
    english = [text for text in sentences(exercise, "F1", data) if text in told]
    assert (english == []) is (language != "en")


def note(sentence, seen):
    """Which phrase says a sentence, and which ones say its parts."""
    phrase, values = next((one, found) for one in BOOK.phrases if (found := one.values(sentence)) is not None)
    seen.add(phrase.translation)
    for place in {"own", "other"} & values.keys():
        note(values[place], seen)


def test_every_phrase_is_used(exercise, monkeypatch):
    seen = set()
    for reader in (cursor.PARSER, SafeLoader):
        monkeypatch.setattr(cursor, "PARSER", reader)
        said = [text for name, data in EACH for text in sentences(exercise, name, data)]
        for sentence in [*said, *beyond_limits(exercise, monkeypatch)]:
            if sentence not in EXAMPLES:
                note(sentence, seen)
    assert sorted(set(PHRASES) - seen - ENDINGS) == []


def places(text):
    return sorted(place for _, place, _, _ in string.Formatter().parse(text) if place is not None)


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_every_phrase_with_the_same_places(language):
    entries = entries_of(language)
    assert set(entries) == set(PHRASES)
    assert [english for english, said in entries.items() if places(english) != places(said)] == []


# Rooms that speak of answers, and what they say only of other files, or where no answer can bring them to say it.
SPEAKING = ("kinds", "numbers", "nodes", "groups", "cursor", "syntax", "inline", "matrices", "yaml_files")
OF_OTHER_FILES = {
    *("true or false", "0, 1, true or false", "is neither true nor false", ": only some YAML readers take", "for it"),
    *(
        "a matrix is read from a file with {file:",
        "give it a value, or leave the key out",
        "none of",
        "exclude each other",
    ),
    *(
        "exclude each other",
        "means nothing without",
        "beside it",
        "holds more than",
        "there are more than",
        "values here",
    ),
    *("lists and mappings are nested too deep", "a matrix in a file of its own is used with Q: {file: q.npy}"),
    *(".shape is", "axes, and at most", "values in all", "without a name", "such as"),
}


def said_in(name):
    """What a room says in sentences: its texts, without those that describe fields and those of YAML's own."""
    tree = ast.parse((ROOT / "sdpa_cli" / "cases" / f"{name}.py").read_text("utf-8"))
    quiet = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in ("words", "several", "json_schema"):
            quiet.append(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Field", "_Translation"):
            quiet += node.args[:1] if node.func.id == "_Translation" else node.args
        if isinstance(node, ast.Compare):
            quiet.append(node)
    silent = {id(inner) for node in quiet for inner in ast.walk(node)}
    for node in ast.walk(tree):
        said = node.value if isinstance(node, ast.Constant) and id(node) not in silent else None
        if isinstance(said, str) and re.search("[a-z]+ [a-z]+", said):
            yield said.strip()


@pytest.mark.parametrize("name", SPEAKING)
def test_whatever_is_said_of_answers_is_a_phrase(name):
    english = "\n".join(PHRASES).replace("{{", "{").replace("}}", "}")
    new = [text for text in said_in(name) if text not in english and phrasebook("hu")(text) == text]
    assert [text for text in new if text not in OF_OTHER_FILES] == []


def test_every_ending_is_the_sandbox_s():
    said = "".join((ROOT / "sdpa_cli" / "sandbox" / name).read_text("utf-8") for name in ("submission.py", "levels.py"))
    pieces = [piece.strip(" ()") for english in ENDINGS for piece in re.split(r"\{\w+\}", english)]
    assert [piece for piece in pieces if piece not in said] == []


def test_between_two_places_of_a_phrase_stands_something():
    assert all(all(phrase.pieces[1:-1]) for phrase in BOOK.phrases)


HOSTILE = ["{}", "{path}", "{0!r:>9}", "%s", r"\1 (.*) [a-z]+$", "a' is not a number", "' is 'b", "a\nb", "\u202e…", ""]


@pytest.mark.parametrize("text", HOSTILE, ids=repr)
@pytest.mark.parametrize("language", OTHERS)
def test_what_is_quoted_survives(language, text):
    book = phrasebook(language)
    assert f"'{text}'" in book(f"Q[1,2]: '{text}' is not a number")
    assert book(f"write {text} without quotes") != f"write {text} without quotes"
    assert text in book(f"write {text} without quotes")
    assert text in book(f"settings.{text} is a list")


class Counted(str):
    """A text that counts the characters that are searched in it."""

    searched = 0

    def find(self, piece, start=0, end=None):
        found = super().find(piece, start, end)
        Counted.searched += (len(self) if found < 0 else found + len(piece)) - start
        return found


def test_a_long_text_is_searched_a_few_times_and_no_more():
    # Each piece of a phrase is looked for where the one before it ended, and a phrase within a phrase once.
    Counted.searched = 0
    text = Counted("a: ' has , the first has is ' contains U+" * 5000)
    assert phrasebook("hu")(text).endswith(text[-40:])
    assert Counted.searched <= len(PHRASES) * len(text)
    long = "x' is " * 50_000
    assert phrasebook("hu")(f"write {long} without quotes") == f"idézőjel nélkül írd: {long}"


CODE = {
    "no answer after": ("while True: pass", {"seconds": 0.5}),
    "printed more than": ("while True: print('x' * 10_000)", {}),
    "more than": ("O = np.zeros((1 << 11, 1 << 10))", {}),
    "exit status": ("import os; os._exit(3)", {}),
}


@pytest.mark.parametrize("english", CODE)
def test_how_code_ended_is_told_in_every_language(exercise, graded, english):
    line, limits = CODE[english]
    report = graded("F3", {"attention.py": function({"output": line})}, only=("example",), **limits)
    told = {
        language: "\n".join(
            speaker(language, exercise("F3")).say(message) for item in report.items for message in item.finding.messages
        )
        for language in LANGUAGES
    }
    assert english in told["en"]
    assert not [language for language in OTHERS if english in told[language]]


def test_the_level_of_the_sandbox_is_told_in_every_language():
    shown = f"L0 ({Level.L0.means})"
    assert speaker("en")("view.sandbox", level=shown) == f"Your code ran at sandbox level {shown}."
    assert speaker("hu")("view.sandbox", level=shown).endswith("L0 (csak korlátok és időhatárok).")
    assert speaker("da")("view.sandbox", level=shown).endswith("L0 (kun grænser og tidsfrister).")


def test_a_phrase_that_begins_with_its_own_words_goes_before_one_that_begins_with_any():
    said = phrasebook("hu")("one of: the mask is present, the mask is empty")
    assert said == "ezek egyike: the mask is present, the mask is empty"
