"""The battery's hands: what it runs in a sandbox, and what it sets up on the host to be reached.

- `inside`: what runs in the sandbox. `script`: its modules as one file.
- `canaries`: servers of this machine that count who comes. `outside`: some of them beyond a route.
- `git_canary`: a git host that counts what the door lets through to it.
- `host`: what the engine, the kernel and the firewall say of the configuration.
- `stage`: all of it together, with the sandboxes. `shelf`: reports and acceptances on the disk.
"""
