"""The `sandgate` command.

- `machine`: up, down, status, doctor, demo: the installation on this machine.
- `team`: agent create, hire. `task`: create, ls, show, approve, send-back, answer, retry,
  purge; `task_page`: how one looks. `secret`: set, ls, reset.
- `run`: ls, show, watch, cancel, transcript.
- `egress`: ls, tail, query, verify, export: the egress log.
- `model`: serve: the scripted model.
- `demo`, `demo_summary`: the demo and what it came to.
- `entry`: where it begins; `main`: all commands together.
- `client`: how the commands talk to the runner. `screen`: how things look. `codes`: exit codes.
"""
