"""The one log: what every door decided and what came of it, chained, signed, on the disk before it counts.

Its parts, from the bottom up:

- `records`: what is recorded, and the port `Audit` that doors record through.
- `line`: how each line is tied to the one before [pure].
- `signing`, `seal`: Ed25519 keys; what is signed about a segment.
- `shelf`: a log's folder, and the names of what lies in it.
- `recovery`, `segment`, `segments`: where writing goes on after a crash; one file; one after the other.
- `retention`: old segments go by rule, and what went stays known.
- `writer`, `checkpoints`: many lines, one wait for the disk; a thread that vouches for the newest.
- `decisions`, `handed_in`, `egress_log`: which decisions wait for what comes of them; what may be told
  again, and is recorded once; the log as the doors see it.
- `wire`, `recorder`: the socket at which the egress proxy, a process of its own, hands its records in.
- `verify`, `trail`: is it whole, and where not; one run's lines.
"""
