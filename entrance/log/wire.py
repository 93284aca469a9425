"""What the egress proxy says at the recorder's socket, and what it is answered [pure].

One JSON object a line, in either direction:

    {"id":1,"decided":{"key":"9f31-7","kind":"http","address":"10.0.0.2",...}}      ->  {"id":1,"seq":123}
    {"id":2,"outcome":{"of":123,"result":"ok",...}}                                 ->  {"id":2,"seq":124}
    trouble                                                                         ->  {"id":1,"error":"..."}

`id` is the asker's own number; answers come as records get to the disk, each with its id. Who an
attempt belongs to is not asked for: it is known by its address. What was told and not answered may be
told again, on another connection: a decision with the same key, an outcome of the same decision, is
recorded once, and gets the same answer.
"""

import re
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from entrance.decision import Allow, Decision, Deny, Hold
from entrance.log.records import Decided, Outcome, Request, Traffic
from entrance.ports import Addresses

LINE_BYTES = 256 << 10
"""A longer line is refused, and the connection with it."""

_USER = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/?#]*@", re.IGNORECASE)
Count = Annotated[int, Field(ge=0, le=1 << 62)]
Digest = Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]


class Refused(Exception):
    """A line that isn't taken, in a sentence. `id` is the asker's, where it can be read."""

    def __init__(self, message: str, number: int | None = None) -> None:
        super().__init__(message)
        self.id = number


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SaidDecided(_Said):
    """A decision of the egress proxy. `address`: the sandbox's, as the kernel gave it."""

    kind: Literal["http", "connect", "tls", "auth", "request"]
    address: str
    decision: Literal["allow", "hold", "deny"]
    key: Annotated[str, Field(max_length=64)] = ""
    """Its own among all that were ever told."""
    subject: str = ""
    method: str = ""
    url: str = ""
    host: str = ""
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    sni: str = ""
    target: str = ""
    rule: str = ""
    reason: str = ""
    detail: dict[str, Any] = Field(default_factory=dict)

    def record(self, addresses: Addresses) -> Decided:
        """What is recorded of it."""
        return Decided(
            self.kind,
            self.subject or f"{self.method} {self.url or self.host}".strip(),
            self._decision(),
            addresses.at(self.address),
            address=self.address,
            detail=self.detail,
            request=self._request(),
            rule=self.rule,
            door="egress",
            key=self.key,
        )

    def _request(self) -> Request:
        """The query stays as it is: what an agent sends away in it is what a log is for."""
        url = _USER.sub(r"\1", self.url)
        return Request(self.method, url, self.host, self.port, self.sni, self.target)

    def _decision(self) -> Decision:
        match self.decision:
            case "allow":
                return Allow()
            case "hold":
                return Hold(self.reason)
            case "deny":
                return Deny(self.reason)


class SaidOutcome(_Said):
    """What came of one of its decisions."""

    of: Count
    result: str
    status: Annotated[int, Field(ge=0, le=999)] = 0
    bytes_out: Count | None = None
    bytes_in: Count | None = None
    request_sha256: Digest = ""
    response_sha256: Digest = ""
    hashed_bytes: Count = 0
    target: str = ""
    ms: Count | None = None
    detail: dict[str, Any] = Field(default_factory=dict)

    def record(self) -> Outcome:
        """What is recorded of it."""
        told = self.model_dump(exclude={"of", "result", "detail"})
        return Outcome(self.of, self.result, self.detail, Traffic(**told))


class Said(_Said):
    """A line: one of the two."""

    id: Count
    decided: SaidDecided | None = None
    outcome: SaidOutcome | None = None

    @model_validator(mode="after")
    def _one(self) -> "Said":
        if (self.decided is None) == (self.outcome is None):
            raise ValueError("a line says either what was decided or what came of it")
        return self


def read(line: bytes) -> Said:
    """What a line says. Raises: Refused."""
    try:
        return Said.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"][:4])
        raise Refused(f"{where}: {first['msg']}".removeprefix(": ")[:300], _id_in(line)) from error


def recorded(number: int, seq: int) -> bytes:
    """The answer to a record that is on the disk."""
    return b'{"id":%d,"seq":%d}\n' % (number, seq)


def refused(number: int | None, message: str) -> bytes:
    """The answer to a line that is not recorded."""
    return orjson.dumps({"id": number, "error": message}) + b"\n"


def _id_in(line: bytes) -> int | None:
    try:
        number = orjson.loads(line)["id"]
    except (orjson.JSONDecodeError, KeyError, TypeError, IndexError):
        return None
    return number if type(number) is int else None
