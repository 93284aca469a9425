"""The vault: keeps secrets sealed, and puts one on a request only where it may go."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from entrance.decision import Deny
from entrance.errors import Forbidden, Malformed, NotFound
from entrance.vault.app_key import app_token, check_key
from entrance.vault.credentials import NAME, Binding, Credential, SecretHeaders, binding_of
from entrance.vault.seal import Keyring, bound_to, seal, unseal

COLLECTION = "secrets"
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
        self._judged: dict[tuple[str, str], tuple[Sealed, Binding]] = {}
        """The latest row that was found to be for a request, and its binding: a row never changes."""

    async def put(self, name: str, value: str, hosts: Sequence[str], kind: str) -> SecretInfo:
        """Seal and store a secret, in place of any of the same name. See `binding_of` for `kind`.

        Raises: ValueError when name, value, hosts or kind won't do; Unavailable.
        """
        return await self.put_bound(name, value, binding_of(kind, tuple(hosts)))

    async def put_bound(self, name: str, value: str, binding: Binding) -> SecretInfo:
        """As `put`, with a binding made by hand. Raises: ValueError, Unavailable."""
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a secret: letters, digits, dot, dash, _")
        _require_fit(name, value, binding)
        before = await self._store.get(name)
        version, meta = (before.version if before else 0) + 1, binding.to_meta()
        bound = bound_to(COLLECTION, name, version, meta)
        blob = seal(self._keyring, value.encode(), bound)
        await self._store.put(Sealed(name, self._keyring.current, version, blob, meta))
        return SecretInfo(name, version, binding)

    async def headers_for(self, name: str, method: str, url: str) -> SecretHeaders:
        """The header that puts the secret on a request to `url`, which must be dialled as it is.

        Raises: NotFound when there is no such secret; Forbidden when it is not for this request;
        Malformed when its row was tampered with; Unavailable.
        """
        row = await self._row(name)
        binding = self._bound_for(row, method, url)
        value = self._unsealed(row).decode()
        if binding.scheme == "app-jwt":
            value = self._signed(name, binding.argument, value)
        return Credential(name, binding, value).headers(url)

    async def binding(self, name: str) -> Binding:
        """Where a secret may go. Raises: NotFound, Malformed, Unavailable."""
        return _binding_in(await self._row(name))

    async def delete(self, name: str) -> None:
        """Forget a secret. Raises: Unavailable."""
        await self._store.delete(name)

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

    def _bound_for(self, row: Sealed, method: str, url: str) -> Binding:
        """The row's binding, which allows the request. Raises: Forbidden, Malformed."""
        judged, binding = self._judged.get((method, url), (None, None))
        if judged is row and binding is not None:
            return binding
        binding = _binding_in(row)
        decision = binding.allows(method, url)
        if isinstance(decision, Deny):
            raise Forbidden(f"secret {row.name!r}: {decision.reason}")
        if len(self._judged) >= _REMEMBERED:
            self._judged.clear()
        self._judged[method, url] = row, binding
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
    if not value or not value.isascii() or not value.isprintable() or value != value.strip():
        raise ValueError(f"the value of {name} must be one line of printable ASCII")
    if len(value) < SHORTEST:
        raise ValueError(f"the value of {name} is too short to be told apart in what comes back")
