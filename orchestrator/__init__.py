"""Runs agents on the tasks that people assign to them, each run in a sandbox of its own.

From the bottom up: `domain` decides (pure), `ports` say what is needed of the world, `runner`,
`reconciler`, `workqueue` and `watcher` do it; `guard`, `posture`, `drops`, `disks` and `janitor` look
after sandboxes beside it. `approvals` is the inbox, `egress_policy` what sandboxes may reach, `egress`
reads the egress log. `adapters` and `harnesses` are the world, `api` is for people, `telemetry` for
what watches us, `settings` reads the environment, `app` puts all of it together; `stack` brings a
whole installation up on one machine, `cli` is the `sandgate` command.
"""
