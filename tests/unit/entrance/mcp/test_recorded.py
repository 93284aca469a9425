"""What the log has of a call's arguments."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.canonical import canonical, hash_of
from entrance.mcp.recorded import GONE, LONGEST, is_secret_name, of_arguments


def told(arguments: dict[str, Any]) -> Any:
    return orjson.loads(of_arguments(arguments)["arguments"])


def test_arguments_are_on_record_with_the_hash_of_their_one_text() -> None:
    arguments = {"page": "Home", "n": 1.0}
    facts = of_arguments(arguments)
    assert facts["arguments"] == '{"n":1,"page":"Home"}'
    assert facts["arguments_sha256"] == hash_of(canonical(arguments))
    assert facts["whole"]


@pytest.mark.parametrize(
    "name",
    ["password", "PASSWORD", "api_key", "apiKey", "X-Api-Key", "db_password", "accessToken",
     "Authorization", "client_secret", "clientSecret", "private-key", "credentials", "refresh_token"],
)  # fmt: skip
def test_what_is_called_a_secret_is_not(name: str) -> None:
    assert is_secret_name(name)
    assert told({"deep": [{name: "words"}]}) == {"deep": [{name: GONE}]}
    assert not of_arguments({name: "words"})["whole"]


@pytest.mark.parametrize(
    "name", ["key", "page", "tokens_used", "secretary", "keyboard", "compass", "", "-"]
)
def test_what_only_sounds_like_one_is(name: str) -> None:
    assert not is_secret_name(name)
    assert told({name: "words"}) == {name: "words"}


@pytest.mark.parametrize(
    "value",
    [
        "sgr_" + "a" * 43,
        "sk-ant-" + "x" * 40,
        "ghp_" + "A1" * 18,
        "AKIA" + "A" * 16,
        "glpat-" + "x" * 20,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        "Bearer abcdefghijklmnop1234",
    ],
)
def test_what_looks_like_a_secret_is_not_whatever_it_is_called(value: str) -> None:
    text = of_arguments({"note": f"use {value} here", value: 1})["arguments"]
    assert value not in text
    assert GONE in text


def test_a_password_in_a_url_is_not() -> None:
    assert told({"url": "https://me:hunter2@h.example/x"}) == {"url": f"https://{GONE}@h.example/x"}


def test_what_is_very_long_or_deep_is_cut_and_says_so() -> None:
    facts = of_arguments({"text": "x" * 100_000})
    assert (len(facts["arguments"]), facts["whole"], facts["bytes"]) == (LONGEST, False, 100_011)
    deep: Any = "end"
    for _ in range(200):
        deep = [deep]
    assert not of_arguments({"d": deep})["whole"]


@given(st.dictionaries(st.text(), st.recursive(st.text() | st.integers(), st.lists)))
def test_it_never_fails(arguments: dict[str, Any]) -> None:
    facts = of_arguments(arguments)
    assert len(facts["arguments_sha256"]) == 64


def test_what_is_known_to_be_a_secret_is_gone_whatever_it_is_called_and_looks_like() -> None:
    arguments = {"note": 'say "correct horse" twice'}
    facts = of_arguments(arguments, lambda text: text.replace("correct horse", GONE))
    assert "correct horse" not in facts["arguments"]
    assert orjson.loads(facts["arguments"]) == {"note": f'say "{GONE}" twice'}
    assert (facts["whole"], facts["arguments_sha256"]) == (False, hash_of(canonical(arguments)))
