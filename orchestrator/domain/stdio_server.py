"""An MCP server that is run over stdio, as people write it down [pure].

What it may not do is said at once, and not when it is first used.
"""

import re
import shlex
from collections.abc import Mapping

from entrance.ports import Stdio
from entrance.session import Backend
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.egress_text import policy_of
from proxy.policy import Mode

LONGEST = 4096
"""Characters of a command, and of a variable's value."""
MOST_VARIABLES = 64
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_OURS = re.compile(r"OPENSANDBOX_.*|EXECD_.*|LD_.*|.*_PROXY|NODE_USE_ENV_PROXY", re.IGNORECASE)
"""Variables by which a sandbox is held together, or led to the egress proxy."""
BACKEND_URL, BACKEND_TOKEN = "${BACKEND_URL}", "${BACKEND_TOKEN}"
"""What stands in variables for the door's address of the backend, and for what opens it there."""
_BACKEND = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+(/[A-Za-z0-9._~/-]*)?")


def stdio_of(
    command: str, environment: str, egress: str, item: str, backend: Backend | None = None
) -> Stdio | Unreadable:
    """How the server of `item` is run, or why that can't be said."""
    argv = _argv(command)
    if isinstance(argv, str):
        return Unreadable(f"command of {item}: {argv}")
    env = _env(environment)
    if isinstance(env, str):
        return Unreadable(f"environment of {item}: {env}")
    flaw = _backend_flaw(env, backend)
    if flaw:
        return Unreadable(f"{item}: {flaw}")
    policy = server_policy_of(egress, item)
    return policy if isinstance(policy, Unreadable) else Stdio(argv, env, egress, backend)


def told(env: Mapping[str, str], url: str, token: str) -> Mapping[str, str]:
    """A server's variables, with where its backend is for it, and by what it is opened there."""
    return {
        name: value.replace(BACKEND_URL, url).replace(BACKEND_TOKEN, token)
        for name, value in env.items()
    }


def server_policy_of(text: str, item: str) -> Policy | Unreadable:
    """What a server may reach. Nobody is there to be asked for it, so nothing of it can be held."""
    policy = policy_of(text, f"egress of {item}")
    if isinstance(policy, Policy) and any(rule.mode is Mode.HOLD for rule in policy.rules):
        return Unreadable(f"egress of {item}: a server's rules allow or deny; none can hold")
    return policy


def _backend_flaw(env: Mapping[str, str], backend: Backend | None) -> str:
    """Why a server can't work with its backend so; empty when it can, or has none."""
    asked = [
        word
        for word in (BACKEND_URL, BACKEND_TOKEN)
        if any(word in value for value in env.values())
    ]
    if backend is None:
        return f"{asked[0]} needs a URL and a secret" if asked else ""
    if not backend.url or not backend.secret:
        return (
            "a server over stdio has both, the URL of its backend and a secret for it, or neither"
        )
    if not _BACKEND.fullmatch(backend.url):
        return "its URL is none of a backend: http or https, a host, and a path if need be"
    if len(asked) < 2:  # noqa: PLR2004 - both
        return f"it isn't told how to reach its backend: set variables to {BACKEND_URL} and {BACKEND_TOKEN}"
    return ""


def _argv(command: str) -> tuple[str, ...] | str:
    if len(command) > LONGEST or "\0" in command:
        return f"it is longer than {LONGEST} characters, or has a NUL in it"
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        return f"it can't be read: {error}"
    return argv if argv and argv[0] else "it names no program"


def _env(text: str) -> Mapping[str, str] | str:
    found: dict[str, str] = {}
    lines = [line.strip() for line in text.splitlines()]
    for line in filter(None, lines):
        name, equals, value = line.partition("=")
        if not equals or not _NAME.fullmatch(name):
            return f"{line[:40]!r} is no NAME=value"
        if _OURS.fullmatch(name):
            return f"{name} is set by Sandgate"
        if name in found or len(value) > LONGEST or "\0" in value:
            return f"{name} is there twice, or its value can't be one"
        found[name] = value
    return found if len(found) <= MOST_VARIABLES else f"it has more than {MOST_VARIABLES} variables"
