"""The client as others use it: one Polarion, seen by one user."""

import aiohttp

from orchestrator.adapters.polarion.address import Address
from orchestrator.adapters.polarion.items import Items
from orchestrator.adapters.polarion.locks import KeyedLocks
from orchestrator.adapters.polarion.people import Projects, Users
from orchestrator.adapters.polarion.threads import Attachments, Comments, Links
from orchestrator.adapters.polarion.transport import Authorize, Patience, Transport


class PolarionClient:
    """Polarion's REST API by noun: `items`, `comments`, `links`, `attachments`, `users`, `projects`.

    `base_url` ends in `/polarion/rest/v1`. `authorize` gives the headers of each single request.
    Clients that write to the same items must share `locks`: Polarion itself doesn't serialise.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        authorize: Authorize,
        *,
        patience: Patience | None = None,
        locks: KeyedLocks | None = None,
    ) -> None:
        api = Transport(session, authorize, patience or Patience())
        address = Address(base_url)
        shared = locks or KeyedLocks()
        self.items = Items(api, address, shared)
        self.comments = Comments(api, address, shared)
        self.links = Links(api, address, shared)
        self.attachments = Attachments(api, address, shared)
        self.users = Users(api, address, shared)
        self.projects = Projects(api, address)
