"""A commit's own bytes."""

import pytest

from entrance.git.checks.facts import Commit, Person
from entrance.git.quarantine.commits import CommitBrokenError, commit_of

OID, ONE, TWO = "0" * 40, "1" * 40, "2" * 40


def test_what_it_says_is_told_as_it_stands() -> None:
    raw = (
        f"tree {'3' * 40}\nparent {ONE}\nparent {TWO}\n"
        "author Ann <ann@x> 1 +0000\ncommitter Bot <bot@x> 2 +0100\n"
        "gpgsig -----BEGIN\n author Eve <eve@x> 1 +0000\n -----END\n\n"
        "Title\n\nauthor Eve <eve@x>\n"
    ).encode()

    assert commit_of(OID, raw) == Commit(
        OID,
        (ONE, TWO),
        Person("Ann", "ann@x"),
        Person("Bot", "bot@x"),
        "Title\n\nauthor Eve <eve@x>\n",
    )


def test_what_is_odd_is_no_trouble() -> None:
    raw = b"tree x\nauthor <> 1 +0000\ncommitter \xff <a\n\n\xfe"

    assert commit_of(OID, raw) == Commit(OID, (), Person("", ""), Person("\\xff", "a"), "\\xfe")
    assert commit_of(OID, b"").message == ""


@pytest.mark.parametrize("more", ["tree 3", "parent 1", "author Eve <e@x>", "committer Eve <e@x>"])
def test_a_commit_does_not_say_two_things_of_itself(more: str) -> None:
    raw = f"tree 3\nauthor Ann <ann@x> 1 +0000\ncommitter Bot <bot@x> 2 +0100\n{more}\n\nTitle\n"

    with pytest.raises(CommitBrokenError, match=more.split(maxsplit=1)[0]):
        commit_of(OID, raw.encode())
