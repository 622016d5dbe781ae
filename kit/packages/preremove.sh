#!/bin/sh
# Before the program goes for good, by dpkg (remove) and rpm (0): it is stopped. Before an
# upgrade it is not: the old one serves until the new one is there.
set -e
case "$1" in remove | 0) ;; *) exit 0 ;; esac
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
  systemctl disable --now muster.service muster-agent.service
fi
