"""Does the steps that `domain.plan` plans, one module a step; every step may be done twice.

- `ports`: what the steps need of the doors.
- `world`: what the steps work with, and the two ways in which they change a run.
- `start`, `prepare`, `follow`, `finish`, `settle`: the steps.
- `order`, `cloning`, `assigning`: what a run is prepared from, its repository, what its harness is told.
- `planting`: honeytokens, before the agent comes.
- `heed`, `outputs`: what a harness says is kept as events, and as it said it.
- `doing`, `doings`: what each run is doing now, by its events.
- `parts`: what a task's runs delegated.
- `show`: the end of settling: the task shows how its run ended.
- `desk`: what an agent's own tools may know of and do to its run.
- `transcript`: what is attached to a run's record, and shown to whoever asks.
- `freezes`: which sandboxes are frozen, and what breaks off when one is.
- `freezing`, `thawing`: freezes one whose honeytoken was touched, and calls whoever is to know; what
  people do with it then.
- `live`: tells watchers that a run has something new.
"""
