# SPDX-License-Identifier: LGPL-2.1-or-later
# realworld/servers.sh - servers and interpreters that table.sh tries if they are installed.
#
# The functions of each program are those that table.sh describes. The servers listen on ports from
# $port on, or on sockets in $tmp.

port=$((20000 + $$ % 20000))

# Sends standard input to a port of this machine or to a socket, and prints the answer. Only
# connects if there is nothing to send.
cat >"$tmp/ask.py" <<'END'
import socket, sys
where = sys.argv[1]
if where.startswith("/"):
    s = socket.socket(socket.AF_UNIX)
    s.connect(where)
else:
    s = socket.create_connection(("127.0.0.1", int(where)))
data = sys.stdin.buffer.read()
s.sendall(data)
while data:
    answer = s.recv(65536)
    if not answer:
        break
    sys.stdout.buffer.write(answer)
END
ask() { python3 "$tmp/ask.py" "$@"; }
is_open() { ask "$1" </dev/null; }
pid_of_server() { newest "$server"; }

# look_up PORT NAME NAME: asks a name server of this machine ten times for the first name by UDP, and
# for the second one by TCP
look_up() {
	for i in $(seq 10); do
		dig +short +tries=5 @127.0.0.1 -p "$1" "$2"
		dig +short +tries=5 +tcp @127.0.0.1 -p "$1" "$3"
	done
}

# A login by a key: the listener executes itself for each connection, and a child with a seccomp
# filter has the unprivileged part.
set_sshd() {
	command -v sshd >/dev/null && test "$(id -u)" -eq 0 && id sshd >/dev/null 2>&1 || return
	mkdir -p /run/sshd "$tmp/ssh"
	for key in host key; do
		ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/$key"
	done
	ssh_user=$(id -un postgres 2>/dev/null || id -un)
	cat >"$tmp/ssh/conf" <<END
Port $((port + 1))
ListenAddress 127.0.0.1
HostKey $tmp/ssh/host
PidFile $tmp/ssh/pid
AuthorizedKeysFile $tmp/ssh/key.pub
StrictModes no
UsePAM yes
PermitRootLogin yes
MaxStartups 100
END
	chmod 755 "$tmp/ssh"
}
ssh_here() {
	ssh -q -F none -i "$tmp/ssh/key" -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no \
		-p $((port + 1)) "$ssh_user@127.0.0.1" "$@" 2>/dev/null
}
start_sshd() {
	"$@" /usr/sbin/sshd -D -f "$tmp/ssh/conf" -E "$tmp/ssh/messages" >"$tmp/said" 2>&1 &
	server=$!
	until_true ssh_here true
}
work_sshd() {
	ssh_here 'id -un; exit 3' </dev/null
	echo "status $?"
	seq 20000 | ssh_here 'cat | cksum'
	ssh_here -tt 'test -t 0 && echo terminal' </dev/null
}
stop_sshd() { kill "$(cat "$tmp/ssh/pid")"; }
pid_sshd() { cat "$tmp/ssh/pid"; }

set_memcached() { command -v memcached >/dev/null; }
start_memcached() {
	rm -f "$tmp/memcached"
	"$@" memcached -u nobody -s "$tmp/memcached" -a 0777 -t 2 >"$tmp/said" 2>&1 &
	server=$!
	until_true version_of_memcached
}
version_of_memcached() { printf 'version\r\nquit\r\n' | ask "$tmp/memcached"; }
work_memcached() {
	for i in $(seq 10); do
		for k in $(seq 50); do printf 'set %d 0 0 3\r\nabc\r\nget %d\r\n' "$k" "$k"; done |
			{ cat; printf 'quit\r\n'; } | ask "$tmp/memcached"
	done | cksum
}
stop_memcached() { kill "$(pid_of_server)"; }
pid_memcached() { pid_of_server; }

set_haproxy() {
	command -v haproxy >/dev/null && command -v curl >/dev/null || return
	cat >"$tmp/haproxy.conf" <<END
global
	nbthread 2
defaults
	mode http
	timeout client 10s
	timeout server 10s
	timeout connect 10s
frontend a
	bind 127.0.0.1:$((port + 2))
	http-request return status 200 content-type text/plain string "text" if { path /text }
	default_backend b
backend b
	server b 127.0.0.1:1
END
}
start_haproxy() {
	"$@" haproxy -db -f "$tmp/haproxy.conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true is_open $((port + 2))
}
work_haproxy() {
	for i in $(seq 30); do
		curl -s "http://127.0.0.1:$((port + 2))/text"
	done | cksum
	curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$((port + 2))/other"
}
stop_haproxy() { kill "$(pid_of_server)"; }
pid_haproxy() { pid_of_server; }

