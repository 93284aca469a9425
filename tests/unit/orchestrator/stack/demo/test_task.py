"""The demo's task file and its scenario."""

from orchestrator.stack.demo.task import SCENARIO, load_demo
from orchestrator.stack.scripted.loading import load


def test_the_task_names_its_project_its_bug_and_how_to_run_the_tests() -> None:
    task = load_demo()
    assert task.project.file_name == "parse-1.12.0.tar.gz"
    assert task.reference in task.description
    assert task.tests in task.description


def test_the_scenario_can_be_played() -> None:
    assert [each.name for each in load(SCENARIO).conversations] == ["feedback", "fix"]
