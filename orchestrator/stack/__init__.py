"""Brings the processes of one installation up on one machine, and takes them down again.

- the chain: `up`, `down` (with what `remains` outside the home), `status`, `services`, `keys`,
  `wiring` (what each program is told); `steps` shows it, `bootstrap.sh` is what precedes Python;
- the installation: `installation` (name, folders), `addresses` (subnet, ports), `process`;
- the engine: `engine`, `dockerd`, `packages` (Debian's), `network` (bridge and nft table);
- the images: `images` (what goes in), `image_store` (by content), `content`, `rootfs`,
  `apt_sources`, `native` and `harness_programs` (fetched on the host), `build_images`;
- the programs: `pocketbase`, `opensandbox`, `githost`, `scripted` (the model server);
- `demo`: the whole story in one command.
"""
