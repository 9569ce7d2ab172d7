#!/bin/sh
# What `status`, `verify` and `sandbox` say of a home on a disk that is full. Run as root, in the checkout:
#     sh tests/faults/full_disk.sh
# It mounts a small file system in a namespace of its own, so nothing is left mounted. Ends with 0 if each command answers
# or says in one sentence that the disk is full, and if everything answers again once there is room.
set -eu
folder=$(mktemp -d)
export ALMANAC_HOME="$folder/home" ALMANAC="$PWD/.venv/bin/almanac"
mkdir -p "$ALMANAC_HOME"
unshare -m sh -euc '
    mount -t tmpfs -o size=4m tmpfs "$ALMANAC_HOME"
    "$ALMANAC" status >/dev/null
    "$ALMANAC" verify >/dev/null
    cat /dev/zero >"$ALMANAC_HOME/filler" 2>/dev/null || true
    for command in status verify sandbox; do
        code=0
        "$ALMANAC" $command >"$0/answered" 2>"$0/said" || code=$?
        echo "$command ended with $code: $(head -n 3 "$0/said")"
        if grep -q Traceback "$0/said"; then exit 1; fi
        if [ "$code" -ne 0 ]; then
            test "$(grep -c "^Error: " "$0/said")" -eq 1
            grep -q "^Error: .*\(disk is full\|No space left\)" "$0/said"
        fi
    done
    rm "$ALMANAC_HOME/filler"
    "$ALMANAC" status >/dev/null
    "$ALMANAC" verify >/dev/null
    echo "with room again, status and verify answer"' "$folder"
rm -r "$folder"
