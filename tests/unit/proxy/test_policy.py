"""The table of what a sandbox may reach."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.paths import readings
from proxy.policy import (
    Allow,
    Cause,
    Deny,
    Hold,
    Limits,
    Mode,
    Request,
    Rule,
    SandboxPolicy,
    Used,
    decide,
    decide_tunnel,
)

HOST = "a.example"


def policy(*rules: Rule, limits: Limits | None = None) -> SandboxPolicy:
    return SandboxPolicy(
        run="run-1",
        address="10.0.0.2",
        token_sha256="0" * 64,
        rules=rules,
        limits=limits or Limits(),
    )


def rule(name: str = "web", **fields: Any) -> Rule:
    return Rule(**({"name": name, "host": HOST} | fields))


def cause(decision: Allow | Hold | Deny) -> Cause | None:
    return None if isinstance(decision, Allow) else decision.cause


def test_without_rules_nothing_is_reached_and_the_reason_says_how_to_ask() -> None:
    found = decide(Request.to("https://a.example/x"), policy())
    assert isinstance(found, Deny)
    assert "a.example" in found.reason
    assert "request_access" in found.reason


def test_what_a_rule_covers_goes_to_its_canonical_host() -> None:
    found = decide(Request.to("https://A.Example./x?q=1"), policy(rule(max_bytes=7)))
    assert found == Allow("a.example", "web", max_bytes=7)


@pytest.mark.parametrize(
    ("url", "method", "why"),
    [
        ("https://b.example/", "GET", Cause.HOST),
        ("https://a.example.evil.test/", "GET", Cause.HOST),
        ("http://a.example/", "GET", Cause.SCHEME),
        ("https://a.example:22/", "GET", Cause.PORT),
        ("ftp://a.example/", "GET", Cause.SCHEME),
        ("https://a.example/", "POST", Cause.METHOD),
        ("https://a.example/", "TRACE", Cause.METHOD),
        ("https://a.example/", "CONNECT", Cause.METHOD),
        ("https://a.example/no", "GET", Cause.PATH),
        ("https://a.example/x/%2e%2e/no", "GET", Cause.MALFORMED),
        ("https://u:p@a.example/x/", "GET", Cause.MALFORMED),
        ("https://10.0.0.1/", "GET", Cause.MALFORMED),
        ("https://[::1]:443/", "GET", Cause.MALFORMED),
        ("https://a.example/x/" + "a" * 2048, "GET", Cause.URL_LENGTH),
    ],
)
def test_each_refusal_says_what_is_not_allowed(url: str, method: str, why: Cause) -> None:
    found = decide(Request.to(url, method), policy(rule(paths=("/x/**",))))
    assert isinstance(found, Deny)
    assert found.cause is why
    assert found.reason


def test_nothing_is_kept_of_a_path_that_is_too_long() -> None:
    """Whoever sends thousands of them would fill the proxy's memory."""
    before = readings.cache_info().currsize
    decide(Request.to("https://a.example/" + "a" * 60_000), policy(rule()))
    assert readings.cache_info().currsize == before


def test_deny_beats_hold_beats_allow() -> None:
    allow, hold, deny = (rule(mode.value, mode=mode) for mode in (Mode.ALLOW, Mode.HOLD, Mode.DENY))
    request = Request.to("https://a.example/")
    assert decide(request, policy(allow, hold, deny)) == Deny(
        "a.example is forbidden by rule deny", Cause.RULE, "deny"
    )
    found = decide(request, policy(allow, hold))
    assert isinstance(found, Hold)
    assert found.rule == "hold"
    assert isinstance(decide(request, policy(allow)), Allow)


def test_an_approval_beats_a_hold_as_often_as_it_allows_and_no_denial() -> None:
    hold = rule("hold", mode=Mode.HOLD)
    once = rule("once", approval="A-7", uses=1)
    request = Request.to("https://a.example/")
    assert cause(decide(request, policy(hold, once))) is None
    assert isinstance(decide(request, policy(hold, once), Used(uses={"once": 1})), Hold)
    assert isinstance(decide(request, policy(hold, once, rule("no", mode=Mode.DENY))), Deny)


