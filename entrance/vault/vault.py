"""The vault: keeps secrets sealed, and puts one on a request only where it may go."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from entrance.decision import Deny
from entrance.errors import Forbidden, Malformed, NotFound
from entrance.vault.app_key import app_token, check_key
from entrance.vault.client_proof import Proof, check_client_key, is_key, proof_of
from entrance.vault.credentials import NAME, Binding, Credential, SecretHeaders, binding_of
from entrance.vault.discovery import IssuerMetadata
from entrance.vault.forms import forms_of
from entrance.vault.seal import Keyring, bound_to, seal, unseal

COLLECTION = "secrets"
GONE = "[redacted]"
_REMEMBERED = 256
SHORTEST = 8
"""Characters of a secret: answers are searched for it, so it must not be an ordinary word."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A secret as it is stored: `blob` opens only with this name, version and meta.

    `meta` is plain JSON (strings and lists of strings): the binding. It must come back as stored.
    """

    name: str
    kid: str
    version: int
    blob: bytes = field(repr=False)
    meta: Mapping[str, Any]


class SecretStore(Protocol):
    """Keeps sealed rows by name. Each method raises Unavailable if the store can't be reached."""

    async def get(self, name: str) -> Sealed | None:
        """The row, or None when there is none."""
        ...

    async def put(self, row: Sealed) -> None:
        """Store the row in place of any of the same name."""
        ...

    async def list(self) -> Sequence[Sealed]:
        """Every row."""
        ...

    async def names(self) -> Sequence[str]:
        """The name of every row, also of one that can't be read any more."""
        ...

    async def delete(self, name: str) -> None:
        """Forget the row; no error when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class SecretInfo:
    """What may be known of a secret by whoever lists them."""

    name: str
    version: int
    binding: Binding


class Vault:
    """Secrets by name. The only class that ever holds one in the clear."""

    def __init__(
        self, store: SecretStore, keyring: Keyring, now: Callable[[], datetime] | None = None
    ) -> None:
        """Without `now` the key of an App signs nothing."""
        self._store = store
        self._keyring = keyring
        self._now = now
        self._shown: dict[tuple[str, str], tuple[Sealed, SecretHeaders]] = {}
        """What goes on a request, and the row that it came out of, which never changes."""
        self._read: dict[str, tuple[Sealed, Binding]] = {}
        """The latest row of each name, and its binding."""
        self._learned: dict[str, bytes] = {}
        """The rows, as sealed, that `_forms` is of."""
        self._forms: tuple[str, ...] = ()
        """In every form in which a value may come; the longest first."""

    async def put(
        self,
        name: str,
        value: str,
        hosts: Sequence[str],
        kind: str,
        *,
        issuer: str = "",
        scopes: Sequence[str] = (),
    ) -> SecretInfo:
        """Seal and store a secret, in place of any of the same name. See `binding_of` for `kind`.

        Raises: ValueError when name, value, hosts or kind won't do; Unavailable.
        """
        binding = binding_of(kind, tuple(hosts), issuer, tuple(scopes))
        return await self.put_bound(name, value, binding)

    async def put_bound(self, name: str, value: str, binding: Binding) -> SecretInfo:
        """As `put`, with a binding made by hand. Raises: ValueError, Unavailable."""
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a secret: letters, digits, dot, dash, _")
        _require_fit(name, value, binding)
        before = await self._store.get(name)
        version, meta = (before.version if before else 0) + 1, binding.to_meta()
        bound = bound_to(COLLECTION, name, version, meta)
        blob = seal(self._keyring, value.encode(), bound)
        self._shown.clear()
        await self._store.put(Sealed(name, self._keyring.current, version, blob, meta))
        return SecretInfo(name, version, binding)

    async def headers_for(self, name: str, method: str, url: str) -> SecretHeaders:
        """The header that puts the secret on a request to `url`, which must be dialled as it is.

        Raises: NotFound when there is no such secret; Forbidden when it is not for this request;
        Malformed when its row was tampered with; Unavailable.
        """
        row = await self._row(name)
        known, headers = self._shown.get((method, url), (None, None))
        return headers if known is row and headers else self._opened(row, method, url)

    async def as_client(self, name: str, issuer: IssuerMetadata) -> Proof:
        """What proves a client to its authorization server, when it asks for a token.

        Raises: NotFound; Forbidden when the token would be asked for elsewhere; Malformed;
        Unavailable.
        """
        row = await self._row(name)
        binding = _binding_in(row)
        if binding.scheme != "oauth-client" or self._now is None:
            raise Forbidden(f"secret {name!r} is no client's, or this vault has no clock")
        decision = binding.at_issuer.allows("POST", issuer.token_endpoint)
        if isinstance(decision, Deny):
            raise Forbidden(f"{issuer.issuer} gives tokens at another host: {decision.reason}")
        value, nonce = self._unsealed(row).decode(), secrets.token_urlsafe(16)
        return proof_of(binding.argument, value, issuer, self._now(), nonce)

    async def info(self, name: str) -> SecretInfo:
        """What may be known of a secret. Raises: NotFound, Malformed, Unavailable."""
        row = await self._row(name)
        return SecretInfo(row.name, row.version, self._binding_of(row))

    async def binding(self, name: str) -> Binding:
        """Where a secret may go. Raises: NotFound, Malformed, Unavailable."""
        return self._binding_of(await self._row(name))

    async def delete(self, name: str) -> None:
        """Forget a secret. Raises: Unavailable."""
        self._shown.clear()
        await self._store.delete(name)

    async def learn(self) -> None:
        """Take up the values of all secrets, for `redacted`; one that doesn't open is left out.

        Raises: Unavailable; then those that were known stay so.
        """
        rows = await self._store.list()
        sealed = {row.name: row.blob for row in rows}
        if sealed == self._learned:
            return
        forms: set[str] = set()
        for row in rows:
            with suppress(Malformed):
                forms.update(form.decode() for form in forms_of(self._unsealed(row).decode()))
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._learned = sealed

    def redacted(self, text: str) -> str:
        """A text that is to be written down, without the values that were learned, in whatever form."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, GONE)
        return text

    async def check(self) -> int:
        """How many secrets there are; each opens. Raises: Malformed that names the others, Unavailable."""
        names, shut = await self.names(), await self.shut()
        if shut:
            raise Malformed(
                f"{len(shut)} of {len(names)} secrets don't open with this installation's key: "
                f"put its file back, or set them again ({', '.join(shut)})"
            )
        return len(names)

    async def shut(self) -> list[str]:
        """The names of the secrets that this key doesn't open, sorted. Raises: Unavailable."""
        return [name for name in await self.names() if not await self._opens(name)]

    async def names(self) -> list[str]:
        """The names of all secrets, sorted. Raises: Unavailable."""
        return sorted(await self._store.names())

    async def listed(self) -> list[SecretInfo]:
        """All secrets without their values, by name. Raises: Malformed, Unavailable."""
        rows = sorted(await self._store.list(), key=lambda row: row.name)
        return [SecretInfo(row.name, row.version, _binding_in(row)) for row in rows]

    async def _row(self, name: str) -> Sealed:
        row = await self._store.get(name)
        if row is None:
            raise NotFound(f"there is no secret {name!r}: set it with `sandgate secret set {name}`")
        return row

    def _signed(self, name: str, app: str, key: str) -> str:
        if self._now is None:
            raise Forbidden(f"secret {name!r}: this vault has no clock, and signs nothing")
        return app_token(app, key, self._now())

    def _opened(self, row: Sealed, method: str, url: str) -> SecretHeaders:
        """The headers of a row, if it is for the request. Raises: Forbidden, Malformed."""
        binding = self._binding_of(row)
        decision = binding.allows(method, url)
        if isinstance(decision, Deny):
            raise Forbidden(f"secret {row.name!r}: {decision.reason}")
        value = self._unsealed(row).decode()
        if binding.scheme == "app-jwt":  # each is good for minutes only
            value = self._signed(row.name, binding.argument, value)
            return Credential(row.name, binding, value).headers(url)
        if len(self._shown) >= _REMEMBERED:
            self._shown.clear()
        headers = Credential(row.name, binding, value).headers(url)
        self._shown[method, url] = row, headers
        return headers

    def _binding_of(self, row: Sealed) -> Binding:
        """Made once of each row. Raises: Malformed."""
        read, binding = self._read.get(row.name, (None, None))
        if read is row and binding is not None:
            return binding
        if len(self._read) >= _REMEMBERED:
            self._read.clear()
        binding = _binding_in(row)
        self._read[row.name] = row, binding
        return binding

    async def _opens(self, name: str) -> bool:
        try:
            row = await self._store.get(name)
            if row is not None:
                self._unsealed(row)
        except Malformed:
            return False
        return True

    def _unsealed(self, row: Sealed) -> bytes:
        bound = bound_to(COLLECTION, row.name, row.version, row.meta)
        return unseal(self._keyring, row.kid, row.blob, bound)


def _binding_in(row: Sealed) -> Binding:
    try:
        return Binding.from_meta(row.meta)
    except (ValueError, KeyError, TypeError) as error:
        raise Malformed(f"secret {row.name!r}: its binding can't be read; set it again") from error


def _require_fit(name: str, value: str, binding: Binding) -> None:
    """Raises: ValueError when a value can't be a secret of this kind."""
    if binding.scheme == "app-jwt":
        check_key(name, value)
        return
    if binding.scheme == "oauth-client" and is_key(value):
        check_client_key(name, value)
        return
    if not value or not value.isascii() or not value.isprintable() or value != value.strip():
        raise ValueError(f"the value of {name} must be one line of printable ASCII")
    if len(value) < SHORTEST:
        raise ValueError(f"the value of {name} is too short to be told apart in what comes back")
