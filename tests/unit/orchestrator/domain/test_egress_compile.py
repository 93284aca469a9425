"""What a run may reach, put together from what everybody says of it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.domain.egress import Ceiling, Ground, Policy
from orchestrator.domain.egress_compile import Compiled, Known, Layer, compile_policy, in_words
from orchestrator.domain.presets import Registry, place_of, shipped_presets
from proxy.hosts import canonical_host, canonical_pattern, host_matches
from proxy.policy import Allow, Deny, Hold, Limits, Mode, Request, Rule, decide
from tests.fakes.egress import answer as answered
from tests.fakes.egress import sandbox

PRESETS = shipped_presets()
KNOWN = Known(PRESETS, {})
OPEN = Ground()
A = Rule(name="a", host="a.corp.example")
POST = Rule(name="post", host="a.corp.example", methods=frozenset({"POST"}))


def compiled(
    ground: Ground = OPEN,
    *rules: Rule,
    approved: Sequence[Rule] = (),
    known: Known = KNOWN,
    presets: tuple[str, ...] = (),
) -> Compiled:
    return compile_policy(ground, [Layer("engagement", Policy(presets, rules))], approved, known)


def answer(policy: Compiled, url: str, method: str = "GET") -> str:
    return answered(policy.rules, url, method)


def ground(*rules: Rule, ceiling: Ceiling | None = None) -> Ground:
    return Ground(Policy(rules=rules), ceiling or Ceiling())


def deny(host: str, **more: object) -> Rule:
    every = frozenset({"GET", "HEAD", "POST"})
    rule = Rule(
        name="no", host=host, mode=Mode.DENY, methods=every, schemes=frozenset({"http", "https"})
    )
    return replace(rule, **more)  # type: ignore[arg-type] # a test's own shorthand


def test_nothing_said_is_nothing_allowed() -> None:
    assert compile_policy(OPEN, [], [], KNOWN) == Compiled()
    assert answer(compiled(), "https://a.corp.example/") == "deny"


def test_rules_are_named_after_who_gave_them() -> None:
    policy = compile_policy(
        ground(A),
        [Layer("agent", Policy(rules=(A,))), Layer("engagement", Policy(rules=(A,)))],
        [],
        KNOWN,
    )
    assert [rule.name for rule in policy.rules] == ["installation/a", "agent/a", "engagement/a"]


@pytest.mark.parametrize(
    "opened", [A, Rule(name="all", host="*"), Rule(name="sub", host="*.corp.example")]
)
def test_an_engagement_can_not_open_what_the_installation_forbids(opened: Rule) -> None:
    policy = compiled(ground(deny("a.corp.example")), opened)
    assert answer(policy, "https://a.corp.example/") == "deny"


def test_nor_by_another_port_scheme_or_closed_tls() -> None:
    ceiling = Ceiling(ports=frozenset(), splice=True)
    odd = Rule(name="odd", host="a.corp.example", ports=frozenset({8443}))
    assert answer(compiled(ground(ceiling=ceiling), odd), "https://a.corp.example:8443/") == "allow"
    assert (
        answer(
            compiled(ground(deny("a.corp.example"), ceiling=ceiling), odd),
            "https://a.corp.example:8443/",
        )
        == "deny"
    )
    plain = Rule(name="plain", host="a.corp.example", schemes=frozenset({"http"}))
    assert (
        answer(compiled(ground(deny("a.corp.example")), plain), "http://a.corp.example/") == "deny"
    )
    blind = replace(A, splice=True)
    policy = compiled(ground(deny("a.corp.example", paths=("/secret/**",)), ceiling=ceiling), blind)
    assert not any(rule.splice for rule in policy.rules)
    assert "engagement/a" in policy.left_out[0]


def test_deny_beats_hold_and_hold_beats_allow_whoever_says_it() -> None:
    hold = replace(deny("a.corp.example"), mode=Mode.HOLD)
    assert answer(compiled(ground(A), hold), "https://a.corp.example/") == "hold"
    assert answer(compiled(ground(hold), A), "https://a.corp.example/") == "hold"
    assert (
        answer(compiled(ground(hold), A, deny("*.corp.example")), "https://a.corp.example/")
        == "deny"
    )


def test_what_a_person_approved_is_not_held_again_but_stays_forbidden_if_it_is() -> None:
    hold = replace(deny("*"), mode=Mode.HOLD)
    approved = replace(A, name="approval/x", approval="x")
    assert answer(compiled(ground(hold), approved=[approved]), "https://a.corp.example/") == "allow"
    assert (
        answer(compiled(ground(deny("*")), approved=[approved]), "https://a.corp.example/")
        == "deny"
    )


@pytest.mark.parametrize(
    ("ceiling", "rule"),
    [
        (Ceiling(hosts=("*.corp.example",)), replace(A, host="other.test")),
        (Ceiling(hosts=("*.corp.example",)), Rule(name="all", host="*")),
        (Ceiling(hosts=("*.corp.example",)), Rule(name="itself", host="corp.example")),
        (Ceiling(hosts=("a.corp.example",)), Rule(name="wide", host="*.a.corp.example")),
        (Ceiling(methods=frozenset({"GET", "HEAD"})), POST),
        (Ceiling(), Rule(name="odd", host="a.corp.example", ports=frozenset({8443}))),
        (Ceiling(), replace(A, splice=True)),
        (Ceiling(ports=frozenset({443})), replace(A, schemes=frozenset({"http"}))),
    ],
)
def test_above_the_ceiling_nothing_is_opened_and_that_is_said(ceiling: Ceiling, rule: Rule) -> None:
    for policy in (
        compiled(ground(ceiling=ceiling), rule),
        compiled(ground(ceiling=ceiling), approved=[rule]),
    ):
        assert policy.rules == ()
        assert rule.name in policy.left_out[0]
        assert "ceiling" in policy.left_out[0]


def test_what_is_partly_under_the_ceiling_is_opened_that_far() -> None:
    both = Rule(
        name="b",
        host="x.corp.example",
        methods=frozenset({"GET", "POST"}),
        upgrade=True,
        networks=("10.0.0.0/8",),
    )
    above = Ceiling(hosts=("*.corp.example",), methods=frozenset({"GET"}))
    (rule,) = compiled(ground(ceiling=above), both).rules
    assert rule.methods == {"GET"}
    assert not rule.upgrade
    assert not rule.networks


@pytest.mark.parametrize("mode", [Mode.HOLD, Mode.DENY])
def test_what_forbids_or_holds_is_not_narrowed_by_a_ceiling(mode: Mode) -> None:
    """The installation's own rules may go beyond its ceiling, and an engagement may still say no."""
    above = Ceiling(hosts=("other.test",), methods=frozenset({"GET"}), ports=frozenset({80}))
    policy = compiled(ground(A, POST, ceiling=above), replace(deny("a.corp.example"), mode=mode))
    assert answer(policy, "https://a.corp.example/") == mode
    assert answer(policy, "https://a.corp.example/", "POST") == mode
    assert not policy.left_out


