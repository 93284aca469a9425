"""Canaries are found in every form, wherever the bytes are cut."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.honeytokens.canaries import Canary, canaries_of, files_of
from entrance.honeytokens.traps import Traps
from entrance.session import RunId

CANARIES = canaries_of(b"k" * 32, RunId("run-1"))
TRAPS = Traps(CANARIES)
OTHERS = canaries_of(b"k" * 32, RunId("run-2"))
FILES = files_of(CANARIES)


def in_lines(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def spelled(text: str, form: str) -> str:
    return "".join(form.format(ord(letter)) for letter in text)


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "hex": lambda text: text.encode().hex(),
    "hex in capitals": lambda text: text.encode().hex().upper(),
    "hex in lines": lambda text: in_lines(text.encode().hex(), 60),
    "hex in pairs": lambda text: text.encode().hex(" "),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 after one byte": lambda text: base64.b64encode(b"u:" + text.encode()).decode()[1:],
    "base64 after two bytes": lambda text: base64.b64encode(b"ab" + text.encode()).decode(),
    "JSON": lambda text: json.dumps(json.dumps({"v": f"a\n{text}\n"})),
    "a URL": lambda text: quote(f"?q={text}&r", safe=""),
    "every letter escaped for a URL": lambda text: spelled(text, "%{:02X}"),
    "every letter escaped for a URL, small": lambda text: spelled(text, "%{:02x}"),
    "every letter escaped for JSON": lambda text: spelled(text, "\\u{:04x}"),
    "every letter escaped for JSON in JSON": lambda text: spelled(text, "\\\\u{:04X}"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.name)
def test_each_canary_is_found_in_each_form(canary: Canary, form: str) -> None:
    told = FORMS[form](canary.value).encode()
    for text in (told, b"\x00 before: " + told + b"\xff after"):
        assert TRAPS.within(text) == canary


@given(
    canary=st.sampled_from(CANARIES),
    form=st.sampled_from(sorted(FORMS)),
    before=st.binary(max_size=40),
    cuts=st.lists(st.integers(0, 900), max_size=8),
)
def test_it_is_found_wherever_the_bytes_are_cut(
    canary: Canary, form: str, before: bytes, cuts: list[int]
) -> None:
    told = before + b" " + FORMS[form](canary.value).encode() + b" after"
    ends = [*sorted(min(cut, len(told)) for cut in cuts), len(told)]
    stream = TRAPS.stream()
    pieces = zip([0, *ends], ends, strict=False)
    found = [stream.feed(told[start:end]) for start, end in pieces]
    assert canary in [*found, stream.feed(b"", last=True)]


@pytest.mark.parametrize("form", ["plain", "base64", "every letter escaped for a URL"])
def test_it_is_found_byte_by_byte(form: str) -> None:
    for canary in CANARIES:
        stream = TRAPS.stream()
        told = FORMS[form](canary.value).encode()
        found = [stream.feed(told[at : at + 1]) for at in range(len(told))]
        assert canary in [*found, stream.feed(b"", last=True)]


@pytest.mark.parametrize("name", ["aws-secret", "github-token", "ssh-key", "model-key"])
def test_half_of_a_canary_is_enough(name: str) -> None:
    canary = next(canary for canary in CANARIES if canary.name == name)
    middle = len(canary.secret) // 2
    assert TRAPS.within(canary.secret[:middle].encode()) == canary
    assert TRAPS.within(canary.secret[middle:].encode()) == canary


@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("place", FILES)
def test_a_file_that_is_packed_into_lines_inside_of_json_is_found(place: str, width: int) -> None:
    """What `base64 FILE` and `xxd -p FILE` print, as an agent hands it on."""
    for packed in (base64.b64encode(FILES[place].encode()).decode(), FILES[place].encode().hex()):
        told = json.dumps({"text": in_lines(packed, width)}).encode()
        found = TRAPS.within(told)
        assert found is not None
        assert found.place == place


def test_canaries_of_another_run_are_not_looked_for() -> None:
    for canary in OTHERS:
        assert TRAPS.within(canary.value.encode()) is None
    assert Traps([*CANARIES, *OTHERS]).within(OTHERS[0].value.encode()) == OTHERS[0]


def test_the_shape_alone_is_no_canary() -> None:
    shapes = ("AKIA", "ghp_", "sk-ant-api03-", "MC4CAQAwBQYDK2VwBCIEI", "-----BEGIN PRIVATE KEY")
    assert TRAPS.within(" ".join(shapes).encode()) is None


@given(data=st.binary(max_size=4000))
def test_noise_is_no_canary(data: bytes) -> None:
    assert TRAPS.within(data) is None
    assert TRAPS.within(base64.b64encode(data)) is None


def test_this_product_itself_is_no_canary() -> None:
    """Its code, documents and tests are ordinary traffic of the agents that work on it."""
    root = Path(__file__).parents[4]
    stream = TRAPS.stream()
    files = [
        file
        for folder in ("entrance", "orchestrator", "docs", "tests", "images")
        for file in (root / folder).rglob("*")
        if file.is_file() and file.suffix in {".py", ".md", ".yaml", ".json"}
    ]
    assert len(files) > 100
    assert [file.name for file in files if stream.feed(file.read_bytes())] == []


def test_a_long_run_of_escapes_is_not_held_back() -> None:
    stream = TRAPS.stream()
    assert stream.feed(b"\\" * 5000) is None
    assert stream.feed(b"%" * 5000) is None
    assert stream.feed(CANARIES[0].value.encode()) == CANARIES[0]


def test_one_is_found_once() -> None:
    stream = TRAPS.stream()
    assert stream.feed(CANARIES[0].value.encode()) == CANARIES[0]
    assert stream.feed(b"more") is None
    assert stream.feed(b"", last=True) is None


def test_without_canaries_nothing_is_found() -> None:
    stream = Traps([]).stream()
    assert stream.feed(CANARIES[0].value.encode()) is None
    assert stream.feed(b"more", last=True) is None
