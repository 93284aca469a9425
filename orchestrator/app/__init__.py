"""The composition root: settings become adapters, adapters become the runner and its two listeners.

- `parts`: what the runner and the door share, made from the settings.
- `world`: what the steps of runs work with.
- `keys`: keys of its own.
- `polarion`, `sandboxes`, `egress`: the adapters that need more than one line.
- `posture`: how the walls are proven, and who is told of it.
- `listeners`: the door for sandboxes, the API for people.
- `watching`: what others watch the runner by.
- `serving`: the order in which all of it starts and ends.
- `loop`: what it runs on.
"""

from orchestrator.app.loop import run
from orchestrator.app.serving import serve

__all__ = ["run", "serve"]