def test_only_the_installation_opens_addresses_that_are_not_public() -> None:
    own = replace(A, networks=("10.0.0.0/8",))
    assert compiled(ground(own)).rules[0].networks == ("10.0.0.0/8",)
    assert compiled(ground(), own).rules[0].networks == ()
    assert compiled(ground(), approved=[own]).rules[0].networks == ()
    wider = replace(A, host="*.corp.example", networks=("192.168.0.0/16",))
    (_, a), (_, b) = compiled(ground(own), A).rules, compiled(ground(own), wider).rules
    assert (a.networks, b.networks) == (("10.0.0.0/8",), ())


def test_a_registry_on_a_private_address_is_dialled_there_whoever_opens_it() -> None:
    place = replace(place_of("https://mirror.corp.example/simple"), networks=("10.4.0.9",))
    known = Known(PRESETS, {"python": Registry("https://mirror.corp.example/simple", (place,))})
    mirror = replace(A, host="mirror.corp.example")
    assert compiled(OPEN, mirror, known=known).rules[0].networks == ("10.4.0.9",)
    assert compiled(OPEN, approved=[mirror], known=known).rules[0].networks == ("10.4.0.9",)
    assert compiled(OPEN, A, known=known).rules[0].networks == ()


def test_the_tightest_limit_counts() -> None:
    layers = [
        Layer("agent", Policy(limits=Limits(requests=10, bytes=500))),
        Layer("engagement", Policy(limits=Limits(bytes=100))),
    ]
    policy = compile_policy(Ground(Policy(limits=Limits(requests=50))), layers, [], KNOWN)
    assert policy.limits == Limits(requests=10, bytes=100)


def test_a_preset_without_its_registry_opens_nothing_and_says_why() -> None:
    policy = compiled(OPEN, presets=("pypi", "nonsense"))
    assert policy.rules == ()
    assert "pypi is not available here" in policy.left_out[0]
    assert "no preset nonsense" in policy.left_out[1]


def test_a_preset_opens_what_was_found_on_the_machine_and_nothing_beside_it() -> None:
    registry = Registry(
        "https://mirror.example:8443/py/simple",
        (place_of("https://mirror.example:8443/py/simple"),),
        (place_of("https://files.example/packages"),),
    )
    policy = compiled(OPEN, known=Known(PRESETS, {"python": registry}), presets=("pypi",))
    assert answer(policy, "https://mirror.example:8443/py/simple/thing/") == "allow"
    assert answer(policy, "https://files.example/packages/a/b.whl") == "allow"
    assert answer(policy, "https://mirror.example:8443/other/") == "deny"
    assert answer(policy, "https://mirror.example/py/simple/thing/") == "deny"
    assert answer(policy, "https://files.example/other") == "deny"
    assert answer(policy, "https://files.example/packages/a", "POST") == "deny"


