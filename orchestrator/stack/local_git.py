"""The installation's own git host: the demo's repository, and local ones that a user names by path."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from orchestrator.stack.installation import Installation
from orchestrator.stack.keys import make_key
from orchestrator.stack.process import answers_http
from orchestrator.stack.services import LOOPBACK, Service, python_program
from orchestrator.stack.steps import StepFailed

USER = "sandgate"
SECRET = "githost"  # noqa: S105 - the secret's name in the vault


def service(here: Installation, env: Mapping[str, str]) -> Service:
    """The git host; each request must carry its credential."""
    credential = here.keys / "githost.credential"
    credential.touch(mode=0o600)
    credential.write_text(f"{USER}:{password(here).read_text()}")
    port = here.ports.githost
    arguments = (
        f"--root={here.data('githost')}",
        f"--port={port}",
        f"--credential-file={credential}",
    )
    program = python_program(here, "githost", ("-m", "orchestrator.stack.githost", *arguments), env)
    return Service(program, port, lambda: answers_http(LOOPBACK, port, "/healthz"))


def base_url(here: Installation) -> str:
    """Where it is."""
    return f"http://{LOOPBACK}:{here.ports.githost}"


def password(here: Installation) -> Path:
    """The file with its password, for the vault."""
    return make_key(here.keys / "githost.password")


def publish(here: Installation, path: Path) -> str:
    """Serve a local repository where it lies; returns its URL. Pushed branches land in it.

    Raises: StepFailed when there is no repository at the path.
    """
    git = _git_folder(path.resolve())
    # The hash keeps two repositories of one name apart; the name keeps the URL readable.
    mark = hashlib.sha256(str(git).encode()).hexdigest()[:8]
    stem = (path.resolve().name.removesuffix(".git") or "repository").replace(" ", "-")
    link = here.data("githost") / "local" / mark / f"{stem}.git"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(git, target_is_directory=True)
    return f"{base_url(here)}/local/{mark}/{stem}.git"


def _git_folder(path: Path) -> Path:
    for folder in (path / ".git", path):
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            return folder
    raise StepFailed(
        f"{path} is no git repository",
        why="neither it nor its .git holds one",
        what_to_do="Give an http(s) URL, or the path of a clone or a bare repository.",
    )
