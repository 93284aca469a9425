"""Sandboxes through an unmodified OpenSandbox server on a Docker host; implements `ports.Sandboxes`.

The server makes, expires and ends containers and carries our calls to execd; what it can't do is
done here, by the engine's own API: look at what was made, volumes, swap, counters.
We speak HTTP to it ourselves. The vendor's SDK reads whole answers into memory, and an agent
decides how long they are; it also takes a second and 27 MB to import.

- `blueprint`: what every sandbox is made of, and the create request [pure].
- `inspection`: is a container exactly what was asked? [pure]
- `limits`: what the kernel truly holds it to [pure but for the reading].
- `counters`: where a container's cgroup counters are, and what they say [pure but for the reading].
- `events`: execd's stream of events, taken apart within bounds [pure].
- `http`: the server's HTTP API, errors translated. `execd`: the commands and files of one sandbox.
- `engine`: the Docker engine, errors translated.
- `lifecycle`: made, checked, admitted, renewed, found. `ending`: ended, with all that belonged to it.
- `sandboxes`: `OpenSandboxes`, all of it together.
"""
