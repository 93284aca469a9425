"""What the host itself says of the walls, so that one that fell behind another is seen [pure]."""

from orchestrator.posture.probe import Area, Probe, Wall

HOST: tuple[Probe, ...] = (
    Probe(
        "firewall-whole", Area.HOST, Wall.FIREWALL, "The firewall's table stands as it was made.",
        "firewall", expected=("whole",), who="host",
    ),
    Probe(
        "bridge-whole", Area.HOST, Wall.BRIDGE,
        "The network is internal, keeps its sandboxes apart, and has no IPv6.",
        "bridge", expected=("whole",), who="host",
    ),
    Probe(
        "bridge-filtered", Area.HOST, Wall.BRIDGE, "What passes between sandboxes passes the firewall.",
        "bridge_filtered", expected=("yes",), who="host",
    ),
    Probe(
        "container-whole", Area.HOST, Wall.MOUNTS, "The engine made the sandbox exactly as asked.",
        "container", expected=("whole",), who="host",
    ),
    Probe(
        "engine-log", Area.HOST, Wall.EXECD,
        "After all this the engine's log of the sandbox is empty: nothing was written past a quota.",
        "engine_log", expected=("empty",), who="host",
    ),
    Probe(
        "canaries-count", Area.HOST, Wall.FIREWALL,
        "Every canary counts who comes; else that nobody came would show nothing.",
        "canaries", expected=("all",), who="host",
    ),
    Probe(
        "canaries-quiet", Area.HOST, Wall.FIREWALL,
        "Nobody came to a canary from the sandboxes' network but those that a probe sent.",
        "strangers", expected=("none",), who="host",
    ),
)  # fmt: skip
