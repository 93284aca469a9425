"""Whether a sandbox can get out of its walls: as long as that isn't proven, no run starts.

- `probe`: what a probe is. `battery`: every probe there is. `wire`, `commit`: what some of them send.
- `judging`: from probes to orders for a sandbox, from what was found to results [pure].
- `report`: the report, the configuration that it is of, and what people accepted [pure].
- `signed`: what is signed with the installation's key, and how that is verified [pure].
- `gate`: why no run may start now: the quick probe of the network, and the battery's latest report.
- `proving`: runs the battery when it is due, and keeps what it found; `ports`: what that needs.
"""

from orchestrator.posture.gate import UNPROVEN, Finding, Posture

__all__ = ["UNPROVEN", "Finding", "Posture"]
