"""Repositories as people name them: by URL, or by the path of one on this machine."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.cli.place import installation, runner
from orchestrator.settings import service_environment
from orchestrator.stack import local_git
from orchestrator.stack.steps import Step


@dataclass(frozen=True, slots=True)
class Named:
    """A repository's URL, and the vault's secret that opens it."""

    url: str
    credential: str | None
    served: str = ""
    """What was made of a path, as a sentence; empty for a URL."""


def named(text: str) -> Named:
    """`URL`, `URL=SECRET`, or a path: a local repository is served by the installation's git host.

    Raises: StepFailed when there is no repository at the path; CommandFailed.
    """
    if text.startswith(("http://", "https://")):
        url, _, credential = text.partition("=")
        return Named(url, credential or None)
    here = installation()
    url = local_git.publish(here, Path(text))
    local_git.service(here, service_environment()).ensure(Step("git host", lambda _: None))
    body = {
        "value": local_git.password(here).read_text(),
        "hosts": [local_git.base_url(here)],
        "kind": f"git:{local_git.USER}",
    }
    with runner() as api:
        api.put(f"/api/secrets/{local_git.SECRET}", body)
    served = f"{text} is served as {url}, with the secret {local_git.SECRET}; branches land in it"
    return Named(url, local_git.SECRET, served)
