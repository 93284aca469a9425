"""What a person opens of tools: never what was forbidden, and nothing beside it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.decision import Allow
from entrance.mcp.policy import Call, decide, is_shown
from entrance.session import RunId, Session, TaskId
from entrance.tool_policy import ConnectionRules, Facts, Mode, Scope, ToolRule
from orchestrator.domain.opened import OpenedTool, WantedTool, trouble_asking, with_tools

OPEN = OpenedTool("wiki", "write", Mode.WRITE, "item1")
NAMED = {"write": ToolRule(Mode.FORBIDDEN)}


def session(rules: Mapping[str, ConnectionRules], **tools: frozenset[str]) -> Session:
    return Session(
        RunId("r"), TaskId("WEB/WEB-1"), "WEB", "bot-rex", "10.0.0.2", "0" * 64,
        tools=tools, tool_rules=rules,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "word", "rule"),
    [
        pytest.param(session({}), "allow", "approval/item1", id="a connection that wasn't granted"),
        pytest.param(
            session({}, wiki=frozenset({"read"})), "allow", "approval/item1", id="not in the list"
        ),
        pytest.param(
            session({"wiki": ConnectionRules(others=Mode.FORBIDDEN)}), "allow", "approval/item1",
            id="not named, and others are forbidden",
        ),
        pytest.param(
            session({"wiki": ConnectionRules()}), "allow", "approval/item1", id="nobody looked at it",
        ),
        pytest.param(
            session({"wiki": ConnectionRules(NAMED)}), "deny", "forbidden", id="forbidden by name"
        ),
        pytest.param(
            session({"wiki": ConnectionRules({"write": ToolRule(Mode.APPROVAL)})}),
            "hold", "needs_approval", id="named to be asked about",
        ),
        pytest.param(
            session({"wiki": ConnectionRules(scope=Scope(frozenset({"OTHER"})))}),
            "deny", "projects_out_of_scope", id="the scope stays",
        ),
    ],
)  # fmt: skip
def test_what_is_opened_is_what_nobody_had_spoken_of(before: Session, word: str, rule: str) -> None:
    call = Call("wiki", "write", {"project": "WEB"})
    ruled = decide(with_tools(before, [OPEN]), call)
    assert (ruled.decision.word, ruled.rule) == (word, rule)


def test_what_the_connection_says_comes_before() -> None:
    wider = with_tools(session({}), [OPEN])
    forbidden = Call("wiki", "write", {}, Facts(said=Mode.FORBIDDEN))
    held = Call("wiki", "write", {}, Facts(said=Mode.APPROVAL))
    assert decide(wider, forbidden).rule == "connection_forbids"
    assert decide(wider, held).rule == "connection_holds"


def test_what_is_granted_beside_it_stays_as_it_was() -> None:
    before = session({}, wiki=frozenset({"read"}), polarion=frozenset({"get_task"}))
    wider = with_tools(before, [OPEN])
    for connection, tool in (("wiki", "read"), ("polarion", "get_task"), ("wiki", "write")):
        assert is_shown(wider, connection, tool)
    assert not is_shown(wider, "wiki", "drop")
    assert not is_shown(wider, "polarion", "write")
    assert not is_shown(before, "wiki", "write")


_NAMES = st.sampled_from(["read", "write", "drop"])
_RULES = st.builds(
    ConnectionRules,
    st.dictionaries(_NAMES, st.builds(ToolRule, st.sampled_from(Mode))),
    st.sampled_from([Mode.APPROVAL, Mode.FORBIDDEN]),
)
_OPENED = st.lists(
    st.builds(
        OpenedTool,
        st.sampled_from(["wiki", "git"]),
        _NAMES,
        st.sampled_from([Mode.READ, Mode.WRITE, Mode.APPROVAL]),
        st.just("item1"),
    )
)


@given(st.dictionaries(st.just("wiki"), _RULES), _OPENED, _NAMES, st.sampled_from([None, *Mode]))
def test_nothing_is_allowed_that_was_neither_granted_nor_opened(
    rules: dict[str, ConnectionRules], opened: list[OpenedTool], tool: str, said: Mode | None
) -> None:
    before = session(rules)
    call = Call("wiki", tool, {}, Facts(said=said))
    after = decide(with_tools(before, opened), call)
    named = rules["wiki"].tools.get(tool) if "wiki" in rules else None
    if said is Mode.FORBIDDEN or (named and named.mode is Mode.FORBIDDEN):
        assert not isinstance(after.decision, Allow)
    if named or ("wiki", tool) not in {(one.connection, one.tool) for one in opened}:
        assert after.decision.word == decide(before, call).decision.word


def test_there_is_nothing_to_ask_about_what_the_engagement_has_named() -> None:
    mine = session({"wiki": ConnectionRules({**NAMED, "read": ToolRule(Mode.READ)})})
    assert "forbidden to you by your" in trouble_asking(mine, WantedTool("wiki", "write"))
    assert "is granted to you" in trouble_asking(mine, WantedTool("wiki", "read"))
    assert trouble_asking(mine, WantedTool("wiki", "other")) == ""
    assert trouble_asking(mine, WantedTool("git", "read")) == ""
