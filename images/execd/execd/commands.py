"""All commands: made from a request's body, found by id, forgotten in the end."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from execd.children import Children, identity
from execd.command import Command, Order
from execd.environment import expand_folder, parse_env_file
from execd.errors import Refused, invalid
from execd.files import read_small
from execd.log import CommandLog, LogLimits
from execd.output import LogSink, Outbox

MAX_RUNNING = 128
MAX_ENDED = 256  # remembered
MAX_LOG_BYTES = 256 << 20  # of ended commands
MAX_ENV_FILE = 64 * 1024
SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
FIELDS = {
    "command": str,
    "argv": list,
    "cwd": str,
    "background": bool,
    "timeout": int,
    "uid": int,
    "gid": int,
    "envs": dict,
}


class Commands:
    """Runs commands and remembers them."""

    def __init__(
        self, children: Children, environ: Mapping[str, str], log_folder: Path | None
    ) -> None:
        self._children = children
        self._environ = dict(environ)
        self._log_folder = log_folder
        self._limits = LogLimits()
        self._known: dict[str, Command] = {}

    def order(self, body: Any) -> Order:
        """Read a request's body.

        Raises: Refused 400 for what can't be meant, 403 for another user than execd may become.
        """
        asked = _checked(body)
        envs = asked.get("envs", {})
        if not all(isinstance(k, str) and isinstance(v, str) for k, v in envs.items()):
            raise invalid("envs must map strings to strings")
        if any("\0" in k + v or "=" in k or not k for k, v in envs.items()):
            raise invalid("a variable's name or value in envs is not possible")
        env = {**self._environ, **self._persisted(), **envs}
        timeout_ms = asked.get("timeout") or 0
        if timeout_ms < 0:
            raise invalid("timeout must not be negative")
        return Order(
            argv=_argv(asked),
            content=asked.get("command") or " ".join(asked["argv"]),
            env=env,
            cwd=_folder(asked.get("cwd"), env, self._environ.get("HOME", "/")),
            timeout_s=timeout_ms / 1000 or None,
            run_as=identity(asked.get("uid"), asked.get("gid")),
            background=bool(asked.get("background")),
        )

    def background(self, order: Order) -> Command:
        """Start a command whose output goes to its log."""
        log = CommandLog(self._log_folder, self._limits)
        return self._start(Command(order, LogSink(log), log))

    def foreground(self, order: Order) -> tuple[Command, Outbox]:
        """Start a command whose output somebody waits for."""
        outbox = Outbox()
        return self._start(Command(order, outbox, None)), outbox

    def get(self, command_id: str) -> Command:
        """Return a command. Raises: Refused 404."""
        command = self._known.get(command_id)
        if command is None:
            raise Refused(404, "COMMAND_NOT_FOUND", f"no command {command_id[:64]!r}")
        return command

    def _start(self, command: Command) -> Command:
        self._forget_oldest()
        if sum(known.running for known in self._known.values()) >= MAX_RUNNING:
            raise Refused(429, "TOO_MANY_COMMANDS", f"{MAX_RUNNING} commands are running")
        command.start(self._children)
        self._known[command.id] = command
        return command

    def _forget_oldest(self) -> None:
        ended = [command for command in self._known.values() if not command.running]
        log_bytes = sum(command.log.size for command in ended if command.log)
        while ended and (len(ended) >= MAX_ENDED or log_bytes > MAX_LOG_BYTES):
            oldest = ended.pop(0)
            del self._known[oldest.id]
            if oldest.log:
                log_bytes -= oldest.log.size
                oldest.log.close()

    def _persisted(self) -> dict[str, str]:
        path = self._environ.get("EXECD_ENVS")
        if not path:
            return {}
        try:
            return parse_env_file(read_small(path, MAX_ENV_FILE).decode("utf-8", "replace"))
        except (OSError, Refused):
            return {}


def _checked(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise invalid("the body must be a JSON object")
    asked = {name: body[name] for name in FIELDS if body.get(name) is not None}
    for name, value in asked.items():
        if not isinstance(value, FIELDS[name]) or (
            isinstance(value, bool) and name != "background"
        ):
            raise invalid(f"{name} must be of type {FIELDS[name].__name__}")
    for name in ("uid", "gid"):
        if not 0 <= asked.get(name, 0) < 2**32 - 1:
            raise invalid(f"{name} is out of range")
    return asked


def _argv(asked: Mapping[str, Any]) -> list[str]:
    text, argv = asked.get("command"), asked.get("argv")
    if (text is None) == (argv is None):
        raise invalid("give either command or argv")
    if text is not None:
        argv = [next(filter(os.path.exists, SHELLS), SHELLS[-1]), "-c", text]
        if not text.strip():
            raise invalid("command is empty")
    if (
        not argv
        or not all(isinstance(word, str) and "\0" not in word for word in argv)
        or not argv[0]
    ):
        raise invalid("argv must be strings without NUL, the first one not empty")
    return list(argv)


def _folder(cwd: str | None, env: Mapping[str, str], home: str) -> str | None:
    if not cwd:
        return None
    folder = expand_folder(cwd, env, home)
    if "\0" in folder or not os.path.isdir(folder):
        raise invalid(f"cwd {folder[:200]!r} is not a folder")
    return folder
