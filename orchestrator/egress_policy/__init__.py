"""The egress policy of all sandboxes, for the proxy: written anew whenever anything of it may have changed.

- `ports`: what it needs: what the installation says, and the proxy's files.
- `entries`: what it says of one sandbox [pure].
- `delivery`: into the proxy's file, and from there into force.
- `policy`: when it is made anew, and out of what.
- `servers`: what the sandboxes of MCP servers may reach.
"""

from orchestrator.egress_policy.entries import canaries_for
from orchestrator.egress_policy.policy import EgressPolicy
from orchestrator.egress_policy.ports import ProxyFiles, Sources
from orchestrator.egress_policy.servers import ServerPolicies

__all__ = ["EgressPolicy", "ProxyFiles", "ServerPolicies", "Sources", "canaries_for"]
