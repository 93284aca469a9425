"""The runner's settings: the only place where the environment is read.

Every field is an environment variable `SANDGATE_<GROUP>__<FIELD>`; `docs/reference/settings.md` is
made from this model. Files that hold a secret are named, not their content: it never passes
through the environment.
"""

import os
from decimal import Decimal
from ipaddress import IPv4Network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from entrance.push_policy import Mode, PushPolicy
from orchestrator.domain.push_demand import checked_globs, checked_modes


class Group(BaseModel):
    """One group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Api(Group):
    """The HTTP API for people and their tools."""

    host: str = "127.0.0.1"
    """Where it listens; behind the same-origin reverse proxy in production."""
    port: int = 8400
    """Its port."""
    token_file: Path
    """File with the token that the API asks for."""
    metrics_token_file: Path | None = None
    """File with a token that opens `/metrics` and nothing else; without it, only the API's own does."""


class Polarion(Group):
    """The system of record."""

    url: str
    """Base URL of the REST API, ending in `/polarion/rest/v1`."""
    token_file: Path
    """File with the personal access token of the runner's service user."""
    pool: str = "AGENTS"
    """The Agent Pool project."""
    embedded: bool = False
    """It is the embedded server: tokens for bot users can be made by ourselves."""


class PocketBase(Group):
    """Operational state."""

    url: str
    """Base URL."""
    user: str = "runner@sandgate.internal"
    """The superuser that the runner acts as."""
    password_file: Path
    """File with its password."""


class Sandboxes(Group):
    """Sandboxes, through OpenSandbox on a Docker host."""

    url: str
    """Base URL of the OpenSandbox server."""
    api_key_file: Path
    """File with its API key."""
    docker: str = ""
    """Docker's address; empty means the default socket."""
    images: dict[str, str] = Field(min_length=1)
    """The sandbox images by harness, as JSON: `{"native": "...", "codex": "..."}`."""
    network: str
    """The sandbox network; also the name of the nft table."""
    bridge: str
    """The network's bridge interface."""
    subnet: IPv4Network
    """The network's subnet."""
    seccomp_file: Path
    """The seccomp profile that every sandbox runs under; anything else is killed."""
    resolv_conf: Path
    """The file that the OpenSandbox server mounts over /etc/resolv.conf."""
    trust: dict[Path, str] = Field(default_factory=dict)
    """Files that the OpenSandbox server mounts into every sandbox: the authorities it trusts. As JSON."""
    tasks: Path
    """Folder of the tasks' disk images."""
    memory: str = "2Gi"
    """Memory of a sandbox."""
    cpu: str = "2"
    """Processors of a sandbox."""
    pids: int = Field(default=512, ge=16)
    """Most processes and threads in a sandbox. (With gVisor it is 4096 threads of the host, always.)"""
    runtime: Literal["runc", "gvisor"] = "runc"
    """What runs a sandbox's processes: the host's kernel, or gVisor's, slower and harder to get out of."""
    disk: Literal["capped", "watched"] = "capped"
    """`capped`: an image a task, which the kernel lets grow no further; needs the right to mount.
    `watched`, where nobody may mount: volumes that are measured, and whose run is ended above the cap."""
    disk_mib: int = Field(default=4096, ge=64)
    """Cap of a task's disk, /workspace and $HOME together, in MiB."""
    keep_disks_days: float = Field(default=7, ge=0)
    """A task's disk is removed so many days after the task was seen to be done, or gone."""
    tmp_mib: int = Field(default=512, ge=16)
    """Cap of /tmp, in MiB; it counts as memory."""
    shm_mib: int = Field(default=64, ge=1)
    """Cap of /dev/shm, in MiB; it counts as memory."""
    ttl_s: int = Field(default=600, ge=60)
    """A sandbox without a heartbeat ends after so many seconds."""


class Entrance(Group):
    """The door of the sandboxes."""

    host: str
    """The gateway address of the sandbox network."""
    port: int = 8080
    """Its port."""
    call_timeout_s: float = Field(default=50, gt=0, le=50)
    """A tool that gives no answer for so long is given up, before the agent's own program does it."""


class Provider(Group):
    """One model provider, or a company gateway."""

    base_url: str
    """Its base URL; the API's own paths follow, such as `/v1/messages` or `/v1/responses`."""
    secret: str
    """Name of the vault's secret that holds its key."""
    dialect: Literal["anthropic", "openai", "google"] | None = None
    """Whose API it speaks; the one of its name when none is given, Anthropic's for other names."""


class Models(Group):
    """Model providers by name, as `provider:model` names them."""

    providers: dict[str, Provider] = Field(default_factory=dict)
    """As JSON: `{"anthropic": {"base_url": "...", "secret": "anthropic"}}`."""
    silence_s: float = Field(default=600, gt=0)
    """A provider that says nothing for so long is given up; in the middle of a stream, after 240 at most."""
    prices: Path | None = None
    """A YAML file with prices that are added to the shipped table, or replace its rows."""


class Telemetry(Group):
    """OpenTelemetry traces: a span for each run and each of its attempts. Off unless there is a URL."""

    otlp_url: str = ""
    """Where traces are sent to by OTLP over HTTP, such as `http://collector:4318/v1/traces`."""
    headers_file: Path | None = None
    """File with headers for it, a `Name: value` a line; it may hold a secret."""


