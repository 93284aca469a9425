"""Asking whether a branch is an alias."""

import pytest

from entrance.git.listing import Listing, ListingReader, digest_of, encode_question
from entrance.git.pktline import FLUSH, ProtocolError, encode

OID = b"1" * 40


def read(*fed: bytes, wanted: frozenset[bytes] = frozenset()) -> Listing:
    reader = ListingReader(wanted)
    for data in fed:
        reader.feed(data)
    return reader.listing()


def test_the_question_is_about_branches_and_tags() -> None:
    assert encode_question("sha1") == (
        b"0014command=ls-refs\n0001000csymrefs\n001bref-prefix refs/heads/\n"
        b"001aref-prefix refs/tags/\n0000"
    )
    assert b"object-format=sha256\n" in encode_question("sha256")


def test_its_digest_is_that_of_the_same_refs_in_a_mirror() -> None:
    listed = OID + b" refs/heads/a\n", OID + b" refs/heads/b symref-target:refs/heads/a\n"
    found = read(*map(encode, listed), FLUSH, wanted=frozenset({b"refs/heads/b"}))

    assert found.digest == digest_of(OID + b" refs/heads/a\n" + OID + b" refs/heads/b\n")
    assert found.lines == {OID + b" refs/heads/a", OID + b" refs/heads/b"}
    assert found.asked == {b"refs/heads/b": OID.decode()}
    assert read(FLUSH).digest == digest_of(b"")


def test_an_alias_is_told_with_its_target() -> None:
    """CASE-46."""
    answer = (
        encode(OID + b" refs/heads/a\n")
        + encode(OID + b" refs/heads/b peeled:x symref-target:refs/heads/main\n")
        + FLUSH
    )
    assert read(answer[:30], answer[30:]).targets == {b"refs/heads/b": b"refs/heads/main"}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(encode(OID + b" refs/heads/a\n"), id="broken off"),
        pytest.param(encode(b"ERR unknown command\n") + FLUSH, id="an error"),
        pytest.param(encode(b"# service=git-upload-pack\n") + FLUSH, id="version 0"),
        pytest.param(FLUSH + FLUSH, id="goes on"),
        pytest.param(b"<html>", id="no git"),
    ],
)
def test_an_answer_that_is_no_whole_list_is_refused(answer: bytes) -> None:
    with pytest.raises(ProtocolError):
        read(answer)
