"""Records of the log as events of the Open Cybersecurity Schema Framework, version 1.5.0 [pure].

- `classes`: which kind of record becomes which class of event, as a table.
- `event`: a record, with the decision that an outcome belongs to, as an event.
- `verdict`: how decisions and outcomes are said.
- `objects`: the schema's objects that events are made of.

A decision and its outcome are two events: neither is kept back until the other is there. They have one
`metadata.correlation_uid`, and the outcome's event says all that its decision's says.
"""

from orchestrator.egress.ocsf.classes import VERSION
from orchestrator.egress.ocsf.event import Origin, event

__all__ = ["VERSION", "Origin", "event"]
