"""Secrets are found wherever they stand in an object, however it comes, and never told."""

import base64
import pickle
import random
import re
import time
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.checks.scanners.engine import KINDS
from entrance.git.checks.scanners.kinds import Kind
from entrance.git.checks.scanners.passing import MOST_LOOKED_AT, MOST_SIGHTINGS
from entrance.git.checks.scanners.scan import Scan, Seen
from tests.unit.entrance.git.checks.scanners.samples import (
    EVERY,
    LETTERS,
    SURE,
    chance_of,
    of,
)
from tests.unit.entrance.git.checks.scanners.spelling import spelled

OID = "b" * 40
Make = Callable[[random.Random], str]
CHANCES = st.integers(0, 2**32).map(random.Random)
FILLING = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)


def seen(*pieces: bytes, size: int | None = None) -> Seen:
    scan = Scan(OID, "blob", sum(map(len, pieces)) if size is None else size)
    for piece in pieces:
        scan.feed(piece)
    return scan.seen()


def kinds(one: Seen) -> set[str]:
    return {sighting.what for sighting in one.sightings}


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    at = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in pairwise(at)]


@given(
    CHANCES, st.sampled_from(EVERY), FILLING, FILLING, st.lists(st.integers(0, 2000), max_size=12)
)
def test_a_secret_is_found_in_its_line_in_any_text_and_any_pieces(
    chance: random.Random, kind: tuple[str, Make], before: str, after: str, places: list[int]
) -> None:
    what, make = kind
    secret = make(chance)
    text = f"{before}\n{secret}\n{after}".encode()
    found = [one for one in seen(*cut(text, places)).sightings if one.what == what]
    lead = len(secret) - len(secret.lstrip("\n"))
    assert before.encode().count(b"\n") + 2 + lead in {one.line for one in found}


@given(CHANCES, st.sampled_from(EVERY), st.lists(st.integers(0, 2000), max_size=12))
def test_pieces_make_no_difference(
    chance: random.Random, kind: tuple[str, Make], places: list[int]
) -> None:
    text = f"x = 1\n{kind[1](chance)}\n\0{kind[1](chance)}".encode()
    assert seen(*cut(text, places)) == seen(text)


@pytest.mark.parametrize(("what", "make"), SURE)
def test_a_secret_at_the_very_end_is_found(what: str, make: Make) -> None:
    assert what in kinds(seen(make(chance_of(1)).encode()))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(("what", "make"), SURE)
def test_a_secret_is_found_in_wide_letters(what: str, make: Make, encoding: str) -> None:
    text = f"one\ntwo\n{make(chance_of(2))}\n".encode(encoding)
    found = seen(*cut(b"a text\n" * 9 + text, range(0, len(text), 7)))
    assert {one.line for one in found.sightings if one.what == what} == {12}


@given(CHANCES, st.sampled_from(SURE), st.binary(max_size=40), st.binary(max_size=9))
def test_a_secret_is_found_in_base64_wherever_it_begins(
    chance: random.Random, kind: tuple[str, Make], before: bytes, after: bytes
) -> None:
    what, make = kind
    data = before + make(chance).encode() + after
    if what == "a private key" and b"-----BEGIN" not in data:
        return
    assert what in kinds(seen(base64.b64encode(data)))
    assert what in kinds(seen(base64.urlsafe_b64encode(data)))


def test_a_private_key_is_found_in_der() -> None:
    for head in (
        "020100300d06092a864886f70d010101050004820100",
        "02010030130607 2a8648ce3d0201 06082a8648ce3d030107",
        "302e020100300506032b657004220420",
    ):
        data = bytes.fromhex(head.replace(" ", "")) + chance_of(3).randbytes(40)
        assert kinds(seen(b"\0\x01\xff" + data)) == {"a private key"}


