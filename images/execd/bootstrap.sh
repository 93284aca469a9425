#!/bin/sh
# What OpenSandbox starts in a sandbox: becomes execd, which then is PID 1. The agent, inside the
# same pid namespace, can neither kill nor stop nor read it.
set -u

if [ -z "${EXECD_ACCESS_TOKEN:-}" ]; then
    echo "bootstrap: EXECD_ACCESS_TOKEN is not set; refusing to start an execd without it" >&2
    exit 78
fi

# From here on PID 1 holds nothing of the engine's: /proc/1/fd/1 would be a way to write into the
# container's log on the host's disk, past every quota.
exec </dev/null >/dev/null 2>&1

umask 022
ulimit -c 0
ulimit -n 4096 || : # lower already: then it stays so

exec "${0%/*}/execd" --init "$@"
