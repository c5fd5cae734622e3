#!/usr/bin/env bash
# Measures the requests per second for runs of two agents, here and in the `api_server` of google-adk, with one session
# per run; the events per second of one stream; and the memory of 1,000 open streams. Needs `wrk` and the environment of
# tests/peers/run-adk-python.sh:
#   tests/peers/run-adk-python.sh adk-server/benches/load.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${SECONDS_EACH:-10}
cargo build --release --quiet -p adk-workflow-server --example load
load=${CARGO_TARGET_DIR:-target}/release/examples/load
folder=$(mktemp -d)
server=
stop() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; wait 2>/dev/null || true; server=; }
trap 'stop; rm -rf "$folder"' EXIT
up() { for _ in $(seq 300); do curl -sf "$1" >/dev/null && return; sleep 0.1; done; echo "no server at $1" >&2; exit 1; }

cat >"$folder/ours.lua" <<'LUA'
wrk.method, wrk.body = "POST", '{"topic": "cats"}'
wrk.headers["Content-Type"] = "application/json"
LUA
# Each run has its own session, which the server creates.
cat >"$folder/adk.lua" <<'LUA'
wrk.method, wrk.headers["Content-Type"] = "POST", "application/json"
local thread, count = 0, 0
function setup(t) thread = thread + 1; t:set("id", thread) end
function request()
  count = count + 1
  local session = "s" .. id .. "-" .. count .. "-" .. os.time()
  return wrk.format(nil, nil, nil, '{"appName":"two","userId":"u","sessionId":"' .. session ..
    '","newMessage":{"role":"user","parts":[{"text":"cats"}]}}')
end
LUA
ask() {
  local name=$1 url=$2 script=$3
  wrk -t1 -c1 -d2s -s "$script" "$url" >/dev/null
  for clients in 1 64; do
    wrk -t1 -c"$clients" -d"${seconds}s" --latency -s "$script" "$url" |
      awk -v name="$name" -v clients="$clients" '/50%/ {p50=$2} /99%/ {p99=$2} /Requests\/sec/ {rate=$2} /Non-2xx/ {bad=$0}
        END {printf "| %s | %d | %.0f | %s | %s |%s\n", name, clients, rate, p50, p99, bad}'
  done
}

echo "| server | clients | requests per second | p50 | p99 |"
echo "|---|---|---|---|---|"
"$load" 8701 & server=$!
up http://127.0.0.1:8701/health
ask "adk, in memory" http://127.0.0.1:8701/v1/two/runs "$folder/ours.lua"
stop
"$load" 8702 "$folder/runs.db" & server=$!
up http://127.0.0.1:8702/health
ask "adk, SQLite" http://127.0.0.1:8702/v1/two/runs "$folder/ours.lua"
stop
"$(dirname "$ADK_PYTHON")/python" -m google.adk.cli api_server --port 8703 --auto_create_session --session_service_uri memory:// \
  adk-server/benches >"$folder/python.log" 2>&1 & server=$!
up http://127.0.0.1:8703/list-apps
ask "google-adk api_server, in memory" http://127.0.0.1:8703/run "$folder/adk.lua"
stop

"$load" 8704 & server=$!
up http://127.0.0.1:8704/health
events=200000
begin=$(date +%s.%N)
curl -sN -H 'Accept: text/event-stream' -d "{\"events\": $events}" http://127.0.0.1:8704/v1/ticking/runs | tail -n 2 >/dev/null
end=$(date +%s.%N)
awk -v n="$events" -v s="$begin" -v e="$end" 'BEGIN {printf "\n%d events of one stream: %.0f per second\n", n, n / (e - s)}'
stop

"$load" 8705 & server=$!
up http://127.0.0.1:8705/health
memory() { awk '/VmRSS/ {print $2}' "/proc/$server/status"; }
before=$(memory)
after=$(python3 - "$server" <<'PYTHON'
import socket, sys
# Each request starts one run and opens one stream.
body = b'{"topic": "cats"}'
head = (b"POST /v1/idling/runs HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body))
streams = []
for _ in range(1000):
    stream = socket.create_connection(("127.0.0.1", 8705))
    stream.sendall(head + body)
    streams.append(stream)
for stream in streams:
    assert b"200 OK" in stream.recv(4096)
print([line for line in open(f"/proc/{sys.argv[1]}/status") if "VmRSS" in line][0].split()[1])
PYTHON
)
echo "1,000 open streams of unfinished runs: $(((after - before) * 1024 / 1000)) bytes each"
stop
"$load" 8706 & server=$!
begin=$(date +%s%N)
until curl -sf http://127.0.0.1:8706/health >/dev/null; do :; done
echo "time from the start of the process to its first response: $((($(date +%s%N) - begin) / 1000000)) ms"
