"""After a whole run no secret lies anywhere in the installation but where it is kept."""

import base64
import json
import stat
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container

from entrance.vault.forms import forms_of
from tests.e2e.escape.agent import Agent
from tests.e2e.escape.hunt import key_files, secret_parts
from tests.e2e.house import House
from tests.servers.githosts.github import app_key

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]

SERVERS_OWN = "data/opensandbox/server.toml"
"""The OpenSandbox server takes its API key from its settings file only."""
PLANTED = "a-canary-that-is-found-0123456789"


def forms(secret: bytes) -> set[bytes]:
    """Every form in which it may lie about; raw bytes that are no text only packed."""
    if secret.isascii():
        return set(forms_of(secret.decode()))
    return {secret.hex().encode(), base64.b64encode(secret).rstrip(b"=")}


def lying_about(folder: Path, secrets: Mapping[str, bytes], scratch: Path) -> dict[str, set[str]]:
    """Which secrets lie in which files below a folder: database pages, logs, whole disk images."""
    found: dict[str, set[str]] = {}
    for name, secret in secrets.items():
        patterns = scratch / "patterns"
        patterns.write_bytes(b"\n".join(sorted(forms(secret))) + b"\n")
        # Lines end at NUL: the empty parts of a disk image would be one line of gigabytes.
        done = subprocess.run(
            ["grep", "-rlazF", "--devices=skip", "-f", patterns, folder],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, timeout=200,
        )  # fmt: skip
        patterns.unlink()
        for file in done.stdout.splitlines():
            found.setdefault(str(Path(file).relative_to(folder)), set()).add(name)
    return found


def in_text(text: str, secrets: Mapping[str, bytes]) -> list[str]:
    """The names of the secrets that a text shows."""
    return [
        name
        for name, secret in secrets.items()
        if any(form.decode() in text for form in forms(secret))
    ]


def inspected(containers: Iterable[Container]) -> str:
    return json.dumps([container.attrs for container in containers])


def test_no_secret_lies_anywhere_but_in_the_key_folder(
    leaver: Callable[[], Agent], hired: House, engine: docker.DockerClient, tmp_path: Path
) -> None:
    """Keys, passwords and tokens are in no file, log, event, transcript, database page or disk image.

    Nor in what the engine keeps of a container, but for one: its own execd's token is in the
    environment that it was made with, which only the host can see. A run's token is dead after it;
    it may lie on the task's own disk if its agent puts it there, and does not if it doesn't.
    """
    home, app = hired.here.home, app_key()[0]
    kind = {"hosts": ["github.com"], "kind": "github-app:1"}
    hired.runner.put("/api/secrets/hub", {"value": app, **kind})
    agent = leaver()
    label: dict[str, str | list[str] | bool] = {"label": f"sandgate.installation={hired.here.name}"}
    own = {"its execd": agent.execd_token.encode(), "its run token": agent.run_token.encode()}
    kept = {
        **key_files(hired.here.keys),
        **{f"the App's {number}": line for number, line in enumerate(secret_parts(app.encode()))},
    }
    containers = engine.containers.list(filters=label)
    assert in_text(inspected(containers), {**kept, "token": own["its run token"]}) == []
    logs = "".join(one.logs().decode(errors="replace") for one in containers)
    assert in_text(logs, {**kept, **own}) == []
    agent.end()
    planted = home / "data" / "planted"
    planted.write_text(f"x{PLANTED}x")
    try:
        found = lying_about(home, {**kept, **own, "canary": PLANTED.encode()}, tmp_path)
    finally:
        planted.unlink()
    assert found.pop("data/planted") == {"canary"}
    assert found.pop(SERVERS_OWN) == {"opensandbox.key"}
    assert stat.S_IMODE((home / SERVERS_OWN).stat().st_mode) == 0o600
    elsewhere = {file: names for file, names in found.items() if not file.startswith("keys/")}
    assert elsewhere == {}
    assert found.keys() >= {"keys/model.key", "keys/api.token"}
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in hired.here.keys.iterdir()}
    assert set(modes.values()) == {0o600}, modes
