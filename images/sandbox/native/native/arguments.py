"""What the loop is started with: a command line, and two names in the environment."""

import argparse
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from native import context
from native.dialects import MODULES
from native.door import SILENCE_S

DEFAULT_MAX_TOKENS = 16_000
DEFAULT_MAX_TURNS = 300


class NotStarted(Exception):
    """Something that the loop needs is missing. The message says what."""


@dataclass(frozen=True)
class Arguments:
    """Everything from outside. `model` is `provider:model`, `dialect` what the provider speaks."""

    model: str
    dialect: str
    system: str
    prompt: str
    workdir: Path
    home: Path
    entrance: str
    token: str = field(repr=False)
    resume: str = ""
    max_tokens: int = DEFAULT_MAX_TOKENS
    max_turns: int = DEFAULT_MAX_TURNS
    context_tokens: int = context.DEFAULT_WINDOW_TOKENS
    silence_s: float = SILENCE_S


def parse(argv: list[str] | None) -> Arguments:
    """Read command line, environment and the two files.

    Raises:
        NotStarted: a file, the folder or a variable is missing.
        SystemExit: the command line is wrong.
    """
    parser = argparse.ArgumentParser("native", description="Sandgate's own agent loop.")
    parser.add_argument("--model", required=True, metavar="PROVIDER:MODEL")
    parser.add_argument("--dialect", choices=[*MODULES], help="default: the provider's own")
    parser.add_argument("--system-file", type=Path, required=True)
    parser.add_argument("--prompt-file", type=Path, required=True)
    parser.add_argument("--workdir", type=Path, required=True)
    parser.add_argument("--resume", default="", metavar="ID", help="a conversation to go on with")
    parser.add_argument("--max-tokens", type=int, default=DEFAULT_MAX_TOKENS, help="of one answer")
    parser.add_argument("--max-turns", type=int, default=DEFAULT_MAX_TURNS)
    parser.add_argument(
        "--context-tokens",
        type=int,
        default=context.DEFAULT_WINDOW_TOKENS,
        help="the model's window",
    )
    parser.add_argument("--silence-s", type=float, default=SILENCE_S, help="longest, of the model")
    given = parser.parse_args(argv)
    if not given.workdir.is_dir():
        raise NotStarted(f"the working directory {given.workdir} does not exist")
    if not re.fullmatch(r"[^:/]+:.+", given.model):
        raise NotStarted(f"--model {given.model}: it must be provider:model")
    return Arguments(
        model=given.model,
        dialect=given.dialect or dialect_of(given.model),
        system=_text(given.system_file),
        prompt=_text(given.prompt_file),
        workdir=given.workdir.resolve(),
        home=Path(_variable("HOME")),
        entrance=_variable("SANDGATE_ENTRANCE").rstrip("/"),
        token=_variable("SANDGATE_RUN_TOKEN"),
        resume=given.resume,
        max_tokens=given.max_tokens,
        max_turns=given.max_turns,
        context_tokens=given.context_tokens,
        silence_s=given.silence_s,
    )


def dialect_of(model: str) -> str:
    """What a model's provider speaks when nobody says: its own name, or as Anthropic does."""
    provider = model.partition(":")[0]
    return provider if provider in MODULES else "anthropic"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise NotStarted(f"{path} can't be read: {error.strerror}") from error


def _variable(name: str) -> str:
    value = os.environ.get(name)  # noqa: TID251 - a program of its own, in the sandbox
    if not value:
        raise NotStarted(f"{name} is not set")
    return value
