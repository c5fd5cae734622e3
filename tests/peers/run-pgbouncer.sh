#!/usr/bin/env bash
# Runs a command with a new PgBouncer in front of the server of run-postgres.sh, in transaction
# mode.
#   tests/peers/run-postgres.sh tests/peers/run-pgbouncer.sh cargo test -p adk-workflow-postgres -- --ignored
# A missing PgBouncer is installed from the distribution. It listens on a free local port; the
# command finds its URL in ADK_PGBOUNCER. All settings except these are the defaults. Transactions
# take server connections in turns, so the transactions of one client use different connections.
set -euo pipefail

as_root=()
if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
PATH="$PATH:/usr/sbin"
if ! command -v pgbouncer >/dev/null; then
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pgbouncer >/dev/null
fi
# Without a Postgres server, PgBouncer is only installed.
if [ -z "${ADK_POSTGRES:-}" ]; then
  "$@"
  exit
fi
# PgBouncer refuses to run as root.
as_user=()
if [ "$(id -u)" = 0 ]; then as_user=(runuser -u nobody --); fi

folder=$(mktemp -d)
chmod 755 "$folder"
pid=
stop() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap stop EXIT
server=${ADK_POSTGRES#*@}
server=${server%%/*}
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
echo '"adk" ""' >"$folder/users"
cat >"$folder/pgbouncer.ini" <<SETTINGS
[databases]
* = host=${server%:*} port=${server#*:}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
server_round_robin = 1
default_pool_size = 4
SETTINGS
"${as_user[@]}" pgbouncer -q "$folder/pgbouncer.ini" 2>"$folder/log" &
pid=$!
for _ in $(seq 100); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  if ! kill -0 "$pid" 2>/dev/null; then
    cat "$folder/log" >&2
    exit 1
  fi
  sleep 0.1
done
export ADK_PGBOUNCER="postgres://adk@127.0.0.1:$port/postgres"
"$@"
