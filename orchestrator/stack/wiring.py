"""What each program of an installation is told: the runner's settings, the sandbox network, the key files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import get_args

import orjson
from pydantic import TypeAdapter, ValidationError

from entrance.model.provider import DialectName
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.adapters.opensandbox.blueprint import GVISOR_PIDS, RUNSC
from orchestrator.settings import Sandboxes
from orchestrator.stack import seccomp
from orchestrator.stack.egress_proxy import EgressFiles, enabled
from orchestrator.stack.images import ImageTags
from orchestrator.stack.installation import EGRESS_PORT, ENTRANCE_PORT, Installation
from orchestrator.stack.keys import make_key, make_log_key
from orchestrator.stack.opensandbox import OpenSandboxServer
from orchestrator.stack.own_settings import own_settings
from orchestrator.stack.services import LOOPBACK, polarion_token
from orchestrator.stack.steps import StepFailed

MODELS_FILE = "models.json"
_PROVIDERS = TypeAdapter(dict[str, str])
_ADDRESS = re.compile(
    rf"(?:(?P<dialect>{'|'.join(get_args(DialectName))})\+)?(?P<base_url>https?://.*)"
)
DEFAULT_PIDS: int = Sandboxes.model_fields["pids"].default


@dataclass(frozen=True, slots=True)
class Wishes:
    """What whoever brings an installation up wants of it."""

    home: Path
    docker_host: str = ""
    execd_image: str = ""
    """Another execd image than our own; empty means our own."""
    harnesses: tuple[str, ...] = ()
    """Harnesses (and `stdio`) whose sandboxes are wished besides those that were wished before."""
    providers: Mapping[str, str] | None = None
    """Model providers by name, with their addresses; None keeps what was told before."""


def bridge_of(here: Installation) -> Bridge:
    """The installation's sandbox network, as the firewall knows it."""
    return Bridge(
        name=here.network,
        interface=here.bridge,
        subnet=here.subnet,
        gateway=IPv4Address(here.gateway),
        doors=(ENTRANCE_PORT, EGRESS_PORT),
    )


def wants_gvisor(home: Path) -> bool:
    """Whether the installation's own settings ask for gVisor."""
    return own_settings(home).get("SANDBOXES__RUNTIME") == "gvisor"


def opensandbox_server(here: Installation, wishes: Wishes, tags: ImageTags) -> OpenSandboxServer:
    """The installation's OpenSandbox server."""
    pids = int(own_settings(here.home).get("SANDBOXES__PIDS", DEFAULT_PIDS))
    gvisor = wants_gvisor(here.home)
    return OpenSandboxServer(
        data=here.data("opensandbox"),
        log=here.log / "opensandbox.log",
        pid_file=here.run / "opensandbox.pid",
        port=here.ports.opensandbox,
        api_key=make_key(here.keys / "opensandbox.key").read_text(),
        network=here.network,
        execd_image=tags.execd,
        pids=GVISOR_PIDS if gvisor else pids,
        runtime=RUNSC if gvisor else "",
        tasks=here.tasks,
        trust=EgressFiles(here).mounts if enabled(here) else {},
        docker_host=wishes.docker_host or None,
        seccomp=seccomp.file_of(here),
    )


def providers_of(here: Installation, wishes: Wishes) -> Mapping[str, str]:
    """The model providers, kept in the home from one `up` to the next."""
    file = here.home / MODELS_FILE
    if wishes.providers:
        part = file.with_suffix(".part")
        part.write_bytes(orjson.dumps(dict(wishes.providers), option=orjson.OPT_INDENT_2))
        part.replace(file)
    return kept_providers(here)


def kept_providers(here: Installation) -> Mapping[str, str]:
    """The model providers that an earlier `up` was told. Raises: StepFailed."""
    file = here.home / MODELS_FILE
    if not file.exists():
        return {}
    try:
        return _PROVIDERS.validate_json(file.read_bytes())
    except ValidationError as error:
        raise StepFailed(
            "The model providers can't be read",
            why=f"{file} is not as `sandgate up --model` writes it",
            what_to_do="Remove the file, and name them again.",
        ) from error


def address_of(text: str) -> dict[str, str]:
    """A provider's `base_url`, and its `dialect` where the address says one: `openai+https://...`.

    Raises: ValueError when it is no such address.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no http(s) URL")
    return {name: part for name, part in found.groupdict().items() if part}


def runner_env(
    here: Installation, wishes: Wishes, tags: ImageTags, inherited: Mapping[str, str]
) -> dict[str, str]:
    """The runner's whole environment: `orchestrator.settings` of this installation. No secret is in it."""
    providers = {
        name: {"secret": name, **address_of(address)}
        for name, address in providers_of(here, wishes).items()
    }
    settings = {
        "NAME": here.name,
        "HOME": here.home,
        "VAULT_KEY_FILE": here.keys / "vault.key",
        "LOG__FOLDER": here.data("egress"),
        "LOG__KEY_FILE": make_log_key(here.keys / "log.key"),
        "LOG__SOCKET": here.run / "recorder.sock",
        "TRANSCRIPTS": here.home / "data" / "transcripts",
        "API__PORT": here.ports.runner,
        "API__TOKEN_FILE": make_key(here.keys / "api.token"),
        "API__METRICS_TOKEN_FILE": make_key(here.keys / "metrics.token"),
        "POLARION__URL": f"http://{LOOPBACK}:{here.ports.polarion}/polarion/rest/v1",
        "POLARION__TOKEN_FILE": polarion_token(here),
        "POLARION__EMBEDDED": "true",
        "POCKETBASE__URL": f"http://{LOOPBACK}:{here.ports.pocketbase}",
        "POCKETBASE__PASSWORD_FILE": here.keys / "pocketbase.password",
        "SANDBOXES__URL": f"http://{LOOPBACK}:{here.ports.opensandbox}",
        "SANDBOXES__API_KEY_FILE": make_key(here.keys / "opensandbox.key"),
        "SANDBOXES__DOCKER": wishes.docker_host,
        "SANDBOXES__IMAGES": orjson.dumps(dict(tags.by_harness)).decode(),
        "SANDBOXES__NETWORK": here.network,
        "SANDBOXES__BRIDGE": here.bridge,
        "SANDBOXES__SUBNET": here.subnet,
        "SANDBOXES__SECCOMP_FILE": seccomp.file_of(here),
        "SANDBOXES__RESOLV_CONF": opensandbox_server(here, wishes, tags).resolv_conf,
        "SANDBOXES__TASKS": here.tasks,
        **_egress(here),
        "ENTRANCE__HOST": here.gateway,
        "ENTRANCE__PORT": ENTRANCE_PORT,
        "MODELS__PROVIDERS": orjson.dumps(providers).decode(),
    }
    told = {**own_settings(here.home), **settings}
    return {**inherited, **{f"SANDGATE_{name}": str(value) for name, value in told.items()}}


def _egress(here: Installation) -> dict[str, object]:
    """Nothing where there is to be no egress proxy."""
    if not enabled(here):
        return {}
    files = EgressFiles(here)
    mounts = {str(file): place for file, place in files.mounts.items()}
    return {
        "EGRESS__POLICY_FILE": files.policy,
        "EGRESS__STATUS_FILE": files.status,
        "SANDBOXES__TRUST": orjson.dumps(mounts).decode(),
    }
