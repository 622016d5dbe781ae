#!/bin/sh
# Before the program is removed, by dpkg (remove) and rpm (0): stop the services. Before an
# upgrade they keep running: the old program serves until the new one is installed.
set -e
case "$1" in remove | 0) ;; *) exit 0 ;; esac
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
  systemctl disable --now muster.service muster-agent.service
fi
