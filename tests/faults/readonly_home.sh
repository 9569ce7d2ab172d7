#!/bin/sh
# What `status` and `verify` say of a home on a file system that is read-only. Run as root, in the checkout:
#     sh tests/faults/readonly_home.sh
# It mounts in a namespace of its own, so nothing is left mounted. Ends with 0 if both commands say a sentence and exit 1.
set -eu
folder=$(mktemp -d)
export ALMANAC_HOME="$folder/home" ALMANAC="$PWD/.venv/bin/almanac"
"$ALMANAC" status >/dev/null
unshare -m sh -c '
    mount --bind "$ALMANAC_HOME" "$ALMANAC_HOME"
    mount -o remount,ro,bind "$ALMANAC_HOME"
    for command in status verify; do
        if "$ALMANAC" $command >/dev/null 2>said.$$; then echo "$command did not fail"; exit 1; fi
        cat said.$$
        test "$(wc -l <said.$$)" -eq 1 && grep -q "^Error: .* is read-only" said.$$
        rm said.$$
    done'
rm -r "$folder"
