"""TLS on both sides: leaves for what clients ask for, and verified connections to where it goes."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from OpenSSL import SSL

from proxy.authority import LEAF_DAYS, Authority

HTTP_1 = b"http/1.1"
KEPT_LEAVES = 2048
_RENEWED_AFTER = timedelta(days=LEAF_DAYS) / 2
_OPTIONS = SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION


@dataclass(frozen=True, slots=True)
class _Leaf:
    context: SSL.Context
    made_at: datetime


class Leaves:
    """Server contexts by host name, the last used ones kept. HTTP/1.1 is the only protocol they offer."""

    def __init__(self, authority: Authority, now: Callable[[], datetime]) -> None:
        self._authority = authority
        self._now = now
        # One key for all leaves, never on a disk: making one costs as much as a handshake.
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._kept: OrderedDict[str, _Leaf] = OrderedDict()

    def accepting(self, host: str) -> SSL.Connection:
        """A connection that presents itself as `host`, a canonical name."""
        now = self._now()
        leaf = self._kept.get(host)
        if leaf is None or now - leaf.made_at > _RENEWED_AFTER:
            leaf = self._kept[host] = _Leaf(self._context(host, now), now)
            if len(self._kept) > KEPT_LEAVES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(host)
        connection = SSL.Connection(leaf.context)
        connection.set_accept_state()
        return connection

    def _context(self, host: str, now: datetime) -> SSL.Context:
        context = SSL.Context(SSL.TLS_SERVER_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        context.set_options(_OPTIONS)
        context.use_certificate(self._authority.leaf(host, self._key.public_key(), now))
        context.use_privatekey(self._key)
        context.set_alpn_select_callback(_only_http_1)
        return context


class Upstream:
    """Client connections that verify names against one bundle. They offer HTTP/1.1 only."""

    def __init__(self, bundle: Path) -> None:
        """Raises: OSError when the bundle can't be read."""
        with bundle.open("rb"):
            pass  # OpenSSL's own error says nothing
        self._context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        self._context.set_min_proto_version(SSL.TLS1_2_VERSION)
        self._context.set_options(_OPTIONS)
        self._context.load_verify_locations(str(bundle))
        self._context.set_verify(SSL.VERIFY_PEER)
        self._context.set_alpn_protos([HTTP_1])

    def connecting(self, host: str) -> SSL.Connection:
        """A connection to `host`, a canonical name, which its certificate must be for."""
        connection = SSL.Connection(self._context)
        name = host.encode("ascii")
        connection.set_tlsext_host_name(name)
        _require_name(connection, name)
        connection.set_connect_state()
        return connection


def _require_name(connection: SSL.Connection, name: bytes) -> None:
    """Have OpenSSL check the name itself, in the handshake (RFC 9525); pyOpenSSL doesn't offer it."""
    lib = SSL._lib  # type: ignore[attr-defined]  # noqa: SLF001 - as mitmproxy does
    parameters = lib.SSL_get0_param(connection._ssl)  # noqa: SLF001
    lib.X509_VERIFY_PARAM_set_hostflags(
        parameters,
        lib.X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | lib.X509_CHECK_FLAG_NEVER_CHECK_SUBJECT,
    )
    if lib.X509_VERIFY_PARAM_set1_host(parameters, name, len(name)) != 1:
        raise SSL.Error


def _only_http_1(_connection: SSL.Connection, offered: list[bytes]) -> bytes | Any:
    return HTTP_1 if HTTP_1 in offered else SSL.NO_OVERLAPPING_PROTOCOLS
