"""Secrets are found in names, among however many, and cut out where a name is told."""

import pytest

from entrance.git.checks.facts import Telling
from entrance.git.checks.scanners.names import telling
from tests.unit.entrance.git.checks.scanners.samples import LETTERS, chance_of, of

TOKEN = "ghp_" + of(chance_of(7), LETTERS, 36)
GITHUB = ("a token of GitHub",)


@pytest.mark.parametrize(
    ("name", "masked"),
    [
        (TOKEN, "***"),
        (f"docs/{TOKEN}.txt", "docs/***"),
        (f"{TOKEN}/{TOKEN}/a", "***/***/a"),
        (f"refs/heads/agent/T-1/x-{TOKEN}", "refs/heads/agent/T-1/***"),
    ],
)
def test_only_the_parts_that_tell_are_cut_out(name: str, masked: str) -> None:
    assert telling([name.encode()]) == {name.encode(): Telling(GITHUB, masked.encode())}


def test_what_takes_several_parts_to_tell_is_cut_out_whole() -> None:
    webhook = (
        f"hooks.slack.com/services/T{'A1B2C3D4'}/B{'E5F6G7H8'}/{of(chance_of(7), LETTERS, 24)}"
    )
    [[name, found]] = telling([f"docs/{webhook}".encode()]).items()
    assert name == f"docs/{webhook}".encode()
    assert found == Telling(("a webhook of Slack",), b"***")


def test_one_among_thousands_is_found_and_no_other() -> None:
    names = [f"src/module_{number}.py".encode() for number in range(3000)]
    names.insert(1777, TOKEN.encode())
    assert list(telling(names)) == [TOKEN.encode()]


def test_two_names_that_tell_only_side_by_side_are_none() -> None:
    assert not telling([b"ghp_", TOKEN.removeprefix("ghp_").encode()])
