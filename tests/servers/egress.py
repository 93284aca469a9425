"""The egress proxy whole, between sandboxes' addresses and an internet that is all our own.

Two namespaces and a cable: at one end the proxy, a process as in an installation, and the addresses
of two sandboxes; at the other the origins and the name server, on addresses that count as public.
"""

import asyncio
import base64
import hashlib
import json
import os
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proxy.authority import ensure
from proxy.policy import Limits, Mode, Rule, SandboxPolicy
from proxy.policy_file import PolicyFile
from tests.servers.certificates import WebAuthority
from tests.servers.dns import NameServer
from tests.servers.namespaces import Namespace, joined
from tests.servers.origin import Origin
from tests.servers.recorder import RecorderServer, recorder_server
from tests.waiting import until

PROXY, PORT = "10.7.0.1", 8081
SANDBOX, OTHER = "10.7.0.2", "10.7.0.3"
TOKEN, OTHER_TOKEN = "token-of-run-1", "token-of-run-2"
NEAR = "11.0.0.1"
"""A public address of the proxy's own machine."""
ORIGIN, EVIL, RESOLVER, SITE = "11.0.0.10", "11.0.0.66", "11.0.0.53", "11.0.0.20"
INDEX = "index.example"
HTTP, HTTPS = (80, 8081), (443, 8443)
ALLOWED = "allowed.example"
NAMES: Mapping[str, Sequence[Sequence[str]]] = {
    **{
        name: [[ORIGIN]]
        for name in (ALLOWED, "sub.any.example", "pinned.example", "typed.example", "small.example")
    },
    "evil.example": [[EVIL]],
    INDEX: [[SITE]],
    "untrusted.example": [[ORIGIN]],
    "private.example": [["127.0.0.1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "metadata.example": [["169.254.169.254"]],
    "own.example": [[PROXY]],
    "ours.example": [[NEAR]],
    "internal.example": [["10.9.9.9"]],
    "mixed.example": [[ORIGIN, "127.0.0.1"]],
    "rebind.example": [[ORIGIN], ["127.0.0.1"]],
}
CERTIFIED = (
    ALLOWED,
    "*.any.example",
    "pinned.example",
    "typed.example",
    "small.example",
    "rebind.example",
)
RULES = (
    Rule(
        name="web",
        host=ALLOWED,
        schemes=frozenset({"http", "https"}),
        ports=frozenset(HTTP + HTTPS),
    ),
    Rule(name="any", host="*.any.example"),
    Rule(name="posts", host=ALLOWED, methods=frozenset({"POST"}), paths=("/post/**",)),
    Rule(name="socket", host=ALLOWED, paths=("/socket",), upgrade=True),
    Rule(name="held", host="held.example", mode=Mode.HOLD),
    Rule(name="pinned", host="pinned.example", splice=True),
    Rule(name="typed", host="typed.example", types=frozenset({"text/*"})),
    Rule(name="small", host="small.example", max_bytes=100_000),
    Rule(name="paths", host="untrusted.example"),
    *(
        Rule(name=f"to {name}", host=f"{name}.example", schemes=frozenset({"http", "https"}))
        for name in (
            "private",
            "mapped",
            "metadata",
            "own",
            "ours",
            "internal",
            "mixed",
            "rebind",
            "nowhere",
        )
    ),
)


@dataclass
class Egress:
    """All of it, running."""

    near: Namespace
    far: Namespace
    origin: Origin
    evil: Origin
    names: NameServer
    log: RecorderServer
    folder: Path
    web: WebAuthority
    process: asyncio.subprocess.Process
    mounts: dict[Path, Path]
    _generation: int = 0

    @property
    def authority(self) -> Path:
        """The certificate that sandboxes trust."""
        return self.folder / "egress-ca.pem"

    @property
    def status(self) -> dict[str, Any]:
        """What the proxy says of itself."""
        try:
            found: dict[str, Any] = json.loads((self.folder / "state" / "status.json").read_bytes())
        except OSError:
            return {}
        return found

    @property
    def url(self) -> str:
        """As a sandbox is told where the proxy is."""
        return f"http://run:{TOKEN}@{PROXY}:{PORT}"

    async def apply(self, *sandboxes: SandboxPolicy) -> None:
        """Have the proxy apply this policy."""
        self._generation += 1
        policy = PolicyFile(
            generation=self._generation, refused=("10.7.0.0/24",), sandboxes=sandboxes
        )
        self.write_policy(policy.text())
        await until(lambda: self.status.get("generation") == self._generation)

    def write_policy(self, text: bytes) -> None:
        """Put a policy in place, as the runner does."""
        part = self.folder / "policy.part"
        part.write_bytes(text)
        part.replace(self.folder / "policy.json")

    def socket(self, source: str = SANDBOX) -> socket.socket:
        """A connection to the proxy from a sandbox's address."""
        with self.near.entered():
            return socket.create_connection((PROXY, PORT), 5, source_address=(source, 0))

    def forget(self) -> None:
        """What was seen so far doesn't count."""
        for seen in (self.origin.hits, self.evil.hits, self.log.decided, self.log.outcomes):
            seen.clear()
        self.origin.connections = self.evil.connections = 0

    async def restart(self) -> None:
        """Start the proxy again, after it has ended; wait until it is ready, or has ended again."""
        (self.folder / "state" / "status.json").unlink(missing_ok=True)
        self.process = await _start(self.near, self.folder, self.web, self.mounts)
        await until(
            lambda: self.status.get("recorder") is True or self.process.returncode is not None
        )

    async def settled(self) -> None:
        """Wait until nobody is connected to the proxy any more, and all outcomes are told."""
        while True:
            status = await asyncio.to_thread(self._status_now)
            if status["connections"] == 1 and not status["outcomes_waiting"]:
                return

    def _status_now(self) -> dict[str, Any]:
        with self.socket(PROXY) as sock:
            sock.sendall(b"GET /.sandgate/status HTTP/1.1\r\nHost: x\r\n\r\n")
            whole = b""
            while part := sock.recv(4096):
                whole += part
        found: dict[str, Any] = json.loads(whole.partition(b"\r\n\r\n")[2])
        return found

    async def run(self, *argv: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
        """Run a program as a sandbox does; its status, stdout and stderr."""
        process = await asyncio.create_subprocess_exec(
            *self.near.command(argv, self.mounts),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env or {}),
        )
        out, err = await process.communicate()
        return process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")


def sandbox(*rules: Rule, limits: Limits | None = None, run: str = "run-1") -> SandboxPolicy:
    """The first sandbox, with these rules; another run has used nothing yet."""
    return SandboxPolicy(
        run=run,
        address=SANDBOX,
        token_sha256=hashlib.sha256(TOKEN.encode()).hexdigest(),
        rules=rules,
        limits=limits or Limits(),
    )


def other() -> SandboxPolicy:
    """The second sandbox, which may reach nothing."""
    digest = hashlib.sha256(OTHER_TOKEN.encode()).hexdigest()
    return SandboxPolicy(run="run-2", address=OTHER, token_sha256=digest)


def credentials(token: str = TOKEN, user: str = "run") -> str:
    """The value of Proxy-Authorization."""
    return "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()


@asynccontextmanager
async def egress(folder: Path) -> AsyncIterator[Egress]:
    """Start all of it. Needs root."""
    with joined([f"{NEAR}/24"], [f"{one}/24" for one in (ORIGIN, EVIL, RESOLVER, SITE)]) as (
        near,
        far,
    ):
        for address in (PROXY, SANDBOX, OTHER):
            near.ip("address", "add", f"{address}/32", "dev", "lo")
        # Programs that don't say from where speak as the first sandbox.
        near.ip("route", "replace", "local", PROXY, "dev", "lo", "src", SANDBOX, "table", "local")
        web = WebAuthority(folder)
        origin, evil, names = Origin(), Origin(), NameServer(NAMES)
        with far.entered():
            resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            resolver.bind((RESOLVER, 53))
        for one, address in ((origin, ORIGIN), (evil, EVIL)):
            for port in HTTP + HTTPS:
                context = _context(web, one is evil) if port in HTTPS else None
                await one.start(listening(far, address, port), context)
        await names.start(resolver)
        async with recorder_server(folder / "log.sock") as log:
            mounts = _files(folder)
            now = datetime.now(UTC)  # noqa: TID251 - certificates are looked at with the real clock
            ensure(folder / "egress-ca.key", folder / "egress-ca.pem", name="a test", now=now)
            process = await _start(near, folder, web, mounts)
            running = Egress(near, far, origin, evil, names, log, folder, web, process, mounts)
            try:
                await running.apply(sandbox(*RULES), other())
                await until(lambda: running.status.get("recorder") is True)
                yield running
            finally:
                await stop(running.process)
                names.stop()
                await origin.stop()
                await evil.stop()


def listening(space: Namespace, address: str, port: int) -> socket.socket:
    """A listening socket in it."""
    with space.entered():
        return socket.create_server((address, port))


async def stop(process: asyncio.subprocess.Process) -> None:
    """End it, and all of its group."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGTERM)
        await process.wait()


def _context(web: WebAuthority, evil: bool) -> ssl.SSLContext:  # noqa: FBT001
    return web.context(["evil.example"] if evil else CERTIFIED)


def _files(folder: Path) -> dict[Path, Path]:
    """The machine's own answers about names, for programs in the namespace."""
    resolv, hosts = folder / "resolv.conf", folder / "hosts"
    resolv.write_text(f"nameserver {RESOLVER}\noptions timeout:1 attempts:1\n")
    hosts.write_text("127.0.0.1 localhost\n")
    return {Path("/etc/resolv.conf"): resolv, Path("/etc/hosts"): hosts}


async def _start(
    near: Namespace, folder: Path, web: WebAuthority, mounts: dict[Path, Path]
) -> asyncio.subprocess.Process:
    argv = [
        *(sys.executable, "-P", "-m", "proxy", f"--host={PROXY}", f"--port={PORT}"),
        *(f"--policy={folder / 'policy.json'}", f"--recorder={folder / 'log.sock'}"),
        *(f"--state={folder / 'state'}", f"--key={folder / 'egress-ca.key'}"),
        *(f"--certificate={folder / 'egress-ca.pem'}", f"--upstream={web.file}"),
    ]
    with (folder / "proxy.log").open("ab") as log:
        return await asyncio.create_subprocess_exec(
            *near.command(argv, mounts),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            env={"PATH": os.defpath},
        )
