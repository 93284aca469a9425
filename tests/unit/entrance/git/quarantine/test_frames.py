"""What the door and its looker say to each other."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.checks.facts import (
    Change,
    Commit,
    PackObject,
    Person,
    Pointer,
    Sighting,
    Telling,
)
from entrance.git.quarantine.frames import FrameBrokenError, Frames, Job, Result, pack, unpack

OID = "a" * 40
JOB = Job(
    1,
    "/m",
    "/o",
    20,
    "/o/pack/x.idx",
    3,
    ((OID, OID, "refs/heads/x"),),
    canaries=(("aws-secret", "letters"),),
)
RESULT = Result(
    1,
    canary="aws-secret",
    kinds={OID: "commit"},
    forward=(True, False),
    commits=(Commit(OID, (OID,), Person("A", "a@x"), Person("B", "b@x"), "x\n"),),
    changes=(Change(OID, bytes(range(1, 256)), 0, 0o100644, OID, OID),),
    objects=(PackObject(OID, "blob", 5),),
    stray=frozenset({OID}),
    links={OID: b"\xff/x"},
    sightings=(Sighting(OID, "a token", 3),),
    telling={b"\xff/token": Telling(("a token",), b"\xff/***")},
    pointers=(Pointer(OID, "b" * 64, 7),),
)


def test_a_job_comes_as_it_went() -> None:
    [said] = Frames().feed(pack(JOB))
    assert Job.of(said) == JOB
    assert "letters" not in repr(JOB)


@given(st.lists(st.integers(0, 2000), max_size=5).map(sorted))
def test_a_result_comes_as_it_went_at_any_split(cuts: list[int]) -> None:
    sent, frames = pack(RESULT.said()) * 2, Frames()
    ends = [0, *cuts, len(sent)]
    pieces = [sent[a:b] for a, b in itertools.pairwise(ends)]

    came = [Result.of(said) for piece in pieces for said in frames.feed(piece)]

    assert came == [RESULT, RESULT]


@pytest.mark.parametrize("said", [b"[]", b"{", b"1"])
def test_what_is_no_object_is_refused(said: bytes) -> None:
    with pytest.raises(FrameBrokenError):
        unpack(said)


def test_a_result_that_lacks_something_is_refused() -> None:
    with pytest.raises(FrameBrokenError):
        Result.of({"id": 1, "trouble": ""})
    with pytest.raises(FrameBrokenError):
        list(Frames().feed(b"\xff\xff\xff\xff"))
