"""Repositories as people name them: by URL, or by the path of one on this machine."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.cli.codes import Code, CommandFailed
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
    host: str | None = None
    api: str = ""
    pull_requests: bool = True

    def granted(self, *, push: bool) -> dict[str, object]:
        """As the API takes it."""
        return {
            "url": self.url,
            "push": push,
            "credential": self.credential,
            "host": self.host,
            "api": self.api,
            "pull_requests": self.pull_requests,
        }


OPTIONS = "host=github|gitlab|gitea|plain, api=URL, pull-requests=no"
FORM = f"`URL`, `URL=SECRET`, or a local path; after a comma: {OPTIONS}"


def named(text: str) -> Named:
    """`URL`, `URL=SECRET`, or a path: a local repository is served by the installation's git host.

    After a URL and its secret there may be more of its host, as in `URL=SECRET,host=gitea`.

    Raises: StepFailed when there is no repository at the path; CommandFailed.
    """
    if text.startswith(("http://", "https://")):
        return _with_options(*text.split(","))
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


def _with_options(place: str, *options: str) -> Named:
    url, _, credential = place.partition("=")
    found = Named(url, credential or None)
    for option in options:
        match option.partition("="):
            case "host", "=", "github" | "gitlab" | "gitea" | "plain" as host:
                found = replace(found, host=host)
            case "api", "=", api if api:
                found = replace(found, api=api)
            case "pull-requests", "=", "yes" | "no" as word:
                found = replace(found, pull_requests=word == "yes")
            case _:
                raise CommandFailed(
                    f"{option!r} says nothing of a repository: {OPTIONS}", Code.USAGE
                )
    return found