@pytest.mark.parametrize(
    ("query", "url", "allowed"),
    [
        (None, "https://a.example/x?y=1", True),
        ("y=1", "https://a.example/x?y=1", True),
        ("y=1", "https://a.example/x?y=1&z=2", False),
        ("y=1", "https://a.example/x?y=%31", False),
        ("y=1", "https://a.example/x", False),
        ("", "https://a.example/x", True),
        ("", "https://a.example/x?y=1", False),
    ],
)
def test_a_rule_may_be_about_one_query_only(query: str | None, url: str, *, allowed: bool) -> None:
    only = rule(query=query)
    assert isinstance(decide(Request.to(url), policy(only)), Allow) is allowed
    assert only.whole is (query is None)
    with pytest.raises(ValueError, match="spliced"):
        rule(query="", splice=True)


def test_a_rule_is_used_so_often_and_no_more() -> None:
    twice = policy(rule("twice", uses=2))
    request = Request.to("https://a.example/")
    assert cause(decide(request, twice, Used(uses={"twice": 1}))) is None
    assert cause(decide(request, twice, Used(uses={"twice": 2}))) is Cause.BUDGET
    other = policy(rule("twice", uses=2), rule("more"))
    found = decide(request, other, Used(uses={"twice": 2}))
    assert isinstance(found, Allow)
    assert found.rule == "more"


@pytest.mark.parametrize("used", [Used(requests=3), Used(bytes=10), Used(requests=4, bytes=11)])
def test_a_run_that_used_up_its_budget_reaches_nothing_more(used: Used) -> None:
    small = policy(rule(), limits=Limits(requests=3, bytes=10))
    request = Request.to("https://a.example/")
    assert cause(decide(request, small, Used(requests=2, bytes=9))) is None
    assert cause(decide(request, small, used)) is Cause.BUDGET


def test_an_upgrade_is_allowed_by_a_rule_that_says_so() -> None:
    request = replace(Request.to("https://a.example/"), upgrade=True)
    assert cause(decide(request, policy(rule()))) is Cause.UPGRADE
    found = decide(request, policy(rule(), rule("ws", upgrade=True)))
    assert isinstance(found, Allow)
    assert (found.rule, found.upgrade) == ("ws", True)


def test_a_denied_path_is_denied_in_any_reading() -> None:
    mixed = policy(rule(), rule("no", paths=("/admin/**",), mode=Mode.DENY))
    assert cause(decide(Request.to("https://a.example/%2561dmin/x"), mixed)) is Cause.RULE
    assert cause(decide(Request.to("https://a.example/x"), mixed)) is None


