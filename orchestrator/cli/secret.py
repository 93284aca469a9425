"""`sandgate secret`: the secrets that the vault keeps."""

import sys
from collections.abc import Mapping
from getpass import getpass
from typing import Annotated, Any

import typer
from rich.console import Console

from entrance.vault.client_proof import is_key
from entrance.vault.kinds import KINDS
from orchestrator.cli.client import segment
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.place import JsonFlag, installation, runner
from orchestrator.cli.screen import plain, say, tell_each
from orchestrator.stack.reset_secrets import forget, shut_secrets

KEYS = frozenset(name for name, kind in KINDS.items() if kind.scheme == "app-jwt")
"""Kinds whose secret is a private key."""

app = typer.Typer(no_args_is_help=True, help="Secrets of the vault.")
console = Console()


@app.command("set")
def set_secret(
    name: Annotated[str, typer.Argument(help="Its name.")],
    host: Annotated[
        list[str],
        typer.Option(
            help="A `host[:port]` that it may go to, by https; `http://host[:port]` for plain http."
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            help=f"How it is used: {', '.join(sorted(KINDS))}; default: NAME if it is one."
            " `git:USER` and `api-basic:USER` name the user, `api-header:NAME` the header,"
            " `github-app:ID` the App, `mcp-oauth:ID` the client."
        ),
    ] = "",
    issuer: Annotated[
        str,
        typer.Option(
            help="For `mcp-oauth`: the authorization server's URL, the only place that sees the secret."
            " The tokens that it gives go to --host."
        ),
    ] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option(help="For `mcp-oauth`: a scope to ask for; default: what the server wants."),
    ] = None,
) -> None:
    """Seal a secret into the vault. Its value is read from stdin, never from the command line."""
    wanted = kind or (name if name in KINDS else "")
    if not wanted:
        raise CommandFailed(
            f"say how {name} is used: --kind, one of {', '.join(sorted(KINDS))}", Code.USAGE
        )
    value = read_secret(key=wanted.partition(":")[0] in KEYS)
    body = {"value": value, "hosts": host, "kind": wanted}
    if issuer or scope:
        body |= {"issuer": issuer, "scopes": scope or []}
    with runner() as api:
        made = api.put(f"/api/secrets/{segment(name)}", body)
    say(console, f"{name} is sealed (version {made['version']}), for {', '.join(host)} only")


@app.command("ls")
def list_secrets(json: JsonFlag = False) -> None:
    """List the secrets: names, uses and hosts; never a value."""
    with runner() as api:
        found = api.get("/api/secrets")
    tell_each(console, found, ("name", "kind", "hosts", "version"), _row, json=json)


@app.command("reset")
def reset_secrets(
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Forget the secrets that the vault's key doesn't open: all of them, when it is lost.

    What it opens stays. The runner must be down.
    """
    here = installation()
    shut = shut_secrets(here)
    if not shut:
        say(console, "every secret opens: there is nothing to forget")
        return
    question = f"{', '.join(shut)}: no key opens these. Forget them?"
    if not yes and not typer.confirm(plain(question)):
        raise CommandFailed("nothing was forgotten", Code.REFUSED)
    forget(here, shut)
    say(
        console,
        f"{len(shut)} forgotten. After `sandgate up`, set them again by `sandgate secret set`;"
        " an agent's own (polarion.bot-NAME) by `sandgate agent create NAME`",
    )


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    return one["name"], one["kind"], ", ".join(one["hosts"]), one["version"]


def read_secret(*, key: bool = False) -> str:
    """One line from stdin, never shown; its line break is no part of it. Raises: CommandFailed.

    `key`: a private key in PEM, of many lines; one is taken without that, too, where it may be either.
    """
    if key:
        return _read_key()
    if sys.stdin.isatty():
        value = getpass("value (it is not shown): ")
    else:
        value = sys.stdin.buffer.read().decode(errors="replace")
    value = value.removesuffix("\n").removesuffix("\r")
    if not value or ("\n" in value and not is_key(value)):
        raise CommandFailed("give the secret's value on stdin, as one line", Code.USAGE)
    return value


def _read_key() -> str:
    if sys.stdin.isatty():
        raise CommandFailed(
            "give the private key on stdin: `... < app.private-key.pem`", Code.USAGE
        )
    return sys.stdin.buffer.read(1 << 20).decode(errors="replace")
