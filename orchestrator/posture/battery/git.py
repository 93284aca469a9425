"""Pushes and fetches that the door must refuse, against a git host that counts [pure].

Each probe has a repository of its own there, named like itself; all of them are granted with push.
"""

from collections.abc import Callable

from orchestrator.posture.commit import commit_of
from orchestrator.posture.probe import Area, Arguments, Probe, Stage, Wall
from orchestrator.posture.wire import ONE, OTHER, UPLOAD, ZERO, bearer, push, request

OWN = "git-own-branch"
ALIAS = "git-alias"
"""At the canary, the branch `alias` of this repository is another name of main."""
REDIRECT = "git-redirect"
"""Whatever is asked of this repository, the canary sends on to another canary."""
READ_ONLY = "git-read-only"
"""Granted for fetching only."""
NOT_GRANTED = "git-not-granted"
_G = Area.GIT


def door_name(stage: Stage, probe: str) -> str:
    """A probe's repository, as the door names it."""
    return f"127.0.0.1:{stage.place.git_canary}/{probe}.git"


def _pushed(name: str, *refs: str, old: str = ZERO, new: str = "") -> Callable[[Stage], Arguments]:
    """A commit with which nothing is wrong: it is its ref for which it is refused."""

    def arguments(stage: Stage) -> Arguments:
        named = [ref.replace("<item>", stage.item) for ref in refs]
        commit, pack = commit_of(stage.run, stage.task)
        updates = [(old, new or commit, ref) for ref in named]
        repository, token = door_name(stage, name), stage.tokens.own
        text = push(repository, token, updates, pack.decode("latin-1"))
        return [stage.place.gateway, stage.place.door, text, named[-1]]

    return arguments


def _refused(
    name: str,
    promise: str,
    *refs: str,
    old: str = ZERO,
    new: str = "",
    others: tuple[str, ...] = (),
) -> Probe:
    return Probe(
        name, _G, Wall.REFS, promise, "pushes", _pushed(name, *refs, old=old, new=new),
        ("refused", *others), canary=0,
    )  # fmt: skip


PUSHES: tuple[Probe, ...] = (
    Probe(
        OWN, _G, Wall.REFS,
        "A run pushes to its own task's branches; else the other pushes would show nothing.",
        "pushes", _pushed(OWN, "refs/heads/agent/<item>/work"), ("accepted",), canary=1,
    ),
    _refused("git-main", "No push to the main branch.", "refs/heads/main"),
    _refused("git-main-moved", "Nor over what it has.", "refs/heads/main", old=OTHER),
    _refused("git-tag", "No tag is pushed.", "refs/tags/agent/x"),
    _refused("git-notes", "No notes are pushed.", "refs/notes/commits"),
    _refused("git-replace", "No object is replaced.", f"refs/replace/{ONE}"),
    _refused("git-host-ref", "No ref of the host's own is pushed.", "refs/pull/1/head"),
    _refused("git-head", "HEAD is no branch.", "HEAD"),
    _refused("git-other-branch", "No branch of somebody else is pushed.", "refs/heads/feature"),
    _refused("git-other-task", "No branch of another task is pushed.", "refs/heads/agent/OTHER-1/work"),
    _refused("git-longer-task", "Nor of a task whose name begins alike.", "refs/heads/agent/<item>0/work"),
    _refused("git-other-case", "Nor one that is written otherwise.", "refs/heads/Agent/<item>/work"),
    _refused("git-namespace", "The namespace itself is no branch.", "refs/heads/agent/<item>"),
    _refused("git-climbing", "No path in a branch climbs.", "refs/heads/agent/<item>/../../main"),
    _refused("git-option", "No branch is an option of git's.", "refs/heads/agent/<item>/--upload-pack=x"),
    _refused("git-delete", "No branch is deleted.", "refs/heads/agent/<item>/work", old=ONE, new=ZERO),
    _refused(
        ALIAS, "A branch that is another name of main is not pushed.",
        "refs/heads/agent/<item>/alias", old=OTHER,
    ),
    _refused(
        "git-second-ref", "One bad branch refuses all that come with it.",
        "refs/heads/agent/<item>/good", "refs/heads/main",
    ),
    Probe(
        READ_ONLY, _G, Wall.GRANTS, "A repository that was granted for fetching takes no push.",
        "pushes", _pushed(READ_ONLY, "refs/heads/agent/<item>/work"), ("403", "refused"), canary=0,
    ),
)  # fmt: skip


def _fetched(
    name: str, *paths: str, method: str = "GET", body: str = ""
) -> Callable[[Stage], Arguments]:
    def arguments(stage: Stage) -> Arguments:
        folder, own = f"/git/{door_name(stage, name)}", bearer(stage.tokens.own)
        asked = [request(f"{method} {folder}/{path}", own, UPLOAD, body=body) for path in paths]
        return [stage.place.gateway, stage.place.door, *asked]

    return arguments


FETCHES: tuple[Probe, ...] = (
    Probe(
        NOT_GRANTED, _G, Wall.GRANTS, "A repository that wasn't granted isn't asked for.",
        "asks_each", _fetched(NOT_GRANTED, "info/refs?service=git-upload-pack", "git-upload-pack"),
        ("403",), canary=0,
    ),
    Probe(
        "git-files", _G, Wall.ROUTES, "No file of a granted repository's folder is served, and no LFS.",
        "asks_each",
        _fetched("git-files", "HEAD", "config", "objects/info/packs", "info/refs", "info/lfs/objects/batch"),
        ("403",), canary=0,
    ),
    Probe(
        REDIRECT, _G, Wall.UPSTREAM, "A host that sends the door elsewhere isn't followed.",
        "asks_each", _fetched(REDIRECT, "info/refs?service=git-upload-pack"), ("502",), canary=1,
    ),
    Probe(
        "git-get-body", _G, Wall.FRAMING, "The body of a GET doesn't go on.",
        "asks_each",
        _fetched("git-get-body", "info/refs?service=git-upload-pack", body="GET /hidden HTTP/1.1\r\n\r\n"),
        ("200", "400"), canary=0,
    ),
)  # fmt: skip
GIT = (*PUSHES, *FETCHES)
GRANTED = tuple(probe.name for probe in GIT if probe.name != NOT_GRANTED)
"""The probes that have a repository."""
