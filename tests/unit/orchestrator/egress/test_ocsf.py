"""Every kind of record is an event of OCSF's schema, and says what the record says."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.decision import Allow, Decision, Deny, Hold
from entrance.log.fields import of_decision, of_outcome
from entrance.log.records import DOORS, Decided, Kind, Outcome, Request, Traffic
from entrance.ports import Cause
from orchestrator.egress.ocsf import VERSION, Origin, event
from tests.fakes.egress_log import ATTEMPT, CAME
from tests.fakes.ocsf import validated

ORIGIN = Origin("sg1a2b3c", "0.1.0")
HEAD: Mapping[str, Any] = {"seq": 7, "at": "2026-11-30T12:00:07.250000+00:00", "type": "decided"}
WHO: Mapping[str, Any] = {
    name: ATTEMPT[name] for name in ("run", "task", "agent", "sandbox", "address")
}
DENIED: Mapping[str, Any] = {
    "decision": "deny",
    "rule": "",
    "reason": "no rule allows evil.example",
}

DECIDED: dict[str, Mapping[str, Any]] = {
    "egress request": ATTEMPT,
    "egress request, held": {**ATTEMPT, "decision": "hold", "reason": "a person must look"},
    "egress request, denied": {**ATTEMPT, **DENIED},
    "egress request by an odd method": {**ATTEMPT, "method": "PROPFIND"},
    "egress request to an address": {**ATTEMPT, "host": "[2001:db8::1]", "url": "http://[2001:db8::1]/"},
    "egress request to no URL": {**ATTEMPT, "url": "http://[", "host": ""},
    "egress tunnel": {**WHO, **DENIED, "door": "egress", "kind": "tunnel", "method": "CONNECT",
                      "host": "evil.example", "port": 443},
    "egress tunnel to nowhere": {**WHO, **DENIED, "door": "egress", "kind": "connect", "method": "CONNECT"},
    "egress handshake": {**WHO, **DENIED, "door": "egress", "kind": "tls", "sni": "evil.example"},
    "egress bytes that are no request": {**DENIED, "door": "egress", "kind": "rejected",
                                         "address": "10.231.0.7"},
    "fence drop": {**WHO, **DENIED, "door": "fence", "kind": "packet", "target": "198.51.100.1:53",
                   "host": "198.51.100.1", "port": 53, "detail": {"packets": 12, "protocol": "udp"}},
    "refused identity": {**DENIED, "door": "entrance", "kind": "auth", "address": "10.231.0.7",
                         "subject": "POST /mcp", "detail": {"trouble": "missing"}},
    "refused identity of a run": {**DENIED, "door": "entrance", "kind": "auth", "run": "run-1",
                                  "address": "10.231.0.9", "subject": "GET /git/x"},
    "refused identity at the proxy": {**DENIED, "door": "egress", "kind": "auth", "address": "10.231.0.9"},
    "wrong path": {**WHO, **DENIED, "door": "entrance", "kind": "request", "subject": "GET /admin"},
    "tool call": {**WHO, "door": "mcp", "kind": "tool_call", "subject": "polarion/get_item",
                  "decision": "allow", "detail": {"read_only": True}},
    "tool call that changes": {**WHO, "door": "mcp", "kind": "tool_call", "subject": "polarion/comment",
                               "decision": "hold", "reason": "comment changes polarion"},
    "fetch": {**WHO, "door": "git", "kind": "git_fetch", "subject": "web", "decision": "allow"},
    "push": {**WHO, "door": "git", "kind": "git_push", "subject": "web", "decision": "allow"},
    "model call": {**WHO, "door": "model", "kind": "model_call", "subject": "anthropic:claude-sonnet-5",
                   "decision": "allow"},
    "model call by URL": {**WHO, "door": "model", "kind": "model_call", "method": "POST",
                          "url": "https://api.example/v1/messages", "host": "api.example", "port": 443,
                          "subject": "anthropic:claude-sonnet-5", "decision": "allow"},
    "a door of a later version": {**WHO, "door": "mail", "kind": "letter", "decision": "allow"},
    "hardly anything": {},
}  # fmt: skip
CLASSES = {
    "egress request": (4002, "Get"),
    "egress request by an odd method": (4002, "PROPFIND"),
    "egress tunnel": (4002, "Connect"),
    "egress handshake": (4001, "Refuse"),
    "egress bytes that are no request": (4001, "Refuse"),
    "fence drop": (4001, "Refuse"),
    "refused identity": (3002, "Logon"),
    "refused identity at the proxy": (3002, "Logon"),
    "wrong path": (4002, "Get"),
    "tool call": (6003, "Read"),
    "tool call that changes": (6003, "Call"),
    "fetch": (6003, "Read"),
    "push": (6003, "Update"),
    "model call": (6003, "Call"),
    "model call by URL": (4002, "Post"),
    "a door of a later version": (4001, "Open"),
}


@pytest.mark.parametrize("name", DECIDED)
def test_a_decision_fits_the_schema(name: str) -> None:
    assert validated(event({**HEAD, **DECIDED[name]}, ORIGIN)).metadata.uid == "sg1a2b3c:7"


@pytest.mark.parametrize("name", DECIDED)
def test_an_outcome_fits_the_schema(name: str) -> None:
    decided = {**HEAD, **DECIDED[name]}
    came = {"seq": 9, "at": "2026-11-30T12:00:08+00:00", "type": "outcome", "of": 7, **CAME}
    failed = {**came, "status": 503, "result": "failed", "ms": 10**12}
    for outcome in (came, failed):
        assert validated(event(outcome, ORIGIN, decided)).metadata.uid == "sg1a2b3c:9"


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.parametrize("decision", [Allow(), Hold("a person must look"), Deny("no rule")])
def test_every_kind_that_is_written_fits_the_schema(kind: Kind, decision: Decision) -> None:
    asked = Request(
        "GET", "https://files.example/a", "files.example", 443, "files.example", "192.0.2.7:443"
    )
    for request in (asked, Request(host="198.51.100.1", port=53), None):
        record = Decided(
            kind, "what was wanted", decision, address="10.231.0.7", request=request, rule="r"
        )
        decided = {**HEAD, **of_decision(record, Cause(3, "Bash"))}
        assert validated(event(decided, ORIGIN)).metadata.uid == "sg1a2b3c:7"
        outcome = Outcome(
            7, "done", traffic=Traffic(200, 312, 4096, "ab", "cd", 64, "192.0.2.7:443", 34)
        )
        came = {"seq": 8, "at": HEAD["at"], **of_outcome(outcome, "run-1", None)}
        assert validated(event(came, ORIGIN, decided)).metadata.uid == "sg1a2b3c:8"


def test_an_outcome_whose_decision_is_gone_fits_the_schema() -> None:
    came = {"seq": 9, "at": "2026-11-30T12:00:08+00:00", "type": "outcome", "of": 7, **CAME}
    made = event(came, ORIGIN)
    validated(made)
    assert made["actor"]["session"] == {"uid": "run-1"}
    assert made["metadata"]["correlation_uid"] == "sg1a2b3c:7"
    validated(event({"seq": 9, "at": came["at"], "type": "outcome", "of": 7}, ORIGIN))


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ({"type": "opened", "segment": 2, "installation": "x", "prev": "0" * 64}, "Informational"),
        ({"type": "torn", "bytes": 17, "sha256": "0" * 64}, "High"),
        ({"type": "unreadable"}, "Informational"),
    ],
)
def test_what_the_log_says_of_itself_fits_the_schema(line: dict[str, Any], severity: str) -> None:
    made = event({"seq": 3, "at": HEAD["at"], **line}, ORIGIN)
    validated(made)
    assert (made["class_uid"], made["severity"]) == (0, severity)


@pytest.mark.parametrize("name", CLASSES)
def test_each_kind_has_its_class(name: str) -> None:
    made = event({**HEAD, **DECIDED[name]}, ORIGIN)
    assert (made["class_uid"], made["activity_name"]) == CLASSES[name]


def test_an_event_says_who_wanted_what_and_what_was_decided() -> None:
    made = event({**HEAD, **ATTEMPT, "cause": {"step": 3, "tool": "Bash"}}, ORIGIN)
    assert made["time"] == 1796040007250
    assert made["actor"] == {
        "user": {"name": "bot-rex", "uid": "bot-rex"},
        "session": {"uid": "run-1"},
        "app_name": "sandgate",
    }
    assert made["src_endpoint"]["ip"] == "10.231.0.7"
    assert made["dst_endpoint"] == {"hostname": "files.example", "port": 443}
    assert made["http_request"]["url"]["url_string"] == "https://files.example/a"
    assert (made["action"], made["disposition"], made["status"]) == (
        "Allowed",
        "Allowed",
        "Unknown",
    )
    assert made["firewall_rule"] == {"name": "pypi"}
    assert made["unmapped"]["cause"] == {"step": 3, "tool": "Bash"}
    assert made["unmapped"]["task"] == "WEB/WEB-1"
    assert made["metadata"]["uid"] == made["metadata"]["correlation_uid"] == "sg1a2b3c:7"
    assert (made["metadata"]["version"], VERSION) == ("1.5.0", "1.5.0")


def test_an_outcome_says_what_went_over_the_wire() -> None:
    came = {"seq": 9, "at": "2026-11-30T12:00:08+00:00", "type": "outcome", "of": 7, **CAME}
    made = event({**came, "response_sha256": "ab"}, ORIGIN, {**HEAD, **ATTEMPT})
    assert made["traffic"] == {"bytes": 4408, "bytes_out": 312, "bytes_in": 4096}
    assert made["http_response"] == {"code": 200, "length": 4096, "latency": 34}
    assert made["dst_endpoint"]["ip"] == "192.0.2.7"
    assert (made["status"], made["status_code"], made["duration"]) == ("Success", "200", 34)
    assert made["end_time"] - made["start_time"] == 750
    assert made["metadata"]["correlation_uid"] == "sg1a2b3c:7"
    assert made["unmapped"]["outcome_response_sha256"] == "ab"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("egress request, held", ("Held", "Delayed", "Low", "Failure")),
        ("egress request, denied", ("Denied", "Blocked", "Medium", "Failure")),
        ("fence drop", ("Denied", "Dropped", "Medium", "Failure")),
        ("refused identity", ("Denied", "Unauthorized", "Medium", "Failure")),
    ],
)
def test_what_was_not_allowed_is_told_apart(name: str, said: tuple[str, ...]) -> None:
    made = event({**HEAD, **DECIDED[name]}, ORIGIN)
    assert tuple(made[k] for k in ("action", "disposition", "severity", "status")) == said


def test_a_record_of_the_fence_says_how_many_packets_it_is() -> None:
    assert event({**HEAD, **DECIDED["fence drop"]}, ORIGIN)["count"] == 12


TEXT = st.text(max_size=30)
NUMBER = st.integers(0, 2**40)
ANYTHING = st.none() | st.booleans() | st.integers(-5, 10**6) | TEXT | st.lists(TEXT, max_size=2)
FIELDS = (*ATTEMPT, *CAME, "of", "cause")


@given(
    fields=st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(
                ("subject", "url", "host", "address", "target", "rule", "reason"), TEXT
            ),
            "method": st.sampled_from(["GET", "get", "", "X\r\n"]),
            "door": st.sampled_from(["egress", "mcp", "git", "model", "fence", "entrance", "?"]),
            "kind": st.sampled_from(["auth", "http", "tool_call", "git_push", "packet", "?"]),
            "decision": st.sampled_from(["allow", "hold", "deny", "?"]),
            "port": st.integers(0, 65535),
            "detail": st.dictionaries(TEXT, TEXT, max_size=2),
        },
    ),
    came=st.fixed_dictionaries(
        {},
        optional={
            "status": NUMBER,
            "bytes_in": NUMBER,
            "bytes_out": NUMBER,
            "ms": st.floats(0, 1e9),
        },
    ),
)
def test_whatever_a_sandbox_makes_of_it_the_event_fits_the_schema(
    fields: dict[str, Any], came: dict[str, Any]
) -> None:
    decided = {**HEAD, **fields}
    outcome = {"seq": 8, "at": HEAD["at"], "type": "outcome", "of": 7, **came}
    for made in (event(decided, ORIGIN), event(outcome, ORIGIN, decided)):
        assert validated(made).metadata.correlation_uid == "sg1a2b3c:7"
        assert orjson.loads(orjson.dumps(made)) == made


@given(
    fields=st.dictionaries(st.sampled_from(FIELDS), ANYTHING),
    came=st.dictionaries(st.sampled_from(FIELDS), ANYTHING),
)
def test_fields_of_wrong_types_are_left_out(fields: dict[str, Any], came: dict[str, Any]) -> None:
    outcome = {"seq": 8, "at": HEAD["at"], "type": "outcome", "of": 7, **came}
    decided = {**HEAD, **fields}
    for made in (event(decided, ORIGIN), event(outcome, ORIGIN, decided)):
        assert validated(made).metadata.version == VERSION
