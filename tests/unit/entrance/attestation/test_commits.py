"""Whether commits are those that were attested, from their bytes alone."""

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.attestation import commits
from entrance.attestation.refusals import REFUSALS, Refusal, Word
from entrance.attestation.statement import Ref
from entrance.git.checks.facts import Commit
from tests.fakes.attested import FIRST, NONE, OLD, REF, TIP, WHOSE, a_statement

TRAILERS = "Agent-Run: run1\nAgent-Task: DEMO/DEMO-7\nAgent-Model: anthropic:claude-test\n"
WHO = f"{WHOSE.name} <{WHOSE.mail}> 1767600000 +0000"
FORK, OTHER = "c" * 40, "d" * 40


def body(message: str = f"Fix\n\n{TRAILERS}", *parents: str) -> bytes:
    lines = [
        f"tree {'e' * 40}",
        *(f"parent {p}" for p in parents),
        f"author {WHO}",
        f"committer {WHO}",
    ]
    return ("\n".join(lines) + f"\n\n{message}").encode()


def graph(**parents: tuple[str, ...]) -> Mapping[str, Commit]:
    oids = {"first": FIRST, "tip": TIP}
    return {
        oids[name]: commits.read(oids[name], body(f"x\n\n{TRAILERS}", *of))
        for name, of in parents.items()
    }


LINE = graph(first=(OLD,), tip=(FIRST,))


def word(refusal: Refusal | None) -> Word | None:
    return refusal.word if refusal else None


def test_each_word_has_a_number_of_its_own() -> None:
    assert set(REFUSALS) == set(Word)
    assert len({number for number, _ in REFUSALS.values()}) == len(Word)


def test_a_commit_is_read_as_it_is() -> None:
    raw = body(f"Fix\n\n{TRAILERS}", FIRST, OLD).replace(
        b"committer", b"gpgsig -----BEGIN\n parent nobody\n -----END\ncommitter"
    )
    found = commits.read(TIP, raw)
    assert found.parents == (FIRST, OLD)
    assert (found.author.name, found.committer.mail) == (WHOSE.name, WHOSE.mail)
    assert found.message == f"Fix\n\n{TRAILERS}"


def test_a_commits_id_is_the_hash_of_it() -> None:
    raw = body()
    whole = b"commit %d\0%b" % (len(raw), raw)
    sha1, sha256 = (
        hashlib.sha1(whole, usedforsecurity=False).hexdigest(),
        hashlib.sha256(whole).hexdigest(),
    )
    assert commits.altered({sha1: raw, sha256: raw}) is None
    assert word(commits.altered({sha1: raw + b"\n"})) is Word.ALTERED_COMMIT
    assert word(commits.altered({sha1: b""})) is Word.ALTERED_COMMIT
    assert word(commits.altered({sha1: raw, sha256: None})) is Word.MISSING_COMMIT


@given(st.data(), st.integers(1, 255))
def test_any_flipped_byte_of_a_commit_is_found(data: st.DataObject, flip: int) -> None:
    raw = bytearray(body())
    oid = hashlib.sha1(b"commit %d\0%b" % (len(raw), bytes(raw)), usedforsecurity=False).hexdigest()
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= flip
    assert word(commits.altered({oid: bytes(raw)})) is Word.ALTERED_COMMIT


@pytest.mark.parametrize(("commit", "told"), [(FIRST, None), (TIP, None), (OLD, Word.NOT_ATTESTED)])
def test_only_what_is_attested_is_vouched_for(commit: str, told: Word | None) -> None:
    assert word(commits.not_attested(a_statement(), commit)) is told


def test_a_tip_that_the_push_did_not_bring_is_not_vouched_for() -> None:
    refusal = commits.not_attested(a_statement(commits=(), onto=(OLD, TIP)), TIP)
    assert refusal
    assert "the host had commit" in refusal.sentence


@pytest.mark.parametrize(
    ("changed", "found", "told"),
    [
        pytest.param({}, LINE, None, id="a line of two"),
        pytest.param({"refs": (Ref(ref=REF, old=NONE, new=TIP),)}, LINE, None, id="a new branch"),
        pytest.param(
            {"onto": (OLD, FORK)}, graph(first=(OLD,), tip=(FIRST, FORK)), None,
            id="a merge of what the host has",
        ),
        pytest.param({"commits": (), "onto": (OLD, TIP)}, {}, None, id="a branch at the host's commit"),
        pytest.param({}, graph(first=(OLD,), tip=(FIRST, FORK)), Word.RANGE, id="a commit too many"),
        pytest.param({"commits": (TIP,)}, LINE, Word.RANGE, id="one that isn't attested"),
        pytest.param({"onto": ()}, graph(first=(FORK,), tip=(FIRST,)), Word.RANGE, id="on another"),
        pytest.param({"commits": (FIRST, TIP, OTHER)}, LINE, Word.RANGE, id="one that is elsewhere"),
        pytest.param({"commits": (FIRST,), "onto": (OLD, TIP)}, LINE, Word.RANGE, id="behind no branch"),
    ],
)  # fmt: skip
def test_what_lies_between_old_and_new_is_what_was_attested(
    changed: dict[str, Any], found: Mapping[str, Commit], told: Word | None
) -> None:
    assert word(commits.out_of_range(a_statement(**changed), found)) is told


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (f"Fix\n\n{TRAILERS}", None),
        (f"Fix\n\n{TRAILERS.replace('run1', 'run0')}", None),
        (f"Fix\n\n{TRAILERS.replace('run1', 'run2')}", Word.TRAILERS),
        (f"Fix\n\n{TRAILERS.replace('DEMO-7', 'DEMO-8')}", Word.TRAILERS),
        (f"Fix\n\n{TRAILERS.replace('claude-test', 'other')}", Word.TRAILERS),
        ("Fix\n", Word.TRAILERS),
    ],
)
def test_commits_say_of_themselves_what_is_attested(message: str, told: Word | None) -> None:
    found = {TIP: commits.read(TIP, body(message))}
    assert word(commits.strange_trailers(a_statement(commits=(TIP,)), found)) is told


def test_what_was_let_through_at_the_time_is_no_trouble_now() -> None:
    seen = ("a commit doesn't say which run made it (commit bbbb) [trailers]",)
    said = a_statement(commits=(TIP,), findings=seen)
    assert commits.strange_trailers(said, {TIP: commits.read(TIP, body("Fix\n"))}) is None