# Its manager compiles the configuration with a compiler, and starts a worker as another user.
set_varnish() {
	command -v varnishd >/dev/null && command -v cc >/dev/null && command -v curl >/dev/null || return
	cat >"$tmp/varnish.vcl" <<'END'
vcl 4.1;
backend default none;
sub vcl_recv { return (synth(200, "text")); }
sub vcl_synth { synthetic("text " + req.url); return (deliver); }
END
}
start_varnish() {
	"$@" varnishd -F -n "$tmp/varnish" -a "127.0.0.1:$((port + 3))" -f "$tmp/varnish.vcl" \
		-s malloc,8m -p thread_pool_min=5 >"$tmp/said" 2>&1 &
	server=$!
	until_true is_open $((port + 3))
}
work_varnish() {
	for i in $(seq 30); do
		curl -s "http://127.0.0.1:$((port + 3))/$i"
	done | cksum
}
stop_varnish() { kill "$(cat "$tmp/varnish/_.pid")"; }
pid_varnish() { newest "$(cat "$tmp/varnish/_.pid")"; }

set_squid() {
	command -v squid >/dev/null && command -v curl >/dev/null || return
	mkdir -p "$tmp/squid"
	chmod 777 "$tmp/squid"
	cat >"$tmp/squid/conf" <<END
http_port 127.0.0.1:$((port + 4))
http_access allow all
cache_log $tmp/squid/messages
access_log none
pid_filename $tmp/squid/pid
coredump_dir $tmp/squid
shutdown_lifetime 0 seconds
END
}
start_squid() {
	# Shared memory has the name of the service; the squid before this one may still have it.
	service=$((${service:-0} + 1))
	"$@" squid --foreground -n "posixtrace$$n$service" -f "$tmp/squid/conf" >"$tmp/said" 2>&1 &
	server=$!
	# The squid before this one may still have the port open.
	until_true test -s "$tmp/squid/pid"
	until_true is_open $((port + 4))
}
work_squid() {
	for i in $(seq 30); do
		curl -s -o /dev/null -w '%{http_code}\n' -x "http://127.0.0.1:$((port + 4))" http://127.0.0.1:1/
	done
}
stop_squid() { kill "$(cat "$tmp/squid/pid")"; }
# The worker; it has further children.
pid_squid() { ps -o pid= --ppid "$(cat "$tmp/squid/pid")" | head -n 1 | tr -d " "; }

set_mosquitto() {
	command -v mosquitto >/dev/null && command -v mosquitto_sub >/dev/null || return
	printf 'listener %d 127.0.0.1\nallow_anonymous true\n' $((port + 5)) >"$tmp/mosquitto.conf"
}
start_mosquitto() {
	"$@" mosquitto -c "$tmp/mosquitto.conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true is_open $((port + 5))
}
work_mosquitto() {
	seq 100 | mosquitto_pub -p $((port + 5)) -t a -l -q 1 -r
	mosquitto_sub -p $((port + 5)) -t a -C 1
}
stop_mosquitto() { kill "$(pid_of_server)"; }
pid_mosquitto() { pid_of_server; }

# A child for each connection, in its own namespaces and with a seccomp filter. It limits the
# address space to 200 MB, which must have room for the stream in several generations of children.
set_vsftpd() {
	command -v vsftpd >/dev/null && command -v curl >/dev/null && test "$(id -u)" -eq 0 || return
	mkdir -p "$tmp/ftp" "$tmp/ftp.empty"
	chmod 755 "$tmp/ftp" "$tmp/ftp.empty"
	seq 5000 >"$tmp/ftp/file"
	cat >"$tmp/vsftpd.conf" <<END
listen=YES
listen_address=127.0.0.1
listen_port=$((port + 6))
background=NO
anonymous_enable=YES
anon_root=$tmp/ftp
secure_chroot_dir=$tmp/ftp.empty
END
	chown root "$tmp/vsftpd.conf"
	size=1M
}
start_vsftpd() {
	"$@" vsftpd "$tmp/vsftpd.conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true curl -s "ftp://127.0.0.1:$((port + 6))/file"
}
work_vsftpd() {
	for i in 1 2 3 4 5; do
		curl -s "ftp://127.0.0.1:$((port + 6))/file"
	done | cksum
	curl -s -l "ftp://127.0.0.1:$((port + 6))/"
}
stop_vsftpd() { kill "$(pid_of_server)"; }
pid_vsftpd() { pid_of_server; }

