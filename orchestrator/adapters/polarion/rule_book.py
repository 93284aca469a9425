"""`orchestrator.approvals.rule_record.RuleBook` on Polarion: a field of each engagement."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.resources import Text
from orchestrator.adapters.polarion.richtext import plain, rich
from orchestrator.domain.rule_record import OnRecord

FIELD = "standingRules"
FIELDS = ("agentBot", FIELD)


@dataclass(frozen=True, slots=True)
class PolarionRuleBook:
    """Acts as the runner's service user. Engagements that are over count: who is hired again goes on."""

    client: PolarionClient

    async def recorded(self) -> Sequence[OnRecord]:
        query = matching({"type": "engagement"})
        return [
            OnRecord(
                item.id,
                item.project,
                str(item.custom.get("agentBot") or ""),
                plain(rich(item.custom, FIELD)),
            )
            async for item in self.client.items.query(query, fields=FIELDS)
        ]

    async def write(self, engagement: str, text: str) -> None:
        await self.client.items.update(engagement, custom={FIELD: Text(text)})
