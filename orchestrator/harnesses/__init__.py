"""One adapter a harness: how to start it in a sandbox, and how to read what it says.

A further one is one file here, one row in `HARNESSES`, and one test; `lines` helps to read.
"""

from collections.abc import Mapping

from orchestrator.harnesses.claude_code import ClaudeCode
from orchestrator.harnesses.codex import Codex
from orchestrator.harnesses.native import Native
from orchestrator.ports import Harness

HARNESSES: Mapping[str, Harness] = {
    harness.name: harness for harness in (Native(), ClaudeCode(), Codex())
}
"""By the name that an agent's `harness` field has."""