set_named() {
	command -v named >/dev/null && command -v dig >/dev/null || return
	mkdir -p "$tmp/named"
	chmod 777 "$tmp/named"
	cat >"$tmp/named/conf" <<END
options { directory "$tmp/named"; listen-on port $((port + 7)) { 127.0.0.1; };
	listen-on-v6 { none; };
	pid-file "$tmp/named/pid"; recursion no; session-keyfile "$tmp/named/key"; };
controls { };
zone "x.test" { type primary; file "$tmp/named/zone"; };
END
	printf '$TTL 60\n@ IN SOA a b 1 60 60 60 60\n@ IN NS a\na IN A 127.0.0.1\nb IN A 1.2.3.4\n' \
		>"$tmp/named/zone"
}
start_named() {
	"$@" named -f -n 2 -c "$tmp/named/conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true dig +short @127.0.0.1 -p $((port + 7)) b.x.test
}
work_named() { look_up $((port + 7)) b.x.test a.x.test; }
stop_named() { kill "$(cat "$tmp/named/pid")"; }
pid_named() { cat "$tmp/named/pid"; }

set_dnsmasq() { command -v dnsmasq >/dev/null && command -v dig >/dev/null; }
start_dnsmasq() {
	"$@" dnsmasq -k -C /dev/null -p $((port + 8)) --listen-address=127.0.0.1 --bind-interfaces \
		--no-resolv --no-hosts --address=/x.test/1.2.3.4 --pid-file="$tmp/dnsmasq.pid" \
		>"$tmp/said" 2>&1 &
	server=$!
	until_true dig +short @127.0.0.1 -p $((port + 8)) b.x.test
}
work_dnsmasq() {
	for i in $(seq 20); do
		dig +short +tries=5 @127.0.0.1 -p $((port + 8)) "$i.x.test"
	done
	dig +short +tcp @127.0.0.1 -p $((port + 8)) b.x.test
}
stop_dnsmasq() { kill "$(cat "$tmp/dnsmasq.pid")"; }
pid_dnsmasq() { cat "$tmp/dnsmasq.pid"; }

set_rsyslog() {
	command -v rsyslogd >/dev/null && command -v logger >/dev/null || return
	mkdir -p "$tmp/rsyslog"
	cat >"$tmp/rsyslog/conf" <<END
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="$tmp/rsyslog/socket")
template(name="text" type="string" string="%msg%\\n")
*.* action(type="omfile" file="$tmp/rsyslog/lines" template="text")
END
}
start_rsyslog() {
	rm -f "$tmp/rsyslog/lines"
	"$@" rsyslogd -n -f "$tmp/rsyslog/conf" -i "$tmp/rsyslog/pid" >"$tmp/said" 2>&1 &
	server=$!
	until_true test -S "$tmp/rsyslog/socket"
	until_true logs_line begin
}
# A new line reaches the file.
logs_line() {
	logger -u "$tmp/rsyslog/socket" -- "$1"
	sleep 0.2
	grep -q "$1" "$tmp/rsyslog/lines"
}
work_rsyslog() {
	lines=$(grep -c 'line ' "$tmp/rsyslog/lines")
	for i in $(seq 50); do
		logger -u "$tmp/rsyslog/socket" -- "line $i"
	done
	until_true has_lines $((lines + 50))
	grep 'line ' "$tmp/rsyslog/lines" | tail -n 50 | cksum
}
has_lines() { test "$(grep -c 'line ' "$tmp/rsyslog/lines")" -ge "$1"; }
stop_rsyslog() { kill "$(cat "$tmp/rsyslog/pid")"; }
pid_rsyslog() { cat "$tmp/rsyslog/pid"; }

