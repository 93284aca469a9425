"""The HTTP API for people and their tools; sandboxes can't reach it.

- `auth`: the token that every call but `/api/health` must show.
- `shapes`: what goes in and out, as pydantic models and plain JSON.
- `runs`: list, show, watch (server-sent events), cancel, transcript.
- `team`: create agents, hire them, create tasks; secrets.
- `models`: the models that are known, their prices, who may call them.
- `approvals`: the inbox, and what a run may reach now.
- `push_rules`: what pushes may bring here, under an engagement, in a run.
- `frozen`: frozen sandboxes, and what a person does with them.
- `posture`: what the battery found; run it, accept a finding.
- `metrics`: what Prometheus reads.
- `server`: the application.
"""
