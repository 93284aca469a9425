"""The inbox: what agents may not do by themselves, asked of people, and what came of it.

- `ports`: where items are kept, and what the log knows.
- `items`: one a run and wish, of whatever kind.
- `asking`: requests to the internet that are asked for, or held by a rule; `holds` brings those.
- `pushes`: what the git door holds.
- `deciding`: what is decided is stored first, then put into force as its kind has it (`handling`), and said
  on the task, which may go on by it (`waking`).
- `releasing`: what is kept and was allowed is sent once, as its kind has it (`push_sending`).
- `settling`: what is owed of an item that is over.
- `keeping`: what is allowed to a task is given to its next run; what is over expires.
"""
