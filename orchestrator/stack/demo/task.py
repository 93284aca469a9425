"""The demo's task as it stands in `demo.yaml`."""

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints

from orchestrator.stack.demo.source_archive import SourceArchive

HERE = Path(__file__).parent
SCENARIO = HERE / "scenario.yaml"
"""What the scripted model plays in the demo."""

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class DemoTask(BaseModel):
    """A task on a project that comes from a source archive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    project: SourceArchive
    repository: Text
    """Where the project's repository lies below the git host's root."""
    base: Text
    reference: Text
    """Where the bug is publicly known."""
    tests: Text
    """The command that runs the project's tests in a sandbox."""
    title: Text
    description: Text


def load_demo(path: Path = HERE / "demo.yaml") -> DemoTask:
    """Read the task. Raises: pydantic.ValidationError, yaml.YAMLError, OSError."""
    return DemoTask.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
