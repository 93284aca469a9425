#!/bin/sh
# What must precede Python: finds a Python >= 3.12, makes .venv beside the project with uv in it,
# installs what requirements.lock pins, and the project itself. Does nothing when all is in place;
# after an interruption the next run goes on. PYTHON names an interpreter to use instead of a found one.
set -eu

project=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
venv=$project/.venv
stamp=$venv/.sandgate-ready
log=$venv/.sandgate-bootstrap.log
need_kb=1500000

say() { printf '%s\n' "bootstrap: $*" >&2; }
give_up() {
    say "$1"
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 1
}

# What the environment is made from: this stands in the stamp when it is complete.
content() {
    { printf '%s\n' "$project"; cat "$project/requirements.lock" "$project/pyproject.toml" "$0"; } |
        sha256sum | cut -c 1-64
}
ready() {
    [ -x "$venv/bin/sandgate" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$1" ] &&
        "$venv/bin/python" -I -S -c '' 2>/dev/null
}

wanted=$(content)
ready "$wanted" && exit 0

mkdir -p "$venv" 2>/dev/null && [ -w "$venv" ] ||
    give_up "can't write to $venv." "Give this user the right to write there, or clone the project elsewhere."
free_kb=$(df -Pk "$venv" | awk 'NR == 2 {print $4}')
[ "$free_kb" -ge "$need_kb" ] ||
    give_up "the disk of $venv has $((free_kb / 1000)) MB free; $((need_kb / 1000)) MB are needed." \
        "Free some space and run it again."

# One at a time; the second one finds the work done.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$venv/.sandgate-lock"
    flock 9
    ready "$wanted" && exit 0
fi
: >"$log"

# A step that is quiet when it works, and says in a sentence why it failed.
step() {
    what=$1
    shift
    say "$what"
    "$@" >>"$log" 2>&1 9>&- && return 0
    if grep -qi 'no space left' "$log"; then
        why="the disk is full: free some space and run it again"
    elif grep -qiE 'certificate' "$log"; then
        why="a TLS certificate isn't trusted: set SSL_CERT_FILE to the bundle of certificates this machine trusts"
    elif grep -qiE 'hash mismatch|do not match|hashes' "$log"; then
        why="a package isn't the one that requirements.lock pins"
    elif grep -qiE 'failed to fetch|dns error|name resolution|connect|timed out|unreachable|no matching distribution' "$log"; then
        why="no Python package index can be reached: check the network, or the proxy and index settings of pip and uv"
    else
        why="see below"
    fi
    give_up "$what failed: $why." "Last lines of $log:" "$(tail -n 8 "$log")"
}

new_enough() { "$1" -I -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; }

# The first that works: the version we test with first, wherever it is.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" || give_up "PYTHON=$PYTHON is no Python >= 3.12 with venv."
        printf '%s\n' "$PYTHON"
        return
    fi
    for minor in 13 12 14 15; do
        for python in "python3.$minor" "${PYENV_ROOT:-${HOME:-/root}/.pyenv}"/versions/3."$minor"*/bin/python3 /usr/local/bin/python3."$minor"; do
            new_enough "$python" && { printf '%s\n' "$python"; return; }
        done
    done
    new_enough python3 && printf '%s\n' python3
    return 0
}

# Where no Python is new enough, uv can get one; uv itself comes from PATH or through an older pip.
make_venv_by_uv() {
    uv=$(command -v uv || true)
    if [ -z "$uv" ]; then
        python3 -m pip --version >/dev/null 2>&1 ||
            give_up "no Python >= 3.12 was found, and neither uv nor pip to get one." \
                "Looked on PATH and in ${PYENV_ROOT:-${HOME:-/root}/.pyenv}/versions. Install one, or name it: PYTHON=/path/to/python3 make"
        step "getting uv, to get a Python" python3 -m pip install --quiet --target "$venv/.uv" uv
        uv=$venv/.uv/bin/uv
    fi
    step "getting a Python with uv" "$uv" venv --quiet --allow-existing --seed --python '>=3.12' "$venv"
}

if ! new_enough "$venv/bin/python"; then
    python=$(find_python)
    if [ -n "$python" ]; then
        step "making .venv with $("$python" --version 2>&1)" "$python" -m venv --clear "$venv"
        : >"$log"
    else
        make_venv_by_uv
    fi
fi

# uv at the version and hashes of the lock, by the pip of the environment.
uv_lines=$venv/.sandgate-uv.txt
awk '/^uv==/ {on = 1} on {print} on && !/\\$/ {exit}' "$project/requirements.lock" >"$uv_lines"
uv_version=$(sed -n 's/^uv==\([^ ]*\).*/uv \1/p' "$uv_lines")
case $("$venv/bin/uv" --version 2>/dev/null) in
"$uv_version"*) ;;
*) step "getting $uv_version" "$venv/bin/python" -m pip install --quiet --require-hashes --no-deps -r "$uv_lines" ;;
esac

export VIRTUAL_ENV="$venv"
step "installing what requirements.lock pins" "$venv/bin/uv" pip install --require-hashes -r "$project/requirements.lock"
step "installing sandgate" "$venv/bin/uv" pip install --no-deps --no-build-isolation -e "$project"
printf '%s\n' "$wanted" >"$stamp"
