"""What a command inherits: the persisted variables (EXECD_ENVS), and its folder's name expanded."""

import re
from collections.abc import Mapping

from execd.errors import invalid

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def parse_env_file(text: str) -> dict[str, str]:
    """Read the file that the SDK's `set_env` appends to; later lines win, odd lines are skipped.

    `K=v`, `K='v'` (literal) and `K="v"` (with \\n \\r \\t \\" \\\\). Nothing is expanded: a value
    is what was set.
    """
    variables: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name = name.strip()
        if equals and _NAME.fullmatch(name) and "\0" not in value:
            variables[name] = _unquoted(value.strip())
    return variables


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1]
    if len(value) > 1 and value[0] == value[-1] == '"':
        return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), value[1:-1])
    return value


def expand_folder(cwd: str, env: Mapping[str, str], home: str) -> str:
    """Expand a leading `~`, `$NAME` and `${NAME}` in a working directory.

    Raises: Refused 400 for a variable that is not set.
    """
    if cwd == "~" or cwd.startswith("~/"):
        cwd = home + cwd[1:]

    def value_of(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in env:
            raise invalid(f"cwd names ${name}, which is not set")
        return env[name]

    return _VARIABLE.sub(value_of, cwd)