set_dbus() { command -v dbus-daemon >/dev/null && command -v dbus-send >/dev/null; }
start_dbus() {
	rm -f "$tmp/dbus"
	"$@" dbus-daemon --session --nofork --address="unix:path=$tmp/dbus" >"$tmp/said" 2>&1 &
	server=$!
	until_true names_on_dbus
}
names_on_dbus() {
	dbus-send --bus="unix:path=$tmp/dbus" --print-reply=literal --dest=org.freedesktop.DBus / \
		org.freedesktop.DBus.NameHasOwner string:org.freedesktop.DBus
}
work_dbus() {
	for i in $(seq 20); do
		names_on_dbus
	done
}
stop_dbus() { kill "$(pid_of_server)"; }
pid_dbus() { pid_of_server; }

# A master and a worker that runs scripts for a client of the protocol FastCGI.
set_phpfpm() {
	phpfpm=$(ls /usr/sbin/php-fpm* 2>/dev/null | head -n 1)
	test -x "$phpfpm" || return
	mkdir -p "$tmp/php"
	chmod 755 "$tmp/php"
	cat >"$tmp/php/conf" <<END
[global]
error_log = $tmp/php/messages
daemonize = no
[a]
listen = $tmp/php/socket
listen.mode = 0666
user = nobody
group = nogroup
pm = static
pm.max_children = 2
END
	# shellcheck disable=SC2016
	echo '<?php echo array_sum(range(1, 1000)), file_exists("/nonexist") ? "y" : "n", "\n";' \
		>"$tmp/php/a.php"
	cat >"$tmp/php/request.py" <<'END'
import struct, sys
def record(kind, data):
    return struct.pack(">BBHHBB", 1, kind, 1, len(data), 0, 0) + data
pairs = {"SCRIPT_FILENAME": sys.argv[1], "REQUEST_METHOD": "GET", "QUERY_STRING": ""}
sys.stdout.buffer.write(
    record(1, struct.pack(">HB5x", 1, 0)) +
    record(4, b"".join(bytes((len(k), len(v))) + k.encode() + v.encode()
                       for k, v in pairs.items())) +
    record(4, b"") + record(5, b""))
END
}
php_here() { python3 "$tmp/php/request.py" "$tmp/php/a.php" | ask "$tmp/php/socket"; }
start_phpfpm() {
	rm -f "$tmp/php/socket"
	"$@" "$phpfpm" -F -y "$tmp/php/conf" -R >"$tmp/said" 2>&1 &
	server=$!
	until_true php_here
}
work_phpfpm() {
	for i in $(seq 20); do
		php_here
	done | cksum
}
stop_phpfpm() { kill "$(ps -o ppid= -p "$(pid_of_server)" | tr -d ' ')"; }
pid_phpfpm() { pid_of_server; }

set_perl() {
	command -v perl >/dev/null || return
	cat >"$tmp/answer.pl" <<'END'
$| = 1;
while (<STDIN>) { my $n = -e "/nonexist"; print $_ * $_, " ", scalar(`echo $_`); }
END
}
start_perl() { begin_filter "$@" perl "$tmp/answer.pl"; }

set_ruby() {
	command -v ruby >/dev/null || return
	cat >"$tmp/answer.rb" <<'END'
$stdout.sync = true
STDIN.each_line { |l| File.exist?("/nonexist"); puts Thread.new { l.to_i * l.to_i }.value }
END
}
start_ruby() { begin_filter "$@" ruby "$tmp/answer.rb"; }

# A terminal without a person: the server of tmux, which runs a pipeline.
set_tmux() { command -v tmux >/dev/null; }
start_tmux() {
	rm -f "$tmp/tmux" "$tmp/in" "$tmp/answers"
	mkfifo "$tmp/in"
	"$@" tmux -D -S "$tmp/tmux" -f /dev/null >"$tmp/said" 2>&1 </dev/null &
	server=$!
	until_true test -S "$tmp/tmux"
	tmux -S "$tmp/tmux" new-session -d \
		"while read -r n; do echo \$((n * n)); done <'$tmp/in' | tee '$tmp/answers'"
	exec 7>"$tmp/in"
	echo 1 >&7
	until_true test -s "$tmp/answers"
}
work_tmux() { work_filter; }
stop_tmux() { exec 7>&-; tmux -S "$tmp/tmux" kill-server; }
pid_tmux() { tmux -S "$tmp/tmux" display-message -p '#{pid}'; }

# A pipeline that sudo runs. sudo gives it an environment of its own.
set_sudo() { command -v sudo >/dev/null && sudo -n -u nobody true 2>/dev/null; }
start_sudo() {
	begin_filter "$@" sudo -n -u nobody bash -c 'while read -r n; do echo $((n * n)); done | cat'
}
