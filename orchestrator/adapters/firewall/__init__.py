"""Admission to the sandbox network: only a registered address may reach the door.

The nft table is the installation's own. One that is missing, flushed or incomplete is never taken
for a firewall: every call fails until set-up has made it again.

- `table`: its rules, its text, and what is wrong with one that was found [pure].
- `admission`: `Firewall`, which registers and unregisters addresses in it.
"""
