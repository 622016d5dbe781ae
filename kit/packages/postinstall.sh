#!/bin/sh
# After an installation or an upgrade, by dpkg and rpm: create the account, and restart
# the services that run. Services that do not run are not started. DPKG_ROOT is another
# root, in which no service runs.
set -e
root=${DPKG_ROOT:-}
if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers ${root:+--root="$root"} muster.conf
elif [ -z "$root" ] && ! getent passwd muster >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/muster --no-create-home --shell /usr/sbin/nologin muster
fi
if [ -z "$root" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart muster.service muster-agent.service
fi
# dpkg passes the previous version, rpm the number of installed versions.
if [ "$1" = configure ] && [ -z "$2" ] || [ "$1" = 1 ]; then
  echo 'muster: set /etc/muster/environment, then: systemctl enable --now muster'
fi
