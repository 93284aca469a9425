#!/bin/sh
# The engine's runtime "runsc": Debian's gVisor, made to work on kernels younger than it is.
#
# Its release of 2022 tells the host's network namespace from a container's by a file below
# /proc/sys/net that was the host's alone then. Kernels show it in every namespace now, and `start`
# refuses each container. So that folder is hidden, from `start` only and in a mount namespace of its own, a
# slave of the host's: a disk that is unmounted there must not stay mounted here.
# Always the platform ptrace: with kvm that release hangs for ever on such kernels.
set -u
for word in "$@"; do
    [ "$word" = start ] || continue
    export FLOOR
    FLOOR=$(cat /proc/sys/vm/mmap_min_addr) # the one file of /proc/sys that it reads besides
    # shellcheck disable=SC2016 # expanded inside
    exec unshare --mount --propagation slave sh -c '
        mount -t tmpfs none /proc/sys && mkdir /proc/sys/vm &&
            printf "%s\n" "$FLOOR" >/proc/sys/vm/mmap_min_addr &&
            exec /usr/bin/runsc "$@"' runsc --platform=ptrace "$@"
done
exec /usr/bin/runsc --platform=ptrace "$@"
