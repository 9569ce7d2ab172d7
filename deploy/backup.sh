#!/bin/sh
# Write a backup into a folder, try it out, and only then remove those there that are older than some days.
#
#   deploy/backup.sh FOLDER DAYS
#
# Exits with that of the command that failed; a backup that cannot be relied upon is kept under the name `….bad`.
set -eu
umask 077
folder=${1:?a folder for backups} days=${2:?days to keep them}
almanac=${0%/*}/../../venv/bin/almanac
[ -x "$almanac" ] || almanac=almanac
case $days in
  *[!0-9]* | '') echo "days: a whole number, not '$days'" >&2; exit 2 ;;
esac
file=$folder/almanac-$(date -u +%Y%m%dT%H%M%SZ).backup
"$almanac" backup "$file"
"$almanac" backup --verify "$file" || { code=$?; mv "$file" "$file.bad"; exit "$code"; }
find "$folder" -maxdepth 1 -name 'almanac-*.backup' -mtime "+$days" -print -delete >&2