class TestTunnel:
    def test_it_opens_where_something_may_be_asked(self) -> None:
        assert decide_tunnel("A.example.", 443, policy(rule())) == Allow("a.example", "")

    def test_plain_http_in_it_is_judged_like_any(self) -> None:
        plain = policy(rule(schemes=frozenset({"http"})))
        assert cause(decide_tunnel(HOST, 80, plain)) is None
        assert cause(decide_tunnel(HOST, 443, plain)) is Cause.PORT

    @pytest.mark.parametrize("port", [22, 53, 80, 8080])
    def test_no_port_opens_that_no_rule_names(self, port: int) -> None:
        assert cause(decide_tunnel(HOST, port, policy(rule()))) is Cause.PORT

    @pytest.mark.parametrize("host", ["10.0.0.1", "2130706433", "::1", "a@b.example", "localhost"])
    def test_no_address_opens(self, host: str) -> None:
        assert cause(decide_tunnel(host, 443, policy(rule(host="*")))) is Cause.MALFORMED

    def test_a_held_host_opens_so_that_the_exact_request_is_known(self) -> None:
        assert cause(decide_tunnel(HOST, 443, policy(rule(mode=Mode.HOLD)))) is None

    def test_a_forbidden_or_unknown_host_opens_not_at_all(self) -> None:
        forbidden = policy(rule(mode=Mode.DENY))
        assert cause(decide_tunnel(HOST, 443, forbidden)) is Cause.RULE
        assert cause(decide_tunnel("b.example", 443, forbidden)) is Cause.HOST

    def test_an_opaque_one_is_decided_as_a_whole(self) -> None:
        opaque = rule("pinned", splice=True, max_bytes=9)
        assert decide_tunnel(HOST, 443, policy(rule(), opaque)) == Allow(
            HOST, "pinned", splice=True, max_bytes=9
        )
        hold, deny = rule("hold", mode=Mode.HOLD), rule("deny", mode=Mode.DENY, paths=("/x",))
        assert cause(decide_tunnel(HOST, 443, policy(opaque, hold))) is Cause.HELD
        assert cause(decide_tunnel(HOST, 443, policy(opaque, deny))) is Cause.RULE
        spent = Used(requests=1)
        limited = policy(opaque, limits=Limits(requests=1))
        assert cause(decide_tunnel(HOST, 443, limited, spent)) is Cause.BUDGET


RULES = st.builds(
    Rule,
    name=st.text("abcdef", min_size=8, max_size=8),
    host=st.sampled_from(["a.example", "*.b.example", "*.a.example", "b.example", "*"]),
    mode=st.sampled_from(Mode),
    methods=st.sampled_from([frozenset({"GET"}), frozenset({"GET", "POST"}), frozenset({"POST"})]),
    paths=st.sampled_from([("/**",), ("/x/**",), ("/x", "/y/*")]),
    ports=st.sampled_from([frozenset[int](), frozenset({80}), frozenset({443, 8443})]),
    schemes=st.sampled_from(
        [frozenset({"https"}), frozenset({"http"}), frozenset({"http", "https"})]
    ),
)
REQUESTS = st.builds(
    Request,
    method=st.sampled_from(["GET", "POST", "PUT"]),
    scheme=st.sampled_from(["http", "https"]),
    host=st.sampled_from(["a.example", "B.example.", "c.a.example", "d.c.b.example", "evil.test"]),
    port=st.sampled_from([80, 443, 8443, 22]),
    target=st.sampled_from(["/", "/x", "/x/1?q", "/y/2", "/z"]),
)


@given(st.lists(RULES, max_size=5, unique_by=lambda rule: rule.name), REQUESTS)
def test_a_decision_is_what_a_naive_reader_of_the_rules_says(
    rules: list[Rule], request: Request
) -> None:
    found = decide(request, policy(*rules))
    modes = {rule.mode for rule in rules if naively_covers(rule, request)}
    wanted = next((mode for mode in (Mode.DENY, Mode.HOLD, Mode.ALLOW) if mode in modes), Mode.DENY)
    assert found.word == wanted.value
    assert (found.reason == "") is isinstance(found, Allow)


def naively_covers(rule: Rule, request: Request) -> bool:
    name = request.host.lower().rstrip(".")
    base = rule.host.lstrip("*").lstrip(".")
    hosts = (
        name == base if "*" not in rule.host else ("." + name).endswith("." + base) and name != base
    )
    port = request.port in (rule.ports or ({"http": 80, "https": 443}[request.scheme],))
    path = request.target.split("?")[0]
    paths = {
        "/**": True,
        "/x/**": path.startswith("/x/"),
        "/x": path == "/x",
        "/y/*": path == "/y/2",
    }
    return (
        (hosts or rule.host == "*")
        and port
        and request.scheme in rule.schemes
        and request.method in rule.methods
        and any(paths[one] for one in rule.paths)
    )


def test_an_url_shows_a_port_that_isnt_the_schemes_own() -> None:
    assert Request.to("https://a.example:8443/x?y").url == "https://a.example:8443/x?y"
    assert Request.to("https://a.example:443").url == "https://a.example/"
