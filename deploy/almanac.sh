#!/bin/sh
# A command of Almanac as the service has it: with its settings. For an operator, as `sudo -u almanac almanac …`.
#
# ALMANAC_PROGRAM names another program than that of the service, such as a new version that is tried before it is installed.
set -eu
file=/etc/almanac/environment
program=${ALMANAC_PROGRAM:-/opt/almanac/venv/bin/almanac}
unset ALMANAC_PROGRAM
ALMANAC_HOME=/var/lib/almanac
export ALMANAC_HOME
if [ -e "$file" ]; then
  # systemd takes a value as it stands, this shell would not: an & that is not quoted ends it. What the two read otherwise is
  # refused, by its line and without its value, which may be a secret.
  odd=$(awk '
    /^[ \t]*(#|$)/ { next }
    /^[A-Za-z_][A-Za-z0-9_]*='"'"'[^'"'"']*'"'"'[ \t]*$/ { next }
    /^[A-Za-z_][A-Za-z0-9_]*="[^"$`\\]*"[ \t]*$/ { next }
    /^[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_.,:\/@%+=?-]*[ \t]*$/ { next }
    { print NR; exit }
  ' "$file")
  if [ -n "$odd" ]; then
    echo "Error: $file, line $odd: put the value in single quotes, NAME='value': systemd and the shell read it differently" >&2
    exit 1
  fi
  set -a
  . "$file"
  set +a
fi
exec "$program" "$@"
