"""The battery: every probe there is, in the order in which reports show them.

- `network`, `names`: ways out by the network, and to names. `kernel`: calls, sockets, rights.
- `inside`, `limits`: processes, files, limits. `door`, `framing`, `git`: the entrance.
- `egress`, `egress_framing`: the egress proxy, where there is one. `host`: what the host says.
"""

from orchestrator.posture.battery.door import DOOR
from orchestrator.posture.battery.egress import EGRESS
from orchestrator.posture.battery.egress_framing import EGRESS_FRAMING
from orchestrator.posture.battery.framing import SMUGGLING
from orchestrator.posture.battery.git import GIT
from orchestrator.posture.battery.host import HOST
from orchestrator.posture.battery.inside import FILES, PROCESSES
from orchestrator.posture.battery.kernel import KERNEL
from orchestrator.posture.battery.limits import LIMITS
from orchestrator.posture.battery.names import NAMES
from orchestrator.posture.battery.network import NETWORK
from orchestrator.posture.probe import Probe

BATTERY: tuple[Probe, ...] = (
    *NETWORK, *NAMES, *KERNEL, *PROCESSES, *FILES, *LIMITS,
    *DOOR, *SMUGGLING, *GIT, *EGRESS, *EGRESS_FRAMING, *HOST,
)  # fmt: skip

__all__ = ["BATTERY"]
