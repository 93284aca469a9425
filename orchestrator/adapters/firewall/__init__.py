"""The walls of the sandbox network: only a registered address may reach the door, and nothing else.

The nft table is the installation's own. One that is missing, flushed or other than it was made is
never taken for a firewall: no sandbox is let in, and it is made again at once.

- `table`: its rules, its text, and what is wrong with one that was found [pure].
- `form`: what stays the same in every listing of the same rules [pure].
- `standing`: how the table stands in the kernel, held against what nft makes of our text.
- `admission`: `Firewall`, which registers and unregisters addresses in it, and makes it again.
- `changes`: hears of every change, by whomever.
- `probe`: what a container like a sandbox truly reaches; `probe_containers` makes it, `probe_inside`
  is what runs in it.
- `nft`: runs the program.
"""
