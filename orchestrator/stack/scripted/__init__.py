"""A model server that plays a scenario file instead of thinking (`docs/reference/scenario-file.md`).

From the bottom up:

- `entries`: what may stand in a file, as pydantic sees it; `actions`: which keys go together;
  `loading`: YAML to a `Scenario`, errors as sentences with line and step (`lines`); `turns`: steps to
  turns; `scenario`: what was loaded, as the rest sees it [pure].
- `request`: what a harness asks, in no provider's words; `summaries`: what it says when it shortens a
  conversation [pure].
- `checking`, `names`, `ids`: expectations on what came back, captured names, ids of calls [pure].
- `vocabulary`: the table of the harnesses' own tool names, `shapes`: what it is made of;
  `codex_tools`, `codex_script`: actions as Codex's commands, patches and scripts; `knowledge`: what is
  known of a file [pure].
- `answers`, `standing`, `playing`: request + scenario -> what to answer; nothing is remembered [pure].
- `dialects`: one module a provider's protocol; the seam is `dialects.Dialect` [pure].
- `served`: what went out, in tokens [pure]. `sending`, `counts`, `keys`, `server`: aiohttp around it.
"""

from orchestrator.stack.scripted.loading import ScenarioError, load, parse
from orchestrator.stack.scripted.scenario import Scenario
from orchestrator.stack.scripted.server import make_app, serve

__all__ = ["Scenario", "ScenarioError", "load", "make_app", "parse", "serve"]
