"""The battery: every probe there is, in the order in which reports show them.

- `network`: ways out by the network, and to names. `kernel`: calls, sockets, rights.
- `inside`: processes, files, limits. `door`, `git`: the entrance.
- `egress`: the egress proxy, where there is one. `host`: what the host says.
"""

from orchestrator.posture.battery.door import DOOR
from orchestrator.posture.battery.egress import EGRESS
from orchestrator.posture.battery.git import GIT
from orchestrator.posture.battery.host import HOST
from orchestrator.posture.battery.inside import FILES, LIMITS, PROCESSES
from orchestrator.posture.battery.kernel import KERNEL
from orchestrator.posture.battery.network import NAMES, NETWORK
from orchestrator.posture.probe import Probe

BATTERY: tuple[Probe, ...] = (
    *NETWORK, *NAMES, *KERNEL, *PROCESSES, *FILES, *LIMITS, *DOOR, *GIT, *EGRESS, *HOST,
)  # fmt: skip

__all__ = ["BATTERY"]
