"""The git counter of the door: fetch what was granted, push only the task's own branches.

Pure, bottom up:

- `pktline`: git's framing, fed at any split.
- `access`: which repositories a run may fetch or push to.
- `refs`: which ref updates a run may push, as a table.
- `receive_pack`: the head of a push (commands, capabilities), read before anything is forwarded.
- `checks`: what is judged of a push once its pack was read.
- `report`: the answer to a push: ours when refused, the host's as it passes by.
- `advertise`: takes out of the host's advertisement what the door does not carry.
- `listing`: asks what the host has: whether a branch is a symbolic ref, whose push would move another
  branch; whether a mirror is fresh.
- `standing`: where a push's branches are at the host, against where it wants to move them.

At the rim:

- `body`: request bodies, gzip undone with bounded output.
- `relay`: answers that stream by, or a sentence.
- `upstream`: the git host: what is sent to it, and how its failures are told.
- `quarantine`: where a push is received and read, before anything of it goes to the host.
- `held`, `holding`: pushes that wait for a person: kept on disk, and asked about.
- `preview`: what a held push would change.
- `release`: a held push on its way, once a person has allowed it.
- `forward`, `unsettled`: sends a push on; finds out what became of one whose answer was lost.
- `answer`, `told`: the answer to a push, whatever happens; what the log is told of it.
- `push`: one push, from its head to its answer.
- `proxy`: the HTTP routes, who may use them, and the record of it.
"""
