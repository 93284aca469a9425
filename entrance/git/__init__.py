"""The git counter of the door: fetch what was granted, push only the task's own branches.

Pure, bottom up:

- `pktline`: git's framing, fed at any split.
- `access`: which repositories a run may fetch or push to.
- `refs`: which ref updates a run may push, as a table.
- `receive_pack`: the head of a push (commands, capabilities), read before anything is forwarded.
- `checks`: what is judged of a push once its pack was read.
- `pack`, `delta`: what the objects of a pushed pack say, inflated as it streams by.
- `report`: the answer to a push: ours when refused, the host's as it passes by.
- `advertise`: takes out of the host's advertisement what the door does not carry.
- `aliases`: asks whether a branch is a symbolic ref, whose push would move another branch.

At the rim:

- `body`: request bodies, gzip undone with bounded output.
- `relay`: answers that stream by, or a sentence.
- `held`: pushes that wait for a person, kept on disk.
- `upstream`: the git host: what is sent to it, and how its failures are told.
- `push`: one push, from its head to the host's report.
- `proxy`: the HTTP routes, who may use them, and the record of it.
"""
