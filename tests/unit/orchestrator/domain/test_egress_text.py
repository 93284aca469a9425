"""Policies as people write them: what they mean, and what is said of what can't be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.egress import Ceiling, Ground, Policy, Unreadable
from orchestrator.domain.egress_text import ground_of, policy_of
from orchestrator.domain.policy_text import LONGEST
from proxy.policy import Limits, Mode, Rule

ITEM = "egress of WEB/WEB-1"


def test_an_empty_text_allows_nothing() -> None:
    assert policy_of("", ITEM) == policy_of("# nothing yet\n", ITEM) == Policy()


def test_a_rule_that_says_only_its_host_is_for_reading_over_https() -> None:
    policy = policy_of("rules: [{host: A.Example}]", ITEM)
    assert policy == Policy(rules=(Rule(name="a.example", host="a.example"),))


def test_everything_can_be_said() -> None:
    text = """
presets: [pypi, docs]
rules:
  - name: tickets
    host: "*.tickets.example"
    methods: [GET, POST]
    paths: ["/api/**"]
    ports: [8443]
    schemes: [https]
    mode: allow
    upgrade: true
    max_bytes: 2 MiB
    types: [application/json]
    networks: [10.4.0.0/16]
limits:
  requests: 1000
  bytes: 1 GiB
"""
    rule = Rule(
        name="tickets", host="*.tickets.example", methods=frozenset({"GET", "POST"}),
        paths=("/api/**",), ports=frozenset({8443}), upgrade=True, max_bytes=2 << 20,
        types=frozenset({"application/json"}), networks=("10.4.0.0/16",),
    )  # fmt: skip
    expected = Policy(("pypi", "docs"), (rule,), Limits(requests=1000, bytes=1 << 30))
    assert policy_of(text, ITEM) == expected


@pytest.mark.parametrize("mode", ["deny", "hold"])
def test_what_forbids_or_holds_is_about_everything_that_it_does_not_name(mode: str) -> None:
    policy = policy_of(f"rules: [{{host: a.example, mode: {mode}}}]", ITEM)
    assert isinstance(policy, Policy)
    rule = policy.rules[0]
    assert rule.mode is Mode(mode)
    assert rule.methods >= {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
    assert rule.schemes == {"http", "https"}


def test_an_installation_has_a_ceiling_of_the_webs_ports_without_closed_tls() -> None:
    assert ground_of("", "x") == Ground(ceiling=Ceiling(ports=frozenset({80, 443})))
    given_one = ground_of("ceiling: {hosts: ['*.corp.example'], methods: [GET], splice: true}", "x")
    expected = Ceiling(("*.corp.example",), frozenset({"GET"}), splice=True)
    assert given_one == Ground(ceiling=expected)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("presets: [pypi\nrules: []", 2, "no YAML"),
        ("\n\nrules:\n  - host: a.example\n    method: [GET]", 5, "rules.0.method"),
        ("rules:\n  - host: a.example\n  - host: b.example\n    methods: [get]", 4, "methods"),
        ("rules:\n  - host: 10.0.0.1", 2, "address"),
        ("rules:\n  - host: https://a.example/", 2, "host"),
        ("rules:\n  - host: localhost", 2, "domain"),
        ("rules:\n  - methods: [GET]", 2, "rules.0.host"),
        ("rules:\n  - host: a.example\n    name: honeytoken", 2, "would freeze sandboxes"),
        ("rules:\n  - host: a.example\n    paths: [simple/]", 3, "begins with /"),
        ("rules:\n  - host: a.example\n    paths: ['/a/../b']", 3, "dot segments"),
        ("rules:\n  - host: a.example\n    paths: ['/a?b=c']", 3, "query"),
        ("rules:\n  - host: a.example\n    paths: []", 3, "paths"),
        ("rules:\n  - host: a.example\n    methods: []", 3, "methods"),
        ("rules:\n  - host: a.example\n    methods: [CONNECT]", 3, "methods"),
        ("rules:\n  - host: a.example\n    ports: [0]", 3, "ports"),
        ("rules:\n  - host: a.example\n    uses: 3", 3, "uses"),
        ("rules:\n  - host: a.example\n    approval: me", 3, "approval"),
        ("rules:\n  - host: a.example\n    mode: allowed", 3, "mode"),
        ("rules:\n  - host: a.example\n    splice: 'yes'", 3, "splice"),
        ("rules:\n  - host: a.example\n    max_bytes: 2 MB", 3, "max_bytes"),
        ("rules:\n  - host: a.example\n    networks: [10.0.0.1/8]", 3, "host bits"),
        ("rules: {host: a.example}", 1, "rules"),
        ("presets: pypi", 1, "presets"),
        ("limits: {requests: 0}", 1, "limits.requests"),
        ("- a", 1, "the policy"),
        ("42", 1, "the policy"),
        ("ceiling: {}", 1, "ceiling"),
        ("rules: []\nrules: [{host: a.example}]", 2, "twice"),
        ("a: &x {b: 1}\nc: *x", 1, "aliases"),
        ("rules:\n- host: a.example\n  <<: {mode: allow}", 3, "merged"),
        ("!!python/object/apply:os.system ['true']", 1, "no YAML"),
        ("\tx", 1, "no YAML"),
        ("a: \x07", 1, "no YAML"),
        ("[" * 5000, 1, "no YAML"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_allows_nothing_and_names_item_and_line(
    text: str, line: int, says: str
) -> None:
    read = policy_of(text, ITEM)
    assert isinstance(read, Unreadable)
    assert read.reason.startswith(f"{ITEM}, line {line}:")
    assert says in read.reason


def test_a_text_that_is_too_long_is_not_read() -> None:
    assert isinstance(policy_of("#" * (LONGEST + 1), ITEM), Unreadable)


def test_text_whose_indentation_was_lost_in_an_editor_is_not_taken_for_something_else() -> None:
    text = "rules:\n  - host: a.example\n    mode: deny\nlimits:\n  requests: 5\n"
    squeezed = "\n".join(line.strip() for line in text.splitlines())
    assert isinstance(policy_of(text, ITEM), Policy)
    assert isinstance(policy_of(squeezed, ITEM), Unreadable)


@given(st.text(max_size=300))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(policy_of(text, ITEM), Policy | Unreadable)
    assert isinstance(ground_of(text, ITEM), Ground | Unreadable)
