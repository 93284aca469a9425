"""How an MCP server is written down that is run over stdio."""

import pytest

from entrance.ports import Stdio
from entrance.session import Backend
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.stdio_server import server_policy_of, stdio_of, told


def test_a_command_is_quoted_as_in_a_shell_and_run_by_none() -> None:
    found = stdio_of("uvx 'a b' $(id) ; echo", "", "", "AGENTS/A-1")
    assert found == Stdio(("uvx", "a b", "$(id)", ";", "echo"))


def test_variables_stand_one_a_line() -> None:
    found = stdio_of("run", "A=1\n\n  B_2 = x=y \n", "", "AGENTS/A-1")
    assert isinstance(found, Unreadable)
    found = stdio_of("run", "A=1\n\n  B_2=x=y \nC=\n", "", "AGENTS/A-1")
    assert found == Stdio(("run",), {"A": "1", "B_2": "x=y", "C": ""})


@pytest.mark.parametrize(
    ("command", "environment", "egress", "why"),
    [
        pytest.param("", "", "", "names no program", id="no command"),
        pytest.param("'' a", "", "", "names no program", id="an empty program"),
        pytest.param("run 'a", "", "", "can't be read", id="a quote that isn't closed"),
        pytest.param("a" * 5000, "", "", "longer than", id="an endless command"),
        pytest.param("run", "1A=x", "", "no NAME=value", id="an odd name"),
        pytest.param("run", "A", "", "no NAME=value", id="no value"),
        pytest.param("run", "A=1\nA=2", "", "there twice", id="a name twice"),
        pytest.param("run", "LD_PRELOAD=/x", "", "set by Sandgate", id="the loader's"),
        pytest.param("run", "EXECD_ENVS=/x", "", "set by Sandgate", id="execd's"),
        pytest.param("run", "https_proxy=http://a", "", "set by Sandgate", id="the proxy's"),
        pytest.param("run", "", "presets: npm", "egress of A-1, line 1", id="an odd policy"),
        pytest.param(
            "run", "", "rules: [{host: a.example, mode: hold}]", "none can hold", id="a hold"
        ),
        pytest.param("run", "\n".join(f"A{n}=1" for n in range(65)), "", "more than 64", id="many"),
    ],
)
def test_what_can_not_be_is_said(command: str, environment: str, egress: str, why: str) -> None:
    found = stdio_of(command, environment, egress, "A-1")
    assert isinstance(found, Unreadable)
    assert why in found.reason


BACKEND = Backend("https://alm.example/polarion", "alm-token")
BOTH = "URL=${BACKEND_URL}/rest\nTOKEN=${BACKEND_TOKEN}"


def test_a_server_is_told_the_way_to_its_backend_and_never_its_secret() -> None:
    found = stdio_of("run", f"{BOTH}\nA=$HOME", "", "A-1", BACKEND)
    assert isinstance(found, Stdio)
    assert found.backend == BACKEND
    assert told(found.env, "http://10.0.0.1:8080/backend", "its-own") == {
        "URL": "http://10.0.0.1:8080/backend/rest",
        "TOKEN": "its-own",
        "A": "$HOME",
    }


@pytest.mark.parametrize(
    ("environment", "backend", "why"),
    [
        pytest.param(BOTH, None, "needs a URL and a secret", id="no backend"),
        pytest.param(BOTH, Backend("", "alm-token"), "both", id="no URL"),
        pytest.param(BOTH, Backend(BACKEND.url, ""), "both", id="no secret"),
        pytest.param(BOTH, Backend("file:///etc", "s"), "none of a backend", id="another scheme"),
        pytest.param(BOTH, Backend("https://a@b.example", "s"), "none of", id="a user"),
        pytest.param(BOTH, Backend("https://b.example/x?y", "s"), "none of", id="a query"),
        pytest.param("A=${BACKEND_URL}", BACKEND, "isn't told", id="without what opens it"),
        pytest.param("", BACKEND, "isn't told", id="told of nothing"),
    ],
)
def test_a_backend_that_can_not_work_is_said(
    environment: str, backend: Backend | None, why: str
) -> None:
    found = stdio_of("run", environment, "", "A-1", backend)
    assert isinstance(found, Unreadable)
    assert why in found.reason


def test_the_policy_is_the_one_that_agents_have() -> None:
    policy = server_policy_of("presets: [npm]\nrules: [{host: a.example, mode: deny}]", "A-1")
    assert isinstance(policy, Policy)
    assert policy.presets == ("npm",)
