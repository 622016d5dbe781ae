#!/bin/sh
# After the program was removed, by dpkg (remove, purge) and rpm (0). Its data stays: only
# the operator may delete the database, the reports, and the key that is needed to read them.
set -e
case "$1" in remove | purge | 0) ;; *) exit 0 ;; esac
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
for kept in /var/lib/muster /var/lib/muster-agent; do
  if [ -e "${DPKG_ROOT:-}$kept" ]; then
    echo "muster: $kept is kept; delete it yourself if nobody needs it any more"
  fi
done
