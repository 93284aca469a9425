"""The `sandgate` command.

- `machine`: up, down, status, doctor, demo: the installation on this machine.
- `team`: agent create, hire, task create, secret set and ls.
- `run`: ls, show, watch, cancel, transcript.
- `model`: serve: the scripted model.
- `demo`, `demo_summary`: the demo and what it came to.
- `client`: how the commands talk to the runner. `screen`: how things look. `codes`: exit codes.
"""

from orchestrator.cli.main import main

__all__ = ["main"]
