"""The head of a push, read before anything is forwarded [pure, sans-I/O].

On the wire: `shallow OID` lines, commands (capabilities behind a NUL on the first), flush, push
options and a flush when negotiated, then the pack. A lone flush is git's probe before a large
push. What is judged is what is forwarded: `PushHead.raw` holds the very bytes.
"""

import re
from dataclasses import dataclass
from typing import Literal

from entrance.git.pktline import Mark, PktBuffer, ProtocolError
from entrance.git.refs import RefUpdate

Hash = Literal["sha1", "sha256"]

MAX_HEAD_BYTES = 1 << 20
MAX_UPDATES = 64
MAX_NAME_BYTES = 4096
"""A longer name could not be told back in a report; the ref rules allow far less."""
_SHA256_HEX = 64
_OID = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
_CAPABILITIES = re.compile(rb"[\x20-\x7e]*\n?")
_SHALLOW = b"shallow "
_CERTIFICATE = b"push-cert"


@dataclass(frozen=True, slots=True)
class PushHead:
    """What a push asks for. `raw` is the head as it came, `rest` what was fed beyond it."""

    updates: tuple[RefUpdate, ...]
    capabilities: frozenset[str]
    """As sent, `name` or `name=value`."""
    signed: bool
    has_options: bool
    raw: bytes
    rest: bytes

    @property
    def asks_nothing(self) -> bool:
        """No command: git's probe before a large push, or a shallow clone with nothing to push."""
        return not self.updates and not self.signed

    @property
    def hash_name(self) -> Hash:
        """How its repository names objects."""
        return hash_name_of(self.updates[0].new)


def hash_name_of(oid: str) -> Hash:
    """How the repository that an id, hex, is of names objects."""
    return "sha256" if len(oid) == _SHA256_HEX else "sha1"


class HeadParser:
    """Fed the request's bytes until the head is whole."""

    def __init__(self) -> None:
        self._lines = PktBuffer()
        self._raw = bytearray()
        self._updates: list[RefUpdate] = []
        self._capabilities: frozenset[str] = frozenset()
        self._signed = False
        self._in_options = False
        self._has_options = False

    def feed(self, data: bytes) -> PushHead | None:
        """The head once it is whole, else None. Not to be fed again afterwards.

        Raises: ProtocolError when it is malformed, ambiguous or too large.
        """
        self._raw += data
        self._lines.feed(data)
        while (line := self._lines.pop()) is not None:
            if line is Mark.FLUSH:
                if self._expects_options():
                    self._in_options = True
                    continue
                return self._head()
            if isinstance(line, Mark) or not line:
                raise ProtocolError("only flush packets may stand between the lines of a push")
            self._take(line)
        self._check_size(len(self._raw))
        return None

    def _expects_options(self) -> bool:
        return not self._in_options and bool(self._updates) and "push-options" in self._capabilities

    def _head(self) -> PushHead:
        rest = self._lines.rest()
        raw = bytes(self._raw[: len(self._raw) - len(rest)])
        self._check_size(len(raw))
        return PushHead(
            updates=tuple(self._updates),
            capabilities=self._capabilities,
            signed=self._signed,
            has_options=self._has_options,
            raw=raw,
            rest=rest,
        )

    @staticmethod
    def _check_size(size: int) -> None:
        if size > MAX_HEAD_BYTES:
            raise ProtocolError(f"the list of commands is over {MAX_HEAD_BYTES} bytes")

    def _take(self, line: bytes) -> None:
        if self._in_options or self._signed:
            self._has_options = self._in_options
            return  # a push with options, or a signed one, is refused whole
        if line.startswith(_SHALLOW):
            self._take_shallow(line)
            return
        if line.split(b"\0", 1)[0] == _CERTIFICATE and not self._updates:
            self._signed = True
        command, nul, capabilities = line.partition(b"\0")
        if bool(nul) == bool(self._updates):
            # git takes capabilities from any command with a NUL: the ambiguity is refused
            raise ProtocolError("capabilities belong to the first command, and only there")
        if not _CAPABILITIES.fullmatch(capabilities):
            # git reads them to a second NUL, and parts them at other blanks than Python does
            raise ProtocolError("the capabilities are not words of ASCII with spaces between")
        if nul:
            self._capabilities = frozenset(capabilities.decode("latin-1").split())
        if not self._signed:
            self._take_command(command)

    def _take_shallow(self, line: bytes) -> None:
        if self._updates:
            raise ProtocolError("a shallow line stands after a command")
        if not _OID.fullmatch(line.removeprefix(_SHALLOW).removesuffix(b"\n")):
            raise ProtocolError("a shallow line names no object")

    def _take_command(self, command: bytes) -> None:
        parts = command.removesuffix(b"\n").split(b" ", 2)
        if len(parts) != 3 or not parts[2]:  # noqa: PLR2004 - old, new, ref
            raise ProtocolError("a command is not `old new ref`")
        old, new, ref = parts
        if not _OID.fullmatch(old) or not _OID.fullmatch(new) or len(old) != len(new):
            raise ProtocolError("a command names objects by other than lower-case hex ids")
        if len(ref) > MAX_NAME_BYTES:
            raise ProtocolError(f"a ref's name is over {MAX_NAME_BYTES} bytes")
        if len(self._updates) == MAX_UPDATES:
            raise ProtocolError(f"a push may have at most {MAX_UPDATES} commands")
        self._updates.append(RefUpdate(old.decode(), new.decode(), ref))