def test_an_agent_is_told_what_is_open_and_what_is_held_in_a_line_each() -> None:
    hold = replace(deny("b.corp.example"), mode=Mode.HOLD)
    narrow = Rule(name="n", host="c.corp.example", paths=("/x/**",), ports=frozenset({8443}))
    policy = compiled(ground(ceiling=Ceiling(ports=frozenset())), A, POST, hold, narrow, deny("*"))
    assert in_words(policy) == (
        "GET, HEAD https://a.corp.example",
        "POST https://a.corp.example",
        "GET, HEAD, POST http/https://b.corp.example:8443; a person decides about each request",
        "GET, HEAD https://c.corp.example:8443 (only /x/**)",
    )
    assert in_words(Compiled()) == ()
    many = compiled(OPEN, *(Rule(name=f"r{n}", host=f"h{n}.example") for n in range(70)))
    assert in_words(many)[-1] == "and 10 more"


HOSTS = (
    "a.corp.example",
    "b.a.corp.example",
    "*.a.corp.example",
    "*.corp.example",
    "other.test",
    "*",
)
rules = st.builds(
    Rule,
    name=st.sampled_from("rstuv"),
    host=st.sampled_from(HOSTS),
    mode=st.sampled_from(Mode),
    methods=st.frozensets(st.sampled_from(("GET", "HEAD", "POST")), min_size=1),
    paths=st.lists(st.sampled_from(("/**", "/x/**", "/x/y")), min_size=1, max_size=2).map(tuple),
    ports=st.frozensets(st.sampled_from((80, 443, 8443)), max_size=2),
    schemes=st.frozensets(st.sampled_from(("http", "https")), min_size=1),
)
requests = st.builds(
    Request,
    method=st.sampled_from(("GET", "POST", "DELETE")),
    scheme=st.sampled_from(("http", "https")),
    host=st.sampled_from(("a.corp.example", "b.a.corp.example", "xa.corp.example", "other.test")),
    port=st.sampled_from((80, 443, 8443)),
    target=st.sampled_from(("/", "/x/y", "/x/../y", "/x%2fy")),
)
policies = st.lists(rules, max_size=4).map(lambda some: Policy(rules=tuple(some)))
ceilings = st.builds(
    Ceiling,
    hosts=st.lists(st.sampled_from(HOSTS), max_size=2).map(tuple),
    methods=st.frozensets(st.sampled_from(("GET", "HEAD")), max_size=2),
    ports=st.frozensets(st.sampled_from((80, 443)), max_size=2),
)


def unique(rules: Iterable[Rule]) -> list[Rule]:
    return [replace(rule, name=f"{number}") for number, rule in enumerate(rules)]


def _alone(rule: Rule, request: Request) -> bool:
    return isinstance(decide(request, sandbox([rule])), Allow)


@settings(max_examples=60)
@given(st.tuples(policies, policies, policies), ceilings, st.lists(rules, max_size=2), requests)
def test_nothing_that_nobody_opened_is_ever_allowed(
    said: tuple[Policy, Policy, Policy], ceiling: Ceiling, approved: list[Rule], request: Request
) -> None:
    """What is allowed was opened by a rule, under the ceiling, and forbidden by none of them all."""
    own, agent, hired = said
    people = [replace(one, approval="p", mode=Mode.ALLOW) for one in approved]
    policy = compile_policy(
        Ground(own, ceiling), [Layer("agent", agent), Layer("engagement", hired)], people, KNOWN
    )
    decision = decide(request, sandbox(policy.rules))
    given_rules = (*own.rules, *agent.rules, *hired.rules)
    if isinstance(decision, Allow):
        below = [r for r in (*agent.rules, *hired.rules, *people) if _alone(r, request)]
        assert any(_alone(r, request) for r in own.rules) or below
        if not any(_alone(r, request) for r in own.rules):
            assert not ceiling.methods or request.method in ceiling.methods
            assert not ceiling.ports or request.port in ceiling.ports
            host = canonical_host(request.host)
            above = [canonical_pattern(one) for one in ceiling.hosts]
            assert not above or any(host_matches(one, host) for one in above)
    denying = sandbox(unique(r for r in given_rules if r.mode is Mode.DENY))
    forbidden = decide(request, denying)
    if isinstance(forbidden, Deny) and forbidden.rule:
        assert isinstance(decision, Deny)


@settings(max_examples=60)
@given(policies, policies, requests)
def test_what_is_held_stays_held_unless_it_is_forbidden_or_approved(
    own: Policy, hired: Policy, request: Request
) -> None:
    holding = sandbox(unique(r for r in (*own.rules, *hired.rules) if r.mode is Mode.HOLD))
    policy = compile_policy(Ground(own), [Layer("engagement", hired)], [], KNOWN)
    if isinstance(decide(request, holding), Hold):
        assert not isinstance(decide(request, sandbox(policy.rules)), Allow)
