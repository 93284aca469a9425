"""What an engagement's grants mean for one run at the door [pure]."""

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from urllib.parse import urlsplit

from entrance.push_policy import PushPolicy
from entrance.session import Authorship, Envelope, RepoGrant, RunId, Session
from entrance.tool_policy import ConnectionRules, Mode, ToolRule
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.egress_compile import Layer
from orchestrator.domain.hosting import hosting_of
from orchestrator.domain.run import Run
from orchestrator.domain.task import Task
from orchestrator.domain.team import Agent, Engagement, Grants, Repository

_ODD = re.compile(r"[\x00-\x20\x7f-\xa0\\]")


def door_name(url: str) -> str:
    """A repository's name at the door: its URL without the scheme, `host[:port]/path`.

    Raises: ValueError when it is no http(s) URL, carries credentials, a query or a fragment, or
    could name another place than it shows.
    """
    parts = urlsplit(url)
    if "@" in parts.netloc or parts.query or parts.fragment:  # first: it may hold a secret
        raise ValueError("a repository's URL carries no user, query or fragment; use `credential`")
    if _ODD.search(url) or {".", ".."} & set(parts.path.split("/")):
        raise ValueError(
            f"{url!r}: a repository's URL has no blanks, control bytes or dot segments"
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname or not parts.path.strip("/"):
        raise ValueError(f"{url!r} is not the http(s) URL of a repository")
    return f"{parts.netloc.lower()}/{parts.path.strip('/')}"


def grant_for(grants: Grants, url: str) -> Repository | None:
    """The grant that covers a repository, or None. A trailing slash makes no difference."""
    return next((r for r in grants.repositories if r.url.rstrip("/") == url.rstrip("/")), None)


def folder_of(url: str) -> str:
    """The folder below /workspace that a repository is cloned into."""
    return urlsplit(url).path.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git") or "repository"


def budget_of(engagement: Engagement, run_limit_usd: Decimal) -> Decimal:
    """What one run may spend: what is left of the engagement, but no more than a run's limit."""
    return min(engagement.left_usd, run_limit_usd)


def lent(lender: Run | None) -> tuple[Envelope, ...]:
    """What a run may draw on besides that was delegated by another: all that that one had to spend.

    And so on up: whoever delegated to the lender lends here too.
    """
    if lender is None:
        return ()
    further = lender.session.envelopes if lender.session else ()
    own = Envelope("run", lender.id, lender.budget_usd)
    return (own, *(envelope for envelope in further if envelope.kind == "run"))


SELF_SERVICE = {"polarion": frozenset({"request_access", "wait_for_decision", "list_my_tools"})}
"""Tools that every run has which has any: asking opens nothing."""


def with_own(tools: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """What was granted, and what every run has.

    Where nothing was granted there is nothing: such a run can't be ended, and must not begin to work.
    """
    if not any(tools.values()):
        return {}
    names = tools.keys() | SELF_SERVICE.keys()
    nothing: frozenset[str] = frozenset()
    return {name: tools.get(name, nothing) | SELF_SERVICE.get(name, nothing) for name in names}


ENDING = frozenset({"submit_for_approval", "ask_questions", "delegate", "wait_for_decision"})
"""Tools of `polarion` by which a run is ended: who names others there leaves these as they are."""


def rules_with_own(rules: Mapping[str, ConnectionRules]) -> dict[str, ConnectionRules]:
    """The same of what is more than a list; what was said of a tool stands."""
    own = {name: ToolRule() for name in (*ENDING, *SELF_SERVICE["polarion"])}
    return {
        name: replace(one, tools={**own, **one.tools}) if name == "polarion" else one
        for name, one in rules.items()
    }


def named_tools(rules: Mapping[str, ConnectionRules]) -> dict[str, frozenset[str]]:
    """The tools that are named at connections of which more is said than a list."""
    return {
        name: frozenset(t for t, rule in one.tools.items() if rule.mode is not Mode.FORBIDDEN)
        for name, one in rules.items()
    }


def session_for(
    run: Run,
    task: Task,
    engagement: Engagement,
    *,
    address: str,
    token_sha256: str,
    sandbox: str = "",
    image: str = "",
    authorship: Authorship | None = None,
    lender: Run | None = None,
    honeytokens: tuple[RunId, ...] = (),
    push_policy: PushPolicy | None = None,
) -> Session:
    """The session that the run's token will mean. Push is open only in the task's own repository."""
    rules = rules_with_own(engagement.grants.tool_rules)
    return Session(
        run=run.id,
        task=run.task,
        project=run.project,
        agent=run.agent,
        address=address,
        token_sha256=token_sha256,
        tools={**with_own({**engagement.grants.tools, **named_tools(rules)}), **named_tools(rules)},
        tool_rules=rules,
        repositories=tuple(
            opened(repository, run.id, task) for repository in engagement.grants.repositories
        ),
        models=frozenset({run.model}) & engagement.grants.models,
        budget_usd=run.budget_usd,
        envelopes=(
            Envelope("engagement", engagement.id, engagement.budget_usd),
            *lent(lender),
        ),
        honeytokens=honeytokens,
        sandbox=sandbox,
        harness=run.harness,
        image=image,
        authorship=authorship,
        continues=task.continues,
        push_policy=push_policy or PushPolicy(),
        unpriced_models=engagement.grants.unpriced_models,
    )


def opened(repository: Repository, run: RunId, task: Task) -> RepoGrant:
    """What a repository of the grants is to a run: push is open only in the task's own."""
    hosting = hosting_of(repository)
    return RepoGrant(
        name=door_name(repository.url),
        url=repository.url,
        push=repository.push and repository.url.rstrip("/") == task.repository.rstrip("/"),
        credential=repository.credential,
        host=hosting.kind,
        api=hosting.api,
        full_name=hosting.full_name,
        pull_requests=repository.pull_requests,
        run=run,
    )


def egress_of(agent: Agent, engagement: Engagement) -> tuple[Layer, ...] | Unreadable:
    """What the two say of the internet; unreadable as soon as one of them is."""
    layers = []
    for name, policy in (("agent", agent.egress), ("engagement", engagement.egress)):
        if isinstance(policy, Unreadable):
            return policy
        layers.append(Layer(name, policy))
    return tuple(layers)


def after_handover(session: Session) -> Session:
    """What is left of a session once the agent has handed over: what is reviewed stays as it was."""
    closed = tuple(replace(grant, push=False) for grant in session.repositories)
    return replace(session, repositories=closed)
