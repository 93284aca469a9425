"""Look through the bytes of an object for what rules judge [pure]. Memory flat, whatever its size."""

from entrance.git.checks.scanners.scan import Scan, Seen

__all__ = ["Scan", "Seen"]
