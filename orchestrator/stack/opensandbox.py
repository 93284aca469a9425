"""The OpenSandbox server of one installation: its settings file, and how it is started.

It listens on loopback only: its proxy routes ask for no key.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.adapters.opensandbox.blueprint import CEILING_S
from orchestrator.stack.process import Program
from orchestrator.stack.steps import StepFailed

READY_S = 30.0
SECCOMP = Path(__file__).resolve().parents[2] / "images" / "sandbox" / "seccomp.json"
# Nothing listens there: a lookup fails at once instead of after the resolver's patience.
RESOLV_CONF = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"


@dataclass(frozen=True, slots=True)
class OpenSandboxServer:
    """The server of one installation. `data` is its folder: settings, database, its HOME."""

    data: Path
    log: Path
    pid_file: Path
    port: int
    api_key: str = field(repr=False)
    network: str
    execd_image: str
    pids: int
    tasks: Path
    """The only folder of the host that may be mounted into a sandbox."""
    trust: Mapping[Path, str] = field(default_factory=dict)
    """Files with the authorities that sandboxes trust, and where they are mounted."""
    docker_host: str | None = None
    seccomp: Path = SECCOMP
    """The profile of its sandboxes."""
    runtime: str = ""
    """A secure runtime that the engine knows (`runsc`); empty for the engine's own."""

    @property
    def settings_file(self) -> Path:
        return self.data / "server.toml"

    @property
    def resolv_conf(self) -> Path:
        return self.data / "resolv.conf"

    def write_settings(self) -> bool:
        """Write the settings; say whether they changed (then a running server must be restarted).

        Raises: StepFailed when the installation's path can't be part of a mount.
        """
        if ":" in str(self.data) or ":" in str(self.tasks):
            raise StepFailed(
                "The sandboxes' server can't be set up",
                why=f"the path {self.data} has a colon in it, which a mount can't have",
                what_to_do="Put the installation into another folder.",
            )
        self.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.resolv_conf.write_text(RESOLV_CONF)
        self.resolv_conf.chmod(0o644)
        text = toml(self._settings())
        if self.settings_file.exists() and self.settings_file.read_text() == text:
            return False
        part = self.settings_file.with_suffix(".part")
        part.touch(mode=0o600)
        part.write_text(text)
        part.replace(self.settings_file)
        return True

    def program(self, env: Mapping[str, str]) -> Program:
        """How it is started. Of `env` only PATH and LANG are handed on."""
        server = Path(sys.executable).with_name("opensandbox-server")
        argv = (str(server), "--config", str(self.settings_file))
        kept = {key: env[key] for key in ("PATH", "LANG") if key in env}
        if self.docker_host is not None:
            kept["DOCKER_HOST"] = self.docker_host
        return Program(
            name="The OpenSandbox server",
            argv=argv,
            log=self.log,
            pid_file=self.pid_file,
            # HOME: expiries that were renewed are kept below it.
            env={**kept, "HOME": str(self.data)},
            cwd=self.data,
        )

    def purge(self) -> None:
        """Remove its folder. The server must have been stopped."""
        shutil.rmtree(self.data, ignore_errors=True)

    def _settings(self) -> dict[str, dict[str, Any]]:
        settings: dict[str, dict[str, Any]] = {
            "server": {
                "host": "127.0.0.1",
                "port": self.port,
                "api_key": self.api_key,
                "max_sandbox_timeout_seconds": CEILING_S,
            },
            "log": {"level": "WARNING"},
            "runtime": {"type": "docker", "execd_image": self.execd_image},
            "store": {"type": "sqlite", "path": str(self.data / "opensandbox.db")},
            "docker": {
                "network_mode": self.network,
                "publish_host": "127.0.0.1",
                "pids_limit": self.pids,
                "no_new_privileges": True,
                "drop_capabilities": ["ALL"],
                # The profile itself: the engine's API reads no files.
                "seccomp_profile": seccomp_profile(self.seccomp),
                "sandbox_binds": [
                    f"{self.resolv_conf}:/etc/resolv.conf:ro",
                    *(f"{file}:{place}:ro" for file, place in self.trust.items()),
                ],
            },
            "storage": {"allowed_host_paths": [str(self.tasks)]},
            "ingress": {"mode": "direct"},
        }
        if self.runtime:
            settings["secure_runtime"] = {"type": "gvisor", "docker_runtime": self.runtime}
        return settings


def seccomp_profile(path: Path = SECCOMP) -> str:
    """The sandbox's seccomp profile on one line: what the engine is given."""
    return json.dumps(json.loads(path.read_text()), separators=(",", ":"))


def toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of strings, numbers, booleans and lists of them, as TOML."""
    lines: list[str] = []
    for name, table in tables.items():
        lines.append(f"[{name}]")
        # JSON's literals are TOML's, for these types and without escaped surrogates.
        lines += [
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()
        ]
        lines.append("")
    return "\n".join(lines)
