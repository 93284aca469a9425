"""What Sandgate knows, as pure values and pure decisions; nothing here does I/O or reads a clock.

- `task`, `team`: what Polarion says: tasks, agents, engagements, grants, budgets.
- `run`: the states of a run and their table of transitions, its outcomes and causes.
- `plan`: what to do next, from what was observed.
- `conversation`, `heard`: whose conversation a run goes on with; what its harness's events tell of it.
- `delegation`, `supervision`: what agents give to others; what people decide.
- `handover`: what a task shows of a run that is over.
- `verdict`: how a run ended, and of what.
- `briefing`: the instructions and the prompt that an agent is given.
- `catalogue`: the models that are known, what they cost, who may call them.
- `grants`: what an engagement's grants mean for one run at the door.
- `egress`, `egress_text`, `egress_compile`: what is said of the internet, read, and put together for a run.
- `presets`: rules for well-known places; hosts of package registries come from the machine.
- `sandbox_trust`: what a sandbox's programs are told of the egress proxy.
- `dropped`, `frozen`: what the fence dropped; a sandbox that is frozen.
- `approval`, `access`, `inbox`: what agents ask of people, what is decided, and how it is told.
- `ledger`: what a run read, changed and was refused, from its records.
- `retention`: how long a task's disk is kept.
"""
