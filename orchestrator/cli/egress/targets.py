"""Where an export goes, as its options say."""

import hashlib
import socket
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import SecretStr

from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.files import text_of
from orchestrator.cli.place import installation
from orchestrator.cli.screen import escaped
from orchestrator.egress.sending.http import HttpTarget
from orchestrator.egress.sending.messages import Message
from orchestrator.egress.sending.streams import Collector, SyslogTarget
from orchestrator.egress.sending.targets import FileTarget, Target

STDOUT = "-"


class Kind(StrEnum):
    """How it is sent."""

    FILE = "file"
    SYSLOG = "syslog"
    HTTP = "http"


class Body(StrEnum):
    """What the body of a POST is."""

    NDJSON = "ndjson"
    ARRAY = "array"


def target_of(
    to: Kind,
    target: str,
    ca: Path | None,
    certificate: Path | None,
    secrets: Mapping[str, SecretStr],
    body: Body,
) -> Target:
    match to:
        case Kind.FILE:
            return FileTarget(Path(target))
        case Kind.SYSLOG:
            try:
                at = Collector.at(target, ca=ca, certificate=certificate)
            except ValueError as error:
                raise CommandFailed(f"{target}: {error}", Code.USAGE) from error
            return SyslogTarget(at, socket.gethostname())
        case Kind.HTTP:
            if not target.startswith(("http://", "https://")):
                raise CommandFailed(f"{target}: write http://... or https://...", Code.USAGE)
            return HttpTarget(target, secrets, body.value, ca=ca)


def header_of(text: str) -> tuple[str, SecretStr]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise CommandFailed("--header: write NAME=VALUE, or NAME=@FILE", Code.USAGE)
    return name, SecretStr(text_of(value).strip())


def cursor_of(what: str, log: Path | None) -> Path:
    """Where the cursor of a target is by default: with the installation's own data."""
    if log is not None:
        raise CommandFailed("with --log, say where to keep how far it got: --cursor", Code.USAGE)
    name = hashlib.sha256(what.encode()).hexdigest()[:12]
    return installation().data("egress-cursors") / f"{name}.json"


class Stdout:
    """Lines on stdout; what a terminal would obey is written as JSON's escapes."""

    def begin(self, mark: str) -> str:
        """Nothing is to be done."""
        return mark

    def send(self, batch: Sequence[Message], name: str) -> str:  # noqa: ARG002 - nobody asks twice
        for one in batch:
            print(escaped(one.body.decode(errors="replace")))  # noqa: T201 - stdout is the interface
        return ""

    def close(self) -> None:
        """Nothing is held."""
