"""Asking whether a branch is an alias."""

import pytest

from entrance.git.aliases import MAX_ANSWER_BYTES, AliasReader, encode_question
from entrance.git.pktline import FLUSH, ProtocolError, encode

OID = b"1" * 40


def read(*fed: bytes) -> dict[bytes, bytes]:
    reader = AliasReader()
    for data in fed:
        reader.feed(data)
    return reader.targets()


def test_the_question_names_the_refs() -> None:
    assert encode_question([b"refs/heads/a"], "sha1") == (
        b"0014command=ls-refs\n0001000csymrefs\n001cref-prefix refs/heads/a\n0000"
    )
    assert b"object-format=sha256\n" in encode_question([], "sha256")


def test_an_alias_is_told_with_its_target() -> None:
    """CASE-46."""
    answer = (
        encode(OID + b" refs/heads/a\n")
        + encode(OID + b" refs/heads/b peeled:x symref-target:refs/heads/main\n")
        + FLUSH
    )
    assert read(answer[:30], answer[30:]) == {b"refs/heads/b": b"refs/heads/main"}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(encode(OID + b" refs/heads/a\n"), id="broken off"),
        pytest.param(encode(b"ERR unknown command\n") + FLUSH, id="an error"),
        pytest.param(encode(b"# service=git-upload-pack\n") + FLUSH, id="version 0"),
        pytest.param(FLUSH + FLUSH, id="goes on"),
        pytest.param(encode(OID + b" refs/heads/a\n") * (MAX_ANSWER_BYTES // 58), id="endless"),
        pytest.param(b"<html>", id="no git"),
    ],
)
def test_an_answer_that_is_no_whole_list_is_refused(answer: bytes) -> None:
    with pytest.raises(ProtocolError):
        read(answer)
