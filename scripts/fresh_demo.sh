#!/usr/bin/env bash
# Sourced by scripts that try the shipped binary: a demo on a fresh data directory
# and a port of its own, which ends with the script.
#
#   serve --demo [FLAG...]   starts it, or starts it again, and waits until it is ready
#   $muster $base $work     the binary, the server's address, a directory to write to
#
# Whoever sources it says how it fails: fail MESSAGE. KEEP=1 keeps the directory.
muster=$PWD/bin/muster
work=$(mktemp -d)
chmod 711 "$work" # as root, the private PostgreSQL runs as another user
# Below the ports that the kernel gives to anybody, and above those of Go's tests (internal/testing/porttest).
port=${PORT:-$((32000 + RANDOM % 768))}
base=http://127.0.0.1:$port
# The developer's own settings do not reach the server.
for name in $(env | sed -n 's/^\(MUSTER_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export MUSTER_DATA_DIR=$work/data MUSTER_LISTEN=127.0.0.1:$port
export MUSTER_ADMIN_EMAIL=first@example.org MUSTER_ADMIN_PASSWORD_FILE=$work/password
printf 'some otters hum %s' "$RANDOM$RANDOM" >"$work/password"

server=
stop() {
  status=$?
  [ -n "$server" ] && kill -TERM "$server" 2>/dev/null && wait "$server" 2>/dev/null
  if [ "$status" -ne 0 ]; then
    echo "FAILED. The server said last:" >&2
    tail -n 40 "$work/server.log" >&2
  fi
  if [ -n "${KEEP:-}" ]; then echo "kept: $work" >&2; else rm -rf "$work"; fi
  exit "$status"
}
trap stop EXIT

serve() {
  if [ -n "$server" ]; then
    kill -TERM "$server"
    wait "$server" || true
  fi
  "$muster" serve "$@" >>"$work/server.log" 2>&1 &
  server=$!
  for _ in $(seq 600); do
    curl -sf --max-time 2 "$base/readyz" >/dev/null 2>&1 && return
    kill -0 "$server" 2>/dev/null || fail "the server ended before it was ready"
    sleep 0.1
  done
  fail "the server is not ready after a minute"
}
