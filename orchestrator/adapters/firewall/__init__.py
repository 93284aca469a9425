"""The walls of the sandbox network: only a registered address may reach the door, and nothing else.

The nft table is the installation's own. One that is missing, flushed or incomplete is never taken
for a firewall: every call fails until set-up has made it again.

- `table`: its rules, its text, and what is wrong with one that was found [pure].
- `admission`: `Firewall`, which registers and unregisters addresses in it.
- `probe`: what a container like a sandbox truly reaches; `probe_containers` makes it, `probe_inside`
  is what runs in it.
- `nft`: runs the program.
"""
