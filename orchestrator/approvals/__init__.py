"""The inbox: what agents may not do by themselves, asked of people, and what came of it.

- `feed`: what changes, for whoever watches.
- `ports`: where items are kept, and what the log knows.
- `items`: one a run and wish, of whatever kind.
- `asking`: requests to the internet that are asked for, or held by a rule; `holds` brings those.
- `pushes`: what the git door holds; `calls`: what the gateway does; `pins`: tools of servers that changed.
- `tools`: tools that were not granted; `call_rules`: what of that, and of standing rules, is in force.
- `deciding`: what is decided is stored first, then put into force as its kind has it (`handling`), and said
  on the task, which may go on by it (`waking`).
- `releasing`: what is kept and was allowed is sent once, as its kind has it (`push_sending`,
  `call_sending`).
- `unsettled`: what of a task is held while it is in review.
- `rule_record`: standing rules are kept in Polarion, and put back when the inbox was lost.
- `settling`: what is owed of an item that is over.
- `keeping`: what is allowed to a task is given to its next run; what is over expires.
"""
