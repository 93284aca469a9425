"""The data model's pages: what they hold, and what is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from polarion_app.config import load

PAGES = Path(__file__).parents[3] / "polarion_app" / "config"


def test_every_type_of_the_product_is_there() -> None:
    """Agents, skills and connections live in the pool; everything else in work projects."""
    types = load().types
    pool = {one.id for one in types.values() if one.projects == "agent_pool"}
    assert pool == {"agent", "skill", "mcpConnection"}
    assert set(types) - pool == {"engagement", "task", "agentRun", "memory"}


@pytest.mark.parametrize(
    ("action", "sources", "target"),
    [
        ("start", {"open", "sent_back", "answered", "failed"}, "in_progress"),
        ("submit", {"in_progress"}, "in_review"),
        ("ask", {"in_progress"}, "waiting_input"),
        ("wait", {"in_progress"}, "waiting_input"),
        ("fail", {"open", "sent_back", "answered", "in_progress", "waiting_input"}, "failed"),
        ("approve", {"in_review"}, "done"),
        ("send_back", {"in_review"}, "sent_back"),
        ("answer", {"waiting_input"}, "answered"),
        ("retry", {"failed"}, "open"),
        ("reopen", {"done"}, "open"),
        ("resume", {"waiting_input"}, "in_progress"),
    ],
)
def test_a_task_moves_by_the_contract(action: str, sources: set[str], target: str) -> None:
    """The runner and the tools rely on exactly these."""
    found = load().types["task"].action(action)
    assert found is not None
    assert (set(found.sources), found.target) == (sources, target)


def test_an_action_is_also_found_by_its_number() -> None:
    """Polarion accepts both; the number is the place on the page."""
    task = load().types["task"]
    assert task.action("1") == task.action("start")
    assert task.action("99") is None


@pytest.mark.parametrize(
    ("type_id", "fields"),
    [
        ("agent", {"botUser", "harness", "model", "instructions"}),
        ("engagement", {"agentBot", "supervisor", "budget", "spent", "grants"}),
        ("task", {"repository", "baseBranch"}),
        (
            "agentRun",
            {"outcome", "cause", "trigger", "cost", "ledger", "evidence", "startedAt", "endedAt"},
        ),
    ],
)
def test_types_have_their_fields_and_the_shared_ones(type_id: str, fields: set[str]) -> None:
    assert fields | {"aiGenerated", "runKey"} <= set(load().fields_of(type_id))


def test_no_action_of_people_is_open_to_bots() -> None:
    """Approving, sending back and answering name roles, and none of those is an agent's."""
    model = load()
    for type_id, action_id in (
        ("task", "approve"),
        ("task", "answer"),
        ("skill", "approve"),
        ("memory", "accept"),
    ):
        action = model.types[type_id].action(action_id)
        assert action is not None
        assert action.roles
        assert not {"agent", "agent_reader"} & set(action.roles)
    assert not model.roles["agent"].sets_status
    assert "DELETE" not in model.roles["agent"].verbs


@pytest.mark.parametrize(
    ("page", "change", "message"),
    [
        ("types/task.yaml", lambda p: p["actions"][0].update(target="nowhere"), "unknown statuses"),
        ("types/task.yaml", lambda p: p["statuses"][1].update(initial=True), "exactly one status"),
        ("types/task.yaml", lambda p: p["fields"].append(p["fields"][0]), "there twice"),
        ("types/task.yaml", lambda p: p.update(colour="red"), "Extra inputs"),
        ("types/agent.yaml", lambda p: p["fields"][1].update(enumeration="none"), "does not exist"),
        ("types/agent.yaml", lambda p: p["fields"][0].update(enumeration="harness"), "only there"),
        ("types/task.yaml", lambda p: p["actions"][5].update(roles=["emperor"]), "does not exist"),
        ("link_roles.yaml", lambda p: p[0].update(targets=["nothing"]), "does not exist"),
        ("link_roles.yaml", lambda p: p.append(p[0]), "there twice"),
    ],
)
def test_a_page_that_does_not_fit_is_refused(
    tmp_path: Path, page: str, change: Callable[[object], None], message: str
) -> None:
    """The message says which and why, so that nobody serves half a model."""
    folder = tmp_path / "config"
    shutil.copytree(PAGES, folder)
    content = yaml.safe_load((folder / page).read_text())
    change(content)
    (folder / page).write_text(yaml.safe_dump(content))
    with pytest.raises(ValueError, match=message):
        load(folder)


def test_broken_yaml_names_its_page(tmp_path: Path) -> None:
    folder = tmp_path / "config"
    shutil.copytree(PAGES, folder)
    (folder / "roles.yaml").write_text("[")
    with pytest.raises(ValueError, match=r"roles\.yaml is not readable YAML"):
        load(folder)
