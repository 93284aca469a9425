"""Which tools a session may call: those that were granted by name."""

import pytest

from entrance.decision import Allow, Deny
from entrance.mcp.policy import decide
from entrance.session import RunId, Session, TaskId

SESSION = Session(
    RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "h", tools={"a": frozenset({"read", "list"})}
)


def test_a_granted_tool_may_be_called() -> None:
    assert decide(SESSION, "a", "read") == Allow()


@pytest.mark.parametrize(
    ("connection", "tool", "said"),
    [
        pytest.param("b", "read", "no grant for the connection b", id="another connection"),
        pytest.param("a", "write", "its tools are: list, read", id="another tool"),
        pytest.param("a", "READ", "was not granted", id="another case"),
        pytest.param("", "", "no grant", id="nothing"),
    ],
)
def test_anything_else_is_refused_with_a_reason(connection: str, tool: str, said: str) -> None:
    decision = decide(SESSION, connection, tool)
    assert isinstance(decision, Deny)
    assert said in decision.reason
