"""The policy file is read whole or not at all."""

import json
from typing import Any

import pytest

from proxy.policy_file import PolicyFile

RULE = {
    "name": "pypi",
    "host": "*.index.example",
    "methods": ["GET", "HEAD"],
    "paths": ["/simple/**"],
    "ports": [443],
    "schemes": ["https"],
    "mode": "allow",
    "splice": False,
    "upgrade": False,
    "uses": None,
    "max_bytes": None,
    "types": [],
}
SANDBOX = {
    "run": "run-1",
    "address": "10.231.0.5",
    "token_sha256": "ab" * 32,
    "rules": [RULE],
    "limits": {"requests": 10, "bytes": None},
}
WHOLE = {"generation": 17, "refused": ["10.231.0.0/24", "192.168.1.4"], "sandboxes": [SANDBOX]}


def text(**changes: Any) -> bytes:
    return json.dumps(WHOLE | changes).encode()


def test_it_says_the_same_read_and_written_again() -> None:
    read = PolicyFile.parse(text())
    assert PolicyFile.parse(read.text()) == read
    assert read.generation == 17
    assert read.by_address()["10.231.0.5"].rules[0].paths == ("/simple/**",)
    assert [str(one) for one in read.own_networks()] == ["10.231.0.0/24", "192.168.1.4/32"]


def test_one_without_sandboxes_is_a_policy_for_nobody() -> None:
    assert PolicyFile.parse(b'{"generation": 1}').by_address() == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        text(generation="17"),
        text(unknown=1),
        text(refused=["nowhere"]),
        text(sandboxes=[SANDBOX, SANDBOX]),
        text(sandboxes=[SANDBOX | {"token_sha256": "x"}]),
        text(sandboxes=[SANDBOX | {"limits": {"request": 1}}]),
        *(
            text(sandboxes=[SANDBOX | {"rules": [RULE | wrong]}])
            for wrong in (
                {"host": "10.0.0.1"},
                {"mode": "permit"},
                {"methods": "GET"},
                {"ports": ["443"]},
                {"ports": [True]},
                {"schemes": ["ftp"]},
                {"uses": -1},
                {"method": ["GET"]},
            )
        ),
    ],
)
def test_one_wrong_word_makes_it_unreadable(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        PolicyFile.parse(raw)
