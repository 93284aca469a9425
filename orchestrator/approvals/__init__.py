"""The inbox: what agents may not do by themselves, asked of people, and what came of it.

- `ports`: where items are kept, and what the log knows.
- `asking`: whatever is held, or asked for, comes here as one item a run and wish.
- `deciding`: what is decided is stored first, then put into force, and said on the task.
- `keeping`: what is allowed to a task is given to its next run; what is over expires.
"""
