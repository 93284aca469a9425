"""The composition root: settings become adapters, adapters become the runner and its two listeners.

- `parts`: what the runner and the door share, made from the settings.
- `polarion`, `sandboxes`: the adapters that need more than one line.
- `listeners`: the door for sandboxes, the API for people.
- `watching`: what others watch the runner by.
- `serving`: the order in which all of it starts and ends.
- `loop`: what it runs on.
"""

from orchestrator.app.loop import run
from orchestrator.app.serving import serve

__all__ = ["run", "serve"]
