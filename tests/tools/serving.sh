# SPDX-License-Identifier: LGPL-2.1-or-later
# The servers of tests of ship. Sourced behind lib.sh.

command -v python3 >/dev/null || skip "there is no python3"
here=$(cd "${0%/*}" && pwd)
# python3 may be a script that searches the interpreter at each start.
python=$(python3 -c 'import sys; print(sys.executable)')
server=
# Each script has an address of its own, so that no program beside it can get the port of a server
# that has ended and starts again.
FAKE_ADDRESS=127.$(($$ / 65536 % 126 + 1)).$(($$ / 256 % 256)).$(($$ % 256))
export FAKE_ADDRESS
end_server() {
	test -z "$server" || kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}
trap 'is_script && { end_server; rm -rf "$tmp"; }' 0

# begin_server SCRIPT FAULT...: a new server instead of the last one. Its port is in $port, its
# account in $tmp/result, its complaints in $tmp/server.err.
begin_server() {
	script=$here/$1
	shift
	end_server
	rm -f "$tmp/result" "$tmp/port"
	"$python" "$script" "$tmp/result" "$@" >"$tmp/port" 2>"$tmp/server.err" &
	server=$!
	until test -s "$tmp/port"; do
		kill -0 "$server" 2>/dev/null || { cat "$tmp/server.err"; exit 99; }
		sleep 0.02
	done
	port=$(cat "$tmp/port")
}

# serve FAULT...: a new database, whose URL is in $url.
serve() {
	begin_server fake_clickhouse.py "$@"
	url=clickhouse://$FAKE_ADDRESS:$port/fleet
}

# ships STATUS ARGUMENT...: posixtrace ship to $url, which must have understood all requests.
ships() {
	status=$1
	shift
	run "$status" ship --state "$tmp/state" --to "$url" "$@"
	check "$*: the server understood all requests" is_empty server.err
}

# ends_at STEP WORD ARGUMENT...: posixtrace ship to $url, which is killed when the server stops at this request:
# RESULT.stop of fake_clickhouse.py. False: it was not killed.
ends_at() {
	rm -f "$tmp/result.stopped"
	echo "$1 $2" >"$tmp/result.stop"
	shift 2
	"$posixtrace" ship --state "$tmp/state" --to "$url" "$@" >"$tmp/killed.out" 2>"$tmp/killed.err" &
	shipper=$!
	until test -e "$tmp/result.stopped"; do
		kill -0 "$shipper" 2>/dev/null || break
		sleep 0.01
	done
	kill -9 "$shipper" 2>/dev/null
	wait "$shipper" 2>/dev/null
	rm -f "$tmp/result.stop"
	test -e "$tmp/result.stopped"
}
