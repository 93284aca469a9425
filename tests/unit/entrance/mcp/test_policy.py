"""What becomes of a call: the table's rows, and no way from what was not granted to Allow."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from entrance.decision import Allow, Deny, Hold
from entrance.mcp.constraints import exactly
from entrance.mcp.policy import RULES, Call, decide, is_shown
from entrance.session import RunId, Session, TaskId
from entrance.tool_policy import (
    About,
    Change,
    ConnectionRules,
    Facts,
    Mode,
    Scope,
    StandingRule,
    ToolRule,
)

SHORT = json.dumps({"properties": {"n": {"maximum": 3}}, "required": ["n"]})


def session(
    rules: ConnectionRules | None = None, tools: dict[str, frozenset[str]] | None = None
) -> Session:
    return Session(
        RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "h",
        tools=tools or {}, tool_rules={"a": rules} if rules else {},
    )  # fmt: skip


OLD = session(tools={"a": frozenset({"read", "list"})})


def test_a_tool_of_a_plain_list_may_be_called() -> None:
    assert decide(OLD, Call("a", "read")).decision == Allow()


@pytest.mark.parametrize(
    ("connection", "tool", "said"),
    [
        pytest.param("b", "read", "no grant for the connection b", id="another connection"),
        pytest.param("a", "write", "its tools are: list, read", id="another tool"),
        pytest.param("a", "READ", "was not granted", id="another case"),
        pytest.param("", "", "no grant", id="nothing"),
    ],
)
def test_anything_else_than_a_plain_list_has_is_refused_with_a_reason(
    connection: str, tool: str, said: str
) -> None:
    ruled = decide(OLD, Call(connection, tool))
    assert isinstance(ruled.decision, Deny)
    assert said in ruled.decision.reason
    assert ruled.rule == "not_granted"


PROJECT = Scope(projects=frozenset({"P"}))
ALL = Scope(frozenset({"P"}), frozenset({"task"}), frozenset({"x/y"}), frozenset({"type:task"}))


@pytest.mark.parametrize(
    ("rule", "scope", "arguments", "facts", "expected"),
    [
        pytest.param(ToolRule(Mode.READ), Scope(), {}, Facts(), "read", id="a read is allowed"),
        pytest.param(
            ToolRule(), Scope(), {}, Facts(of_people=("P/1",)), "of_people",
            id="a write to a person's item is held",
        ),
        pytest.param(
            ToolRule(Mode.READ), Scope(), {}, Facts(of_people=("P/1",)), "read",
            id="a read of a person's item is not",
        ),
        pytest.param(ToolRule(Mode.FORBIDDEN), Scope(), {}, Facts(), "forbidden", id="forbidden"),
        pytest.param(ToolRule(Mode.APPROVAL), Scope(), {}, Facts(), "needs_approval", id="approval"),
        pytest.param(
            ToolRule(Mode.READ), Scope(), {}, Facts(changed=Change.UNSEEN), "tool_changed",
            id="a tool that has changed is held even to read",
        ),
        pytest.param(
            ToolRule(Mode.READ), Scope(), {}, Facts(changed=Change.DENIED), "change_denied",
            id="a tool that a person has denied as it is",
        ),
        pytest.param(ToolRule(arguments=SHORT), Scope(), {"n": 3}, Facts(), "write", id="within"),
        pytest.param(
            ToolRule(arguments=SHORT), Scope(), {"n": 4}, Facts(), "arguments_refused", id="beyond",
        ),
        pytest.param(
            ToolRule(arguments=SHORT, beyond="hold"), Scope(), {}, Facts(), "arguments_held",
            id="beyond, for a person",
        ),
        pytest.param(
            ToolRule(arguments='{"$ref":"http://x.example/"}'), Scope(), {}, Facts(),
            "arguments_refused", id="bounds that can't be used fit nothing",
        ),
        pytest.param(ToolRule(), PROJECT, {"id": "P/1"}, Facts(), "write", id="in its project"),
        pytest.param(
            ToolRule(), PROJECT, {"id": "Q/1"}, Facts(), "projects_out_of_scope", id="another's item",
        ),
        pytest.param(
            ToolRule(), PROJECT, {"deep": [{"projectId": ["P", "Q"]}]}, Facts(),
            "projects_out_of_scope", id="one of many projects, deep inside",
        ),
        pytest.param(ToolRule(), PROJECT, {"x": "P"}, Facts(), "scope_unclear", id="names none"),
        pytest.param(
            ToolRule(), PROJECT, {}, Facts(About(projects=frozenset({"P"}))), "write",
            id="its provider says which",
        ),
        pytest.param(
            ToolRule(), PROJECT, {"id": "P/1"}, Facts(About(projects=frozenset({"Q"}))),
            "projects_out_of_scope", id="its provider knows better than the names",
        ),
        pytest.param(
            ToolRule(), ALL, {"project": "P", "repo": "x/y", "type": "memory"}, Facts(),
            "types_out_of_scope", id="another type",
        ),
        pytest.param(
            ToolRule(), ALL, {"project": "P", "repo": "x/y", "query": "type:task OR id:1"}, Facts(),
            "queries_out_of_scope", id="a search that goes on",
        ),
        pytest.param(
            ToolRule(), ALL, {"project": "P", "repo": "x/z"}, Facts(),
            "repositories_out_of_scope", id="another repository",
        ),
    ],
)  # fmt: skip
def test_a_row_of_the_table_decides(
    rule: ToolRule, scope: Scope, arguments: dict[str, Any], facts: Facts, expected: str
) -> None:
    rules = ConnectionRules({"t": rule}, scope=scope)
    assert decide(session(rules), Call("a", "t", arguments, facts)).rule == expected


def test_a_tool_that_nobody_named_is_held_and_shown() -> None:
    mine = session(ConnectionRules({"t": ToolRule()}))
    ruled = decide(mine, Call("a", "new"))
    assert ruled.rule == "unnamed"
    assert ruled.decision == Hold("nobody has looked at new yet")
    assert is_shown(mine, "a", "new")


def test_the_others_can_be_forbidden() -> None:
    mine = session(ConnectionRules({"t": ToolRule()}, Mode.FORBIDDEN))
    assert decide(mine, Call("a", "new")).rule == "not_granted"
    assert not is_shown(mine, "a", "new")


STANDING = StandingRule("s1", "a", "t", json.dumps(exactly({"n": 1})))


def test_a_standing_rule_allows_what_would_be_held_and_nothing_beside() -> None:
    mine = session(ConnectionRules({"t": ToolRule(Mode.APPROVAL)}))
    assert decide(mine, Call("a", "t", {"n": 1}), [STANDING]).rule == "approval/s1"
    assert decide(mine, Call("a", "t", {"n": 1, "m": 2}), [STANDING]).rule == "needs_approval"
    assert decide(mine, Call("a", "u", {"n": 1}), [STANDING]).rule == "unnamed"


def test_a_standing_rule_opens_nothing_that_is_refused_or_has_changed() -> None:
    forbidden = session(ConnectionRules({"t": ToolRule(Mode.FORBIDDEN)}))
    assert decide(forbidden, Call("a", "t", {"n": 1}), [STANDING]).rule == "forbidden"
    assert decide(session(), Call("a", "t", {"n": 1}), [STANDING]).rule == "not_granted"
    changed = Call("a", "t", {"n": 1}, Facts(changed=Change.UNSEEN))
    assert decide(session(ConnectionRules()), changed, [STANDING]).rule == "tool_changed"


def test_the_names_of_the_rules_are_their_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


NAMES = st.sampled_from(["t", "u", "v"])
SETS = st.none() | st.frozensets(st.sampled_from(["P", "Q"]))
SCHEMAS = st.sampled_from(["", SHORT, "false", "true", "{", '{"const":{"n":1}}'])
TOOL_RULES = st.builds(
    ToolRule, st.sampled_from(Mode), SCHEMAS, st.sampled_from(["deny", "hold"]), st.booleans()
)
CONNECTION = st.builds(
    ConnectionRules,
    st.dictionaries(NAMES, TOOL_RULES),
    st.sampled_from([Mode.APPROVAL, Mode.FORBIDDEN]),
    st.builds(Scope, SETS, SETS, SETS, SETS),
)
ABOUT = st.builds(About, *[st.frozensets(st.sampled_from(["P", "Q"]))] * 4)
FACTS = st.builds(
    Facts,
    st.none() | ABOUT,
    st.sampled_from(Change),
    st.sampled_from([(), ("P/1",)]),
    st.none() | st.sampled_from(Mode),
)
ARGUMENTS = st.fixed_dictionaries({}, optional={"n": st.integers(0, 5), "x": st.text(max_size=3)})
CALLS = st.builds(Call, st.sampled_from(["a", "b", "c"]), NAMES, ARGUMENTS, FACTS)
RULE = st.builds(
    StandingRule, st.just("s"), st.sampled_from(["a", "b"]), NAMES, SCHEMAS.filter(bool)
)


def fits(schema: str, arguments: Any) -> bool:
    """What the few schemas of this test mean, without the engine."""
    n = arguments.get("n")
    known: dict[str, bool] = {
        "": True,
        "true": True,
        "false": False,
        "{": False,
        SHORT: n is not None and n <= 3,
        '{"const":{"n":1}}': arguments == {"n": 1},
    }
    return known[schema]


def oracle(mine: Session, call: Call, standing: list[StandingRule]) -> str:  # noqa: C901, PLR0911, PLR0912
    """The same by plain ifs, from what the words of the reference say."""
    if call.connection in mine.tool_rules:
        rules = mine.tool_rules[call.connection]
        named, others, scope = rules.tools.get(call.tool), rules.others, rules.scope
    elif call.tool in mine.tools.get(call.connection, ()):
        named, others, scope = ToolRule(), Mode.FORBIDDEN, Scope()
    else:
        return "deny"
    if (named.mode if named else others) == "forbidden" or call.facts.said == "forbidden":
        return "deny"
    about = call.facts.about or About()
    for name in ("projects", "types", "repositories", "queries"):
        bound = getattr(scope, name)
        if bound is not None and getattr(about, name) - bound:
            return "deny"
    fit = fits(named.arguments, call.arguments) if named else True
    if named and not fit and named.beyond == "deny":
        return "deny"
    if call.facts.changed:
        return "deny" if call.facts.changed == "denied" else "hold"
    for one in standing:
        if one.connection == call.connection and one.tool == call.tool:  # noqa: SIM102
            if fits(one.arguments, call.arguments):
                return "allow"
    if named is None or named.mode == "approval" or not fit or call.facts.said == "approval":
        return "hold"
    for name in ("projects", "repositories"):
        if getattr(scope, name) is not None and call.facts.about is None:
            return "hold"  # the arguments of this test name nothing
    if named.mode == "write" and call.facts.of_people:
        return "hold"
    return "allow"


@given(
    st.dictionaries(st.sampled_from(["a", "b"]), CONNECTION),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.frozensets(NAMES)),
    CALLS,
    st.lists(RULE, max_size=3),
)
@example({}, {}, Call("a", "t"), [STANDING])
def test_it_decides_as_a_naive_reading_does(
    rules: dict[str, ConnectionRules],
    tools: dict[str, frozenset[str]],
    call: Call,
    standing: list[StandingRule],
) -> None:
    mine = Session(
        RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "h", tools=tools, tool_rules=rules
    )
    ruled = decide(mine, call, standing)
    assert ruled.decision.word == oracle(mine, call, standing)
    assert ruled.rule in {"approval/s", *(rule.name for rule in RULES)} - {"standing"}


@given(CALLS, st.lists(RULE, max_size=3))
def test_nothing_leads_from_not_granted_to_allow(call: Call, standing: list[StandingRule]) -> None:
    for mine in (session(), session(tools={"c": frozenset()}), session(ConnectionRules())):
        ruled = decide(mine, call, standing)
        if isinstance(ruled.decision, Allow):
            assert call.connection == "a", (
                "the connection is granted, and a person's rule is for it"
            )
            assert ruled.rule == "approval/s"