def test_a_secret_deep_in_a_large_binary_is_found() -> None:
    chance = chance_of(4)
    large = bytearray(chance.randbytes(8 << 20))
    secret = ("ghp_" + of(chance, LETTERS, 36)).encode()
    for place in ((1 << 18) - 7, 3 << 20, len(large) - len(secret)):
        data = bytearray(large)
        data[place : place + len(secret)] = secret
        data[place - 1 : place] = b"="
        assert kinds(seen(bytes(data))) == {"a token of GitHub"}


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        'if text.startswith("-----BEGIN PRIVATE KEY-----"):\n    return load_the_key(text)\n',
        "-----BEGIN PUBLIC KEY-----\n" + "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A" * 4,
        "-----BEGIN CERTIFICATE-----\n" + "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq" * 4,
        "AKIAIOSFODNN7EXAMPLE",
        "AKIA" + "X" * 16,
        "ghp_" + "x" * 36,
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "postgres://user:password@localhost:5432/app",
        "https://user:hunter42x@example.com/",
        "postgres://app:${DB_PASSWORD}@db.corp.internal/app",
        'password = "correct horse"',
        'password: "changeme"',
        'token = os.environ["APP_TOKEN_2024"]',
        'token: "{{ secrets.deploy_token_2 }}"',
        "API_KEY=<your key goes here 12>",
        'secret_name = "projects/1234/secrets/app-7"',
        '"secret_ref": "V1LocalObjectReference",',
        "private_key: Ed25519PrivateKey | Ed448PrivateKey",
        "self.token = token_2 or None",
        "eyJhbGciOi.eyJzdWIiOi.nope",
        "",
    ],
)
def test_what_only_looks_like_one_is_left_alone(text: str) -> None:
    assert not seen(text.encode()).sightings
    assert not seen(f"a\n{text}\nb".encode()).sightings


@given(CHANCES, st.sampled_from(EVERY))
def test_a_value_is_in_nothing_that_is_handed_on(
    chance: random.Random, kind: tuple[str, Make]
) -> None:
    secret = kind[1](chance)
    found = seen(f"x\n{secret}\n".encode())
    assert found.sightings
    told = repr(found).encode() + pickle.dumps(found.sightings)
    longest = max(re.findall(r"[\w+/!-]+", secret), key=len)
    assert longest.encode()[8:24] not in told


def test_what_an_older_object_has_is_no_news() -> None:
    chance = chance_of(5)
    one, two = ("ghp_" + of(chance, LETTERS, 36) for _ in range(2))
    old = seen(f"a\n{one}\n".encode())
    assert not seen(f"b\nb\n\n{one} # moved\n".encode()).without(old).sightings
    assert [x.line for x in seen(f"{one}\n{two}\n".encode()).without(old).sightings] == [2]
    assert seen(f"{one} {two}\n".encode()).without(old).sightings
    assert seen(one.encode()).without().sightings
    assert seen(one.encode()).without(seen(two.encode())).sightings


def test_news_hide_behind_no_crowd() -> None:
    chance = chance_of(6)
    crowd = "\n".join("ghp_" + of(chance, LETTERS, 36) for _ in range(MOST_SIGHTINGS * 3))
    old = seen(crowd.encode())
    assert len(old.sightings) == MOST_SIGHTINGS
    assert not seen(crowd.encode()).without(old).sightings
    assert seen(f"{crowd}\nghp_{of(chance, LETTERS, 36)}".encode()).without(old).sightings


def test_more_than_is_looked_at_is_taken_for_secrets() -> None:
    doubts = (b"ghp_" + b"x" * 36 + b"\n") * (MOST_LOOKED_AT + 1)
    old = seen(doubts)
    assert kinds(old) == {"a token of GitHub"}
    assert seen(doubts).without(old).sightings


def test_hostile_bytes_are_looked_through_in_time() -> None:
    hostile = [
        b"-----BEGIN PRIVATE KEY-----\n" * 30_000,
        b"-----BEGIN PRIVATE KEY-----" + b"Ab-c: x\n" * 100_000,
        (b"-----BEGIN PRIVATE KEY-----\n" + b"Abc: Abc: Abc: \\n" * 15 + b"A" * 40) * 3000,
        b"secret" * 150_000,
        b"password='" * 100_000,
        b"a://b:c@d" * 100_000,
        b"eyJ" * 300_000 + b"." * 10,
        b"\0" * 1_000_000,
        b"AccountKey=" * 90_000,
    ]
    began = time.process_time()
    for data in hostile:
        seen(data)
    assert time.process_time() - began < 20


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_any_bytes_are_looked_through(data: bytes, places: list[int]) -> None:
    assert seen(*cut(data, places)) == seen(data)


BY_CHANCE = [one for one in KINDS if one.what not in {"a JSON web token", "a login of Docker"}]
"""Those two say something in base64, which no chance does."""


@pytest.mark.parametrize(
    "kind", BY_CHANCE, ids=[f"{number} {kind.what}" for number, kind in enumerate(BY_CHANCE)]
)
def test_every_row_of_the_tables_finds_what_it_describes(kind: Kind) -> None:
    """With letters chosen by chance; what is made up by the same letters isn't believed."""
    chance = chance_of(9)
    tries = [spelled(chance, kind.strictly or kind.pattern) for _ in range(200)]
    found = [kind.what in kinds(seen(f"x\n{text}\n".encode("latin-1"))) for text in tries]
    assert found.count(True) > (190 if kind.sure else 20)
