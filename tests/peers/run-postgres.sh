#!/usr/bin/env bash
# Runs a command with a new Postgres server, which is deleted afterwards.
#   tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres -- --ignored --skip pooler --skip python
# A missing server is installed from the distribution. It listens on a free local port; the command
# finds its URL in ADK_POSTGRES, the authority of its certificate in ADK_POSTGRES_CA, and the folder
# and `pg_ctl` for restarts in ADK_POSTGRES_DATA and ADK_PG_CTL.
set -euo pipefail

tools() {
  local found
  found=$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -1)
  if [ -n "$found" ]; then dirname "$(readlink -f "$found")"; fi
}

as_root=()
if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
bin=$(tools)
if [ -z "$bin" ]; then
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null
  bin=$(tools)
fi
# The server refuses to run as root.
as_server=()
if [ "$(id -u)" = 0 ]; then as_server=(runuser -u postgres --); fi

folder=$(mktemp -d)
chmod 755 "$folder"
data="$folder/data" log="$folder/log"
mkdir "$data"
if [ "$(id -u)" = 0 ]; then chown -R postgres "$data"; fi
touch "$log"
chmod 666 "$log"
stop() {
  "${as_server[@]}" "$bin/pg_ctl" -D "$data" -m immediate -w stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop EXIT
cd "$data"
"${as_server[@]}" "$bin/initdb" -D "$data" -U adk --auth=trust --no-locale --encoding=UTF8 >/dev/null
# The server also speaks TLS, as `localhost`, with a certificate of a new authority.
key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
(
  cd "$folder"
  openssl req -x509 "${key[@]}" -days 2 -subj '/CN=an authority for tests' -keyout ca.key -out ca.crt
  openssl req -new "${key[@]}" -subj /CN=localhost -keyout server.key -out server.csr
  printf 'subjectAltName=DNS:localhost' >names
  openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt
  mv server.key server.crt "$data"
) 2>/dev/null
chmod 600 "$data/server.key"
if [ "$(id -u)" = 0 ]; then chown postgres "$data/server.key" "$data/server.crt"; fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# After a crash, the server syncs the files of all databases at once, because a sync of each file is
# slow on a busy disk. Tests read back the results of their statements.
cat >>"$data/postgresql.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = ''
max_connections = 300
ssl = on
recovery_init_sync_method = syncfs
shared_preload_libraries = 'pg_stat_statements'
SETTINGS
if ! "${as_server[@]}" "$bin/pg_ctl" -D "$data" -l "$log" -w start >/dev/null; then
  cat "$log" >&2
  exit 1
fi
cd "$OLDPWD"
export ADK_POSTGRES="postgres://adk@127.0.0.1:$port/postgres" ADK_POSTGRES_DATA="$data"
export ADK_POSTGRES_CA="$folder/ca.crt"
export ADK_PG_CTL="${as_server[*]} $bin/pg_ctl"
"$@"
