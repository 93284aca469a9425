"""Where a call goes, and what of its answer may come back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import aiohttp
import orjson
from aiohttp import web

from entrance.model.dialects import Dialect
from entrance.model.headers import back
from entrance.model.redaction import clean
from entrance.vault.credentials import SecretHeaders


@dataclass(frozen=True, slots=True)
class Way:
    """Where a call goes: the URL that the secret was given out for, and what is sent there."""

    dialect: Dialect
    url: str
    headers: Mapping[str, str]
    secret: SecretHeaders = field(repr=False)


def refuse(
    dialect: Dialect,
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """An error as the dialect's clients expect it."""
    return web.Response(
        status=status,
        body=orjson.dumps(dialect.error(status, code, message)),
        headers={**(headers or {}), "content-type": "application/json"},
    )


def headers_back(answer: aiohttp.ClientResponse, way: Way) -> dict[str, str]:
    """The provider's headers that the client gets, without anything that looks like a key."""
    failed = answer.status >= HTTPStatus.MULTIPLE_CHOICES
    redact = way.secret.redact_all if failed else way.secret.redact
    passed = back(answer.headers)
    values = "\n".join(passed.values())
    if clean(values, redact) == values:  # as nearly always
        return passed
    return {name: clean(value, redact) for name, value in passed.items()}
