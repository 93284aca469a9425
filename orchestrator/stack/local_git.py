"""The installation's own git host: the demo's repository, and local ones that a user names by path."""

import hashlib
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from orchestrator.stack.installation import Installation
from orchestrator.stack.keys import keep, make_key
from orchestrator.stack.process import answers_http
from orchestrator.stack.services import LOOPBACK, Service, of_the_stack, python_program
from orchestrator.stack.steps import StepFailed

USER = "sandgate"
SECRET = "githost"  # noqa: S105 - the secret's name in the vault
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def service(here: Installation, env: Mapping[str, str]) -> Service:
    """The git host; each request must carry its credential."""
    credential = keep(here.keys / "githost.credential", f"{USER}:{password(here).read_text()}")
    port = here.ports.githost
    arguments = (
        f"--root={here.data('githost')}",
        f"--port={port}",
        f"--credential-file={credential}",
    )
    program = python_program(here, "githost", ("-m", "orchestrator.stack.githost", *arguments), env)
    return Service(program, port, lambda: answers_http(LOOPBACK, port, "/healthz"), of_the_stack())


def in_use(here: Installation) -> bool:
    """Say whether it serves anything: then it belongs to what `up` brings up."""
    return here.data("githost").is_dir()


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
    path = path.expanduser().resolve()
    git = _git_folder(path)
    # The hash keeps two repositories of one name apart; the name keeps the URL readable.
    mark = hashlib.sha256(os.fsencode(git)).hexdigest()[:8]
    stem = _UNFIT.sub("-", path.name.removesuffix(".git")).strip("-.") or "repository"
    link = here.data("githost") / "local" / mark / f"{stem}.git"
    link.parent.mkdir(parents=True, exist_ok=True)
    aside = link.with_name(f".{secrets.token_hex(8)}")
    aside.symlink_to(git, target_is_directory=True)
    aside.replace(link)  # whatever lay there, it is never followed
    return f"{base_url(here)}/local/{mark}/{stem}.git"


def _git_folder(path: Path) -> Path:
    """The repository itself, with every link on the way to it followed."""
    for folder in ((path / ".git").resolve(), path):
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            return folder
    raise StepFailed(
        f"{path} is no git repository",
        why="there is nothing" if not path.exists() else "neither it nor its .git holds one",
        what_to_do="Give an http(s) URL, or the path of a clone or a bare repository.",
    )
