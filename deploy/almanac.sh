#!/bin/sh
# A command of Almanac as the service has it: with its settings. For an operator, as `sudo -u almanac almanac …`.
set -eu
ALMANAC_HOME=/var/lib/almanac
export ALMANAC_HOME
if [ -e /etc/almanac/environment ]; then
  set -a
  . /etc/almanac/environment
  set +a
fi
exec /opt/almanac/venv/bin/almanac "$@"
