"""Sandboxes of MCP servers that are run over stdio: one a run and connection, with walls like an agent's.

- `names`: what their sandboxes and disks are called [pure].
- `ports`: what they need: the egress proxy's policy, disks that were left.
- `register`: which there are, and whose each address is.
- `making`: one of them: made, and ended.
- `boxes`: all of them: started when they are needed, ended with their run, and swept after a crash.
"""

from orchestrator.server_sandboxes.boxes import Boxes
from orchestrator.server_sandboxes.making import Means
from orchestrator.server_sandboxes.register import Register

__all__ = ["Boxes", "Means", "Register"]
"""The way in: `Boxes` is what the door and the runner's steps use."""
