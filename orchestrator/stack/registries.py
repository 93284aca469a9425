"""Which package registries this machine uses: asked of its own tools, and of what their indexes answer.

No host is written down here: a preset for a registry works wherever the machine's own package managers do.
"""

from pathlib import Path


def registries_file(home: Path) -> Path:
    """Where what was found is kept."""
    return home / "egress" / "registries.json"
