"""`docs/reference/cli.md`, from the command line itself and the table of its exit codes [pure]."""

from collections.abc import Iterator
from typing import Any

import typer.main

from orchestrator.cli.codes import MEANINGS
from orchestrator.cli.main import app
from orchestrator.cli.reference.markdown import code, fence, page, table

INTRO = """\
`sandgate` speaks to one installation:
the one at `SANDGATE_HOME`, or `.sandgate/` in the folder that it is run in.
Whatever fails ends with one sentence on stderr and an [exit code](#exit-codes).
`--json` prints JSON on stdout, for programs; `--help` works everywhere."""
UNSET = (None, False, "", ())


def commands() -> str:
    """The page."""
    root = typer.main.get_command(app)
    return page(
        "The `sandgate` command",
        INTRO,
        *(part for path, command in _leaves("sandgate", root) for part in _told(path, command)),
        "## Exit codes",
        table(("code", "meaning"), ((int(one), words) for one, words in MEANINGS.items())),
    )


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, one in below.items():
        yield from _leaves(f"{path} {name}", one)


def _told(path: str, command: Any) -> Iterator[str]:
    shown = [one for one in command.params if one.name != "help"]
    arguments = [one for one in shown if one.param_type_name == "argument"]
    options = [one for one in shown if one.param_type_name == "option"]
    yield f"## {path}"
    yield str(command.help or "")
    yield fence("", " ".join([path, *(_usage(one) for one in (*arguments, *options))]))
    yield table(("argument", "meaning"), ((code(_word(one)), one.help or "") for one in arguments))
    yield table(
        ("option", "default", "meaning"),
        ((code(_flag(one)), _default(one), one.help or "") for one in options),
    )


def _usage(one: Any) -> str:
    text = _word(one) if one.param_type_name == "argument" else _flag(one)
    many = "..." if one.multiple else ""
    return f"{text}{many}" if one.required else f"[{text}]{many}"


def _word(one: Any) -> str:
    return str(one.name).upper()


def _flag(one: Any) -> str:
    name = str(max(one.opts, key=len))
    if one.is_flag:
        return name
    return f"{name} {one.metavar or name.rpartition('-')[2].upper()}"


def _default(one: Any) -> str:
    if one.required:
        return "required"
    return "" if one.default in UNSET else code(one.default)
