#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Apache as its init script starts it: a daemon, whose starter ends at once and whose stop is awaited until no
# process has its number. record --wait records until the daemon has ended.
PACKAGES='curl curl'
. "${0%/*}/lib.sh"

PATH=$PATH:/usr/sbin
command -v apache2 >/dev/null || { echo "SKIP: apache: apache2 is not installed"; exit 0; }
modules=/usr/lib/apache2/modules
test -e "$modules/mod_mpm_event.so" || { echo "SKIP: apache: $modules is not there"; exit 0; }
port=$((20000 + $$ % 20000))
url=http://127.0.0.1:$port
requests=${PTX_REQUESTS:-200}
mkdir -p "$tmp/www"
chmod 755 "$tmp" "$tmp/www"
seq 2000 >"$tmp/www/index.html"
cat >"$tmp/apache.conf" <<END
ServerRoot $tmp
ServerName 127.0.0.1
Listen 127.0.0.1:$port
PidFile $tmp/apache.pid
ErrorLog $tmp/error.log
Mutex file:$tmp default
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule dir_module $modules/mod_dir.so
LoadModule alias_module $modules/mod_alias.so
StartServers 2
ServerLimit 2
ThreadsPerChild 16
MaxRequestWorkers 32
<IfModule unixd_module>
	User www-data
	Group www-data
</IfModule>
DocumentRoot $tmp/www
<Directory $tmp/www>
	Require all granted
</Directory>
END


# The daemon's whole life as one program: the steps of an init script for start and stop.
cat >"$tmp/life" <<'END'
#!/bin/sh
# life CONFIG URL REQUESTS PIDFILE
apache2 -f "$1" -k start || exit
tries=600
until curl -s "$2/" >/dev/null; do
	tries=$((tries - 1))
	test $tries -gt 0 || exit 98
	sleep 0.05
done
n=0
while test $n -lt "$3"; do
	curl -s "$2/" || exit 97
	n=$((n + 1))
done | cksum
pid=$(cat "$4")
apache2 -f "$1" -k stop || exit
tries=1200
while kill -0 "$pid" 2>/dev/null; do
	tries=$((tries - 1))
	test $tries -gt 0 || { echo "its number is still taken"; kill -KILL "$pid"; exit 96; }
	sleep 0.05
done
echo "gone"
END
work() {
	rm -f "$tmp/apache.pid"
	"$@" sh "$tmp/life" "$tmp/apache.conf" "$url" "$requests" "$tmp/apache.pid"
}
record() { "$posixtrace" record -q --wait -o "$log" -s 64M -- "$@"; }
compare
check "apache: its children are in the log" test "$(count_of process.child)" -ge 2
finish
