#!/bin/sh
# After an installation or an upgrade, by dpkg and rpm: the account, and what runs is
# started anew. Nothing is started that was not. DPKG_ROOT is another root, in which
# there is nothing to run.
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
# dpkg says which version was there before, rpm that there are two now.
if [ "$1" = configure ] && [ -z "$2" ] || [ "$1" = 1 ]; then
  echo 'muster: set /etc/muster/environment, then: systemctl enable --now muster'
fi
