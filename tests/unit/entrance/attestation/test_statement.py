"""What is said of a push: a golden statement, and what passes for none."""

import base64
from typing import Any

import orjson
import pytest

from entrance.attestation.statement import push_of, read, written
from entrance.log.signing import UntrustedError
from tests.fakes.attested import AT, FIRST, IMAGE, OLD, REF, STOOD, TIP, a_statement, accepted

GOLDEN: dict[str, Any] = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [
        {
            "name": f"git+https://git.example/thing.git@{REF}",
            "digest": {"gitCommit": TIP},
        },
        {"name": "git+https://git.example/thing.git", "digest": {"gitCommit": FIRST}},
        {"name": "git+https://git.example/thing.git", "digest": {"gitCommit": TIP}},
    ],
    "predicateType": "https://agents.sandgate.invalid/push/v1",
    "predicate": {
        "installation": "sandgate",
        "version": "0.0.test",
        "acceptedAt": AT,
        "run": {
            "id": "run1",
            "task": "DEMO/DEMO-7",
            "project": "DEMO",
            "agent": "bot-rex",
            "model": "anthropic:claude-test",
            "harness": "native",
            "sandbox": "sb-1",
            "image": IMAGE,
        },
        "author": {
            "name": "Rex",
            "mail": "bot-rex@agents.sandgate.invalid",
            "runs": ["run0", "run1"],
        },
        "repository": {"name": "git.example/thing.git", "url": "https://git.example/thing.git"},
        "refs": [{"ref": REF, "old": OLD, "new": TIP}],
        "commits": [FIRST, TIP],
        "onto": [OLD],
        "decision": 3,
        "findings": ["a file was made executable (run.sh) [executable-bit]"],
        "log": {"segment": 1, "seq": 4, "hash": "c" * 64, "keyId": "0123456789abcdef"},
    },
}


def test_a_push_is_said_in_this_form() -> None:
    """The form is what others read: a change of it is a new `predicateType`."""
    assert orjson.loads(written(a_statement())) == GOLDEN


def test_what_is_written_is_read_again() -> None:
    assert read(written(a_statement())) == a_statement()


def test_a_persons_consent_is_said() -> None:
    push = accepted(held=2, approval="A-17", approved_by="lead")
    said = push_of(push, STOOD, key_id="k", at=AT, version="1")
    told = orjson.loads(written(said))["predicate"]
    assert (told["held"], told["approval"]) == (2, {"id": "A-17", "by": "lead"})
    assert read(written(said)) == said


def test_a_newer_versions_fields_are_passed_over() -> None:
    newer = {**GOLDEN, "predicate": {**GOLDEN["predicate"], "weather": "fine"}}
    assert read(orjson.dumps(newer)) == a_statement()


@pytest.mark.parametrize(
    "change",
    [
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"predicateType": "https://slsa.dev/provenance/v1"},
        {"predicate": {}},
        {"subject": GOLDEN["subject"][:1]},
        {"subject": [*GOLDEN["subject"], {"digest": {"gitCommit": OLD}}]},
        {"subject": []},
        {"predicate": {**GOLDEN["predicate"], "commits": ["HEAD"]}},
        {"predicate": {**GOLDEN["predicate"], "decision": "3"}},
    ],
)
def test_what_is_no_statement_of_ours_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UntrustedError) as raised:
        read(orjson.dumps({**GOLDEN, **change}))
    assert raised.value.why == "unreadable"


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"null", base64.b64encode(b"x"), b"\xff"])
def test_what_can_not_be_read_is_refused(text: bytes) -> None:
    with pytest.raises(UntrustedError):
        read(text)
