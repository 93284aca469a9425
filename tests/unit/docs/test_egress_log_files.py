"""The page about the egress log's files tells of everything that there is."""

from pathlib import Path

import orjson
import pytest

from entrance.decision import Deny
from entrance.log.fields import of_decision, of_outcome
from entrance.log.findings import KINDS
from entrance.log.records import DOORS, Decided, Outcome, Request, Traffic, Whose
from entrance.log.seal import Facts, sealed
from entrance.ports import Cause
from entrance.session import RunId
from tests.servers.log import signer

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "egress-log-files.md").read_text()
DECIDED = Decided(
    "http", "x", Deny("x"), Whose(RunId("x"), "x", "x", "x", "x", "x"),
    request=Request("x", "x", "x", 1, "x", "x"), rule="x", key="x",
)  # fmt: skip
OUTCOME = Outcome(1, "x", traffic=Traffic(1, 1, 1, "x", "x", 1, "x", 1))


@pytest.mark.parametrize(("kind", "words"), KINDS.items())
def test_whatever_verify_finds_is_explained(kind: str, words: str) -> None:
    assert f"| `{kind}` | {words} |" in PAGE


@pytest.mark.parametrize(("kind", "door"), DOORS.items())
def test_every_kind_of_attempt_is_there_with_its_door(kind: str, door: str) -> None:
    assert f"| `{kind}` | `{door}` |" in PAGE


@pytest.mark.parametrize(
    "fields", [of_decision(DECIDED, Cause(1)), of_outcome(OUTCOME, "x", Cause(1))]
)
def test_the_fields_of_a_line_are_told_in_their_order(fields: dict[str, object]) -> None:
    names = ", ".join(f"`{name}`" for name in fields if name != "type")
    assert f"| `{fields['type']}` | {names} |" in PAGE


def test_what_a_seal_has_is_told() -> None:
    facts = Facts(1, "x", 1, 1, 1, "0" * 64, "0" * 64, "x")
    for name in orjson.loads(sealed(facts, "x").signed(signer())):
        assert f'"{name}":' in PAGE
