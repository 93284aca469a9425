"""Polarion's REST API for the rest of us: a thin, typed client.

- `resources`: what answers mean [pure]; `answers`: what a status and an error body mean [pure].
- `address`: encodes every path segment once [pure].
- `transport`: one request, what may be tried again; `paging`: lists by `links.next`.
- `locks`: one writer an item, since Polarion has no versions.
- `items`, `threads`, `people`: the API by noun; `client` puts them behind one object.

And what is built on the client:

- `tracker`, `hiring`: the runner's ports; `reading`, `recording`: work items as what they mean to us,
  and back [pure]; `query`: queries made from values [pure]; `richtext`: rich texts as plain ones [pure].
- `tools`: the agents' own connection; `toolbox`: its tools as agents see them [pure]; `call`, `working`,
  `handing`: what they do; `showing`: what agents get to read [pure].
"""

from orchestrator.adapters.polarion.answers import Rejected
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.locks import KeyedLocks
from orchestrator.adapters.polarion.resources import (
    Attachment,
    Comment,
    Link,
    NewItem,
    Project,
    Text,
    User,
    WorkItem,
)
from orchestrator.adapters.polarion.transport import Authorize, Patience

__all__ = [
    "Attachment",
    "Authorize",
    "Comment",
    "KeyedLocks",
    "Link",
    "NewItem",
    "Patience",
    "PolarionClient",
    "Project",
    "Rejected",
    "Text",
    "User",
    "WorkItem",
]