class Log(Group):
    """The egress log: every attempt of a sandbox at the world, decided and recorded."""

    folder: Path
    """Its segments, seals and checkpoint."""
    key_file: Path
    """File with the Ed25519 key that signs it, mode 0600; the public key is beside it, as `.pub`."""
    socket: Path
    """Where the egress proxy hands its records in."""
    segment_mib: int = Field(default=64, ge=1)
    """A segment is sealed when it has so many MiB."""
    segment_hours: float = Field(default=24, gt=0)
    """And when it is so old."""
    keep_days: int | None = Field(default=None, ge=1)
    """Sealed segments are removed after so many days; by default they are kept for ever."""
    keep_mib: int | None = Field(default=None, ge=1)
    """The oldest sealed segments are removed when there are more MiB; by default there is no limit."""


class Egress(Group):
    """The egress proxy: what of the internet sandboxes reach. Without its files there is none."""

    enabled: bool = True
    """Whether there is one at all; without it sandboxes reach nothing of the internet."""
    upstream_ca: Path | None = None
    """The bundle that the internet's servers are verified against; by default this machine's own."""
    policy_file: Path | None = None
    """The policy that the runner writes and the proxy reads."""
    status_file: Path | None = None
    """What the proxy says of the policy that it has in force."""


class Honeytokens(Group):
    """Credentials that open nothing, in every sandbox; one that is about to leave it freezes it."""

    enabled: bool = True
    """Whether sandboxes get any."""
    in_prompts: Literal["note", "freeze", "off"] = "note"
    """One in a prompt, where an agent tells its model what it has read: only noted, or as elsewhere."""


class Alerts(Group):
    """Who is called when a sandbox is frozen."""

    url_file: Path | None = None
    """File with the URL of a webhook that takes a POST of JSON: many hold a token. None: nobody is called."""


class Pushes(Group):
    """What is asked of every push; an engagement may ask for more, and never for less."""

    modes: Annotated[dict[str, Mode], AfterValidator(checked_modes)] = Field(default_factory=dict)
    """What findings of a rule mean, as JSON: `{"gate-path": "deny"}`; see `sandgate policy pushes`."""
    gate_paths: Annotated[tuple[str, ...], AfterValidator(checked_globs)] = ()
    """Paths that count as gates besides those that always do, as JSON: `["deploy/**"]`."""
    max_file_mib: int = Field(default=50, ge=1)
    """The largest file, in MiB."""
    max_pack_mib: int = Field(default=2048, ge=1)
    """The largest push, in MiB."""

    def policy(self) -> PushPolicy:
        """The same, as the door knows it."""
        return PushPolicy(
            self.modes, self.gate_paths, self.max_file_mib << 20, self.max_pack_mib << 20
        )


class Runs(Group):
    """How runs are run."""

    parallel: int = Field(default=4, ge=1)
    """Most runs at once."""
    poll_s: float = Field(default=2.0, gt=0)
    """Seconds between two looks at Polarion."""
    deadline_s: float = Field(default=3600, gt=0)
    """Longest time of one run."""
    silence_s: float = Field(default=900, gt=0)
    """A harness that says nothing for so long has hung."""
    limit_usd: Decimal = Field(default=Decimal(10), gt=0)
    """Most that one run may spend, whatever is left of the engagement."""


class Posture(Group):
    """The battery of probes that proves the sandboxes' walls; see `sandgate posture`."""

    every_hours: float = Field(default=24, gt=0)
    """It is run again so many hours after the last time, besides after every change."""


class Settings(BaseSettings):
    """All of them."""

    model_config = SettingsConfigDict(
        env_prefix="SANDGATE_",
        env_nested_delimiter="__",
        frozen=True,
        extra="ignore",
        use_attribute_docstrings=True,
    )

    name: str = "sandgate"
    """The installation's name, as labels carry it."""
    home: Path = Path(".sandgate")
    """The installation's folder."""
    vault_key_file: Path
    """File with the key that seals secrets, mode 0600, outside the database."""
    transcripts: Path
    """Folder of the runs' transcripts."""
    api: Api
    polarion: Polarion
    pocketbase: PocketBase
    sandboxes: Sandboxes
    entrance: Entrance
    log: Log
    egress: Egress = Egress()
    models: Models = Models()
    pushes: Pushes = Pushes()
    runs: Runs = Runs()
    posture: Posture = Posture()
    telemetry: Telemetry = Telemetry()
    honeytokens: Honeytokens = Honeytokens()
    alerts: Alerts = Alerts()


class Environment(BaseSettings):
    """What the `sandgate` command takes from the environment."""

    model_config = SettingsConfigDict(
        env_prefix="SANDGATE_", extra="ignore", use_attribute_docstrings=True
    )

    home: Path = Path(".sandgate")
    """The installation's folder: everything of an installation lives below it."""
    docker_host: str = ""
    """Docker's address; empty means the default socket."""
    execd_image: str = ""
    """Another OpenSandbox execd image, such as the official one; empty means our own."""


_PASSED_ON = frozenset(
    {
        *("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
        *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH"),
        *("DOCKER_TLS_VERIFY", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
    }
)
_PROXIES = frozenset({"http_proxy", "https_proxy", "no_proxy", "all_proxy"})


def inherited_environment() -> dict[str, str]:
    """The whole environment but for our own settings: for commands that act in the user's place."""
    return {key: value for key, value in os.environ.items() if not key.startswith("SANDGATE_")}


def service_environment() -> dict[str, str]:
    """What the installation's long-running programs inherit: only what says how this machine is set up.

    Keys that happen to stand in a user's shell stay there; and the same programs are the same,
    whichever shell they are started from.
    """
    return {
        key: value
        for key, value in os.environ.items()
        if key in _PASSED_ON or key.startswith("LC_") or key.lower() in _PROXIES
    }


def variables(error: ValidationError) -> list[str]:
    """What is wrong with the settings, by environment variable; never a value."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return [
        f"SANDGATE_{'__'.join(str(part) for part in one['loc']).upper()}: {one['msg']}"
        for one in found
    ]
