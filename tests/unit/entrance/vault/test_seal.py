"""Sealing: what goes in comes out, and only as the row that it was."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.errors import Malformed
from entrance.vault.seal import Keyring, bound_to, seal, unseal

RING = Keyring("a", {"a": b"a" * 32, "b": b"b" * 32})
META = {"hosts": ["h"], "scheme": "bearer"}


@given(st.binary(max_size=2000), st.binary(max_size=50))
def test_a_sealed_value_opens_to_itself(value: bytes, bound: bytes) -> None:
    assert unseal(RING, "a", seal(RING, value, bound), bound) == value


@given(st.binary(min_size=1, max_size=100), st.data())
def test_any_changed_bit_keeps_it_shut(value: bytes, data: st.DataObject) -> None:
    blob = bytearray(seal(RING, value, b"row"))
    at = data.draw(st.integers(0, len(blob) * 8 - 1))
    blob[at // 8] ^= 1 << at % 8
    with pytest.raises(Malformed, match="changed"):
        unseal(RING, "a", bytes(blob), b"row")


def test_two_seals_of_one_value_differ() -> None:
    assert seal(RING, b"v", b"") != seal(RING, b"v", b"")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(bound_to("secrets", "n2", 1, META), id="another name"),
        pytest.param(bound_to("secrets", "n", 2, META), id="another version"),
        pytest.param(bound_to("other", "n", 1, META), id="another collection"),
        pytest.param(bound_to("secrets", "n", 1, {**META, "hosts": ["evil"]}), id="other hosts"),
    ],
)
def test_a_value_opens_in_its_own_row_only(other: bytes) -> None:
    bound = bound_to("secrets", "n", 1, META)
    blob = seal(RING, b"v", bound)
    assert (
        unseal(RING, "a", blob, bound_to("secrets", "n", 1, dict(reversed(META.items())))) == b"v"
    )
    with pytest.raises(Malformed):
        unseal(RING, "a", blob, other)


def test_the_key_is_chosen_by_its_id() -> None:
    older = Keyring("b", RING.keys)
    assert unseal(RING, "b", seal(older, b"v", b""), b"") == b"v"
    with pytest.raises(Malformed, match="does not have"):
        unseal(RING, "c", seal(RING, b"v", b""), b"")
    with pytest.raises(Malformed):
        unseal(RING, "a", b"short", b"")


def test_a_keyring_shows_and_gives_away_nothing() -> None:
    assert "aaaa" not in repr(RING)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="never"):
            attempt(RING)


@pytest.mark.parametrize(("current", "keys"), [("x", {"a": b"a" * 32}), ("a", {"a": b"short"})])
def test_a_keyring_that_will_not_do_is_not_made(current: str, keys: dict[str, bytes]) -> None:
    with pytest.raises(ValueError, match="key"):
        Keyring(current, keys)
