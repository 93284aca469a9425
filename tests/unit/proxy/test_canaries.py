"""The proxy finds what the door finds, by what the door hands it."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.session import RunId, Session, TaskId
from orchestrator.egress_policy import canaries_for
from proxy.canaries import Canary, Stream, Traps, traps_of
from tests.fakes.alarm import HONEY, canary

SESSION = Session(
    RunId("run-1"), TaskId("P/T"), "P", "bot", "10.0.0.2", "0" * 64, honeytokens=(RunId("run-1"),)
)
CANARIES = canaries_for(HONEY, SESSION)
TRAPS = Traps(CANARIES)
NAMES = ["aws-key-id", "aws-secret", "github-token", "ssh-key", "model-key", "database-password"]


def forms(value: str) -> list[bytes]:
    raw = value.encode()
    return [
        raw,
        raw.hex().encode(),
        raw.hex().upper().encode(),
        *(base64.b64encode(b"ab"[:before] + raw) for before in range(3)),
        base64.encodebytes(b"x" * 40 + raw),
        quote(value, safe="").encode(),
        "".join(f"%{ord(letter):02x}" for letter in value).encode(),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_each_is_found_in_each_form(name: str) -> None:
    for form in forms(canary("run-1", name)):
        assert TRAPS.within(b"before " + form + b" after") == name
        assert TRAPS.within(form) == name


@given(
    name=st.sampled_from(NAMES),
    form=st.integers(0, 8),
    cuts=st.lists(st.integers(0, 600), max_size=6),
)
def test_it_is_found_wherever_the_bytes_are_cut(name: str, form: int, cuts: list[int]) -> None:
    told = b"before " + forms(canary("run-1", name))[form] + b" after"
    ends = [*sorted(min(cut, len(told)) for cut in cuts), len(told)]
    stream = Stream(TRAPS)
    pieces = zip([0, *ends], ends, strict=False)
    assert name in [stream.feed(told[start:end]) for start, end in pieces]


@given(data=st.binary(max_size=2000))
def test_noise_and_other_runs_canaries_are_let_through(data: bytes) -> None:
    assert TRAPS.within(data) == ""
    assert TRAPS.within(canary("run-2").encode()) == ""
    assert traps_of(()).within(canary("run-1").encode()) == ""


@pytest.mark.parametrize("part", ["short", "with blanks in it", "ünicodeletters"])
def test_a_part_that_could_be_anything_is_no_part(part: str) -> None:
    with pytest.raises(ValueError, match="letters and digits"):
        Canary(name="x", parts=(part,))
