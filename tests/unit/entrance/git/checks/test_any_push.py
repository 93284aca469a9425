"""Whatever a push brings, it is judged, and what is told of it holds together."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from entrance.decision import Allow
from entrance.git.checks.facts import (
    Brought,
    Change,
    Commit,
    Move,
    PackObject,
    Person,
    Pointer,
    Sighting,
)
from entrance.git.checks.judging import judge
from entrance.git.checks.rules import NAMED
from entrance.git.refs import RefUpdate
from entrance.push_policy import Mode, PushPolicy, stricter
from tests.unit.entrance.git.checks.pushes import AGENT, MESSAGE, NONE, SESSION, WHOSE

OIDS = st.sampled_from([letter * 40 for letter in "123456ab"])
TEXTS = st.one_of(
    st.just(MESSAGE), st.text(max_size=30), st.text(max_size=9).map(lambda t: MESSAGE + t)
)
PEOPLE = st.one_of(st.just(AGENT), st.builds(Person, st.text(max_size=5), st.text(max_size=5)))
MODES = st.sampled_from([0, 0o100644, 0o100755, 0o120000, 0o160000, 0o40000, 0o177777])
PATHS = st.one_of(
    st.binary(min_size=1, max_size=12),
    st.sampled_from([b"a", b"A", b".github/workflows/x", b"AGENTS.md", b"x/../y", b"aux"]),
)
REFS = st.sampled_from([f"refs/heads/agent/TASK-7/{name}".encode() for name in "abc"])
MOVES = st.builds(
    Move,
    st.builds(RefUpdate, OIDS | st.just(NONE), OIDS, REFS),
    st.sampled_from(["commit", "tree", "blob", "tag", None]),
    st.booleans(),
)
PUSHES = st.builds(
    Brought,
    moves=st.lists(MOVES, min_size=1, max_size=3, unique_by=lambda move: move.update.ref).map(
        tuple
    ),
    commits=st.lists(
        st.builds(Commit, OIDS, st.lists(OIDS, max_size=2).map(tuple), PEOPLE, PEOPLE, TEXTS),
        max_size=4,
        unique_by=lambda commit: commit.oid,
    ).map(tuple),
    changes=st.lists(st.builds(Change, OIDS, PATHS, MODES, MODES, OIDS, OIDS), max_size=5).map(
        tuple
    ),
    objects=st.lists(
        st.builds(
            PackObject, OIDS, st.sampled_from(["commit", "tree", "blob"]), st.integers(0, 99)
        ),
        max_size=4,
    ).map(tuple),
    stray=st.frozensets(OIDS, max_size=2),
    pack_bytes=st.integers(0, 200),
    links=st.dictionaries(OIDS, st.binary(max_size=9), max_size=3),
    sightings=st.lists(
        st.builds(Sighting, OIDS, st.sampled_from(["a token of GitHub", "a JSON web token", "?"])),
        max_size=3,
    ).map(tuple),
    pointers=st.lists(
        st.builds(Pointer, OIDS, st.just("e" * 64), st.integers(0, 9)), max_size=2
    ).map(tuple),
)
POLICIES = st.builds(
    PushPolicy,
    st.dictionaries(st.sampled_from(sorted(NAMED)), st.sampled_from(list(Mode))),
    st.sampled_from([(), ("a/**",)]),
    st.integers(1, 99),
    st.integers(1, 200),
)
WORDS = {Mode.NOTE: "allow", Mode.HOLD: "hold", Mode.DENY: "deny"}


@settings(max_examples=300)
@given(PUSHES, POLICIES, st.sampled_from([WHOSE, None]))
def test_any_push_is_judged_and_every_ref_is_told_why(
    push: Brought, policy: PushPolicy, whose: object
) -> None:
    session = replace(SESSION, push_policy=policy, authorship=whose)  # type: ignore[arg-type]
    judged = judge(push, session)
    assert judged.decision.word == WORDS[stricter(*(one.mode for one in judged.findings))]
    if isinstance(judged.decision, Allow):
        assert not judged.refusals
        return
    assert judged.refusals.keys() == {move.update.ref for move in push.moves}
    worst = [one.rule for one in judged.findings if one.mode.value == judged.decision.word]
    told = [reason for reason in judged.refusals.values() if "[" in reason]
    assert told
    assert all(any(f"[{rule}]" in reason for rule in worst) for reason in told)
    assert all(reason.isprintable() for reason in judged.refusals.values())


@given(PUSHES, POLICIES)
def test_what_is_never_allowed_is_not(push: Brought, policy: PushPolicy) -> None:
    session = replace(SESSION, push_policy=policy)
    bad = (
        push.stray
        or any(move.kind != "commit" for move in push.moves)
        or any(not move.forward and not move.update.creates for move in push.moves)
    )
    assert not bad or judge(push, session).decision.word == "deny"


@given(PUSHES, POLICIES)
def test_judging_again_says_the_same(push: Brought, policy: PushPolicy) -> None:
    session = replace(SESSION, push_policy=policy)
    assert judge(push, session) == judge(push, session)
