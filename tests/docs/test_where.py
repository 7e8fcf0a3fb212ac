"""Where things are, as where.toml says: the files exist, and have what is looked for."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = tomllib.loads((Path(__file__).parent / "where.toml").read_text())["question"]


def test_each_is_asked_once_and_briefly():
    assert [each["id"] for each in QUESTIONS] == list(range(1, 36))
    assert len({each["ask"] for each in QUESTIONS}) == len(QUESTIONS)
    assert all(len(each["ask"].split()) <= 15 for each in QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: str(each["id"]))
def test_the_answer_is_there(question):
    *scopes, name = question["symbol"].split("::")
    text = (ROOT / question["file"]).read_text()
    assert name in text and all(scope in text for scope in scopes), question
    for path in question["accepted"]:
        assert (ROOT / path).is_file(), path
