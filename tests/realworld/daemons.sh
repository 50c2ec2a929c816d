# SPDX-License-Identifier: LGPL-2.1-or-later
# realworld/daemons.sh - daemons with several processes, which table.sh tries if they are installed.
#
# Most of them give work to children of another user, in another root directory, or with other
# descriptors. The functions of each program are those that table.sh describes; servers.sh has
# $port, ask and is_open.

# Sends a message to the user nobody by SMTP. The argument is the port.
send_mail() {
	printf 'HELO a\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<nobody@x.test>\r\nDATA\r\n' >"$tmp/mail"
	printf 'Subject: s\r\n\r\ntext\r\n.\r\nQUIT\r\n' >>"$tmp/mail"
	curl -s --max-time 20 "telnet://127.0.0.1:$1" <"$tmp/mail" | cut -c 1-3
}
# has_text FILE COUNT: the mailbox has so many messages.
has_text() { test "$(grep -c '^text' "$1")" -ge "$2"; }

# The daemon, a child for each connection, and programs that it executes for each message.
set_exim() {
	command -v exim4 >/dev/null && command -v curl >/dev/null && test "$(id -u)" -eq 0 || return
	mkdir -p "$tmp/exim/spool"
	chown -R Debian-exim "$tmp/exim"
	chmod 755 "$tmp/exim"
	cat >"$tmp/exim/conf" <<END
primary_hostname = x.test
spool_directory = $tmp/exim/spool
log_file_path = $tmp/exim/%slog
pid_file_path = $tmp/exim/pid
daemon_smtp_ports = $((port + 10))
local_interfaces = 127.0.0.1
tls_advertise_hosts =
host_lookup =
rfc1413_query_timeout = 0s
smtp_enforce_sync = false
acl_smtp_rcpt = accept
acl_smtp_data = accept
begin acl
accept:
	accept
begin routers
all:
	driver = accept
	transport = file
begin transports
file:
	driver = appendfile
	file = $tmp/exim/box
	user = Debian-exim
END
}
start_exim() {
	"$@" exim4 -C "$tmp/exim/conf" -bdf >"$tmp/said" 2>&1 &
	server=$!
	until_true is_open $((port + 10))
}
work_exim() {
	messages=$(grep -c '^text' "$tmp/exim/box" 2>/dev/null)
	for i in 1 2 3; do
		send_mail $((port + 10))
	done
	until_true has_text "$tmp/exim/box" $((messages + 3)) && echo received
}
stop_exim() { kill "$(cat "$tmp/exim/pid")"; }
pid_exim() { cat "$tmp/exim/pid"; }

set_proftpd() {
	command -v proftpd >/dev/null && command -v curl >/dev/null && test "$(id -u)" -eq 0 || return
	mkdir -p "$tmp/pro" "$tmp/pro.run"
	chmod 755 "$tmp/pro" "$tmp/pro.run"
	seq 5000 >"$tmp/pro/file"
	cat >"$tmp/proftpd.conf" <<END
Port $((port + 11))
DefaultAddress 127.0.0.1
ServerType standalone
UseIPv6 off
PidFile $tmp/pro.run/pid
ScoreboardFile $tmp/pro.run/board
SystemLog $tmp/pro.run/log
WtmpLog off
TransferLog none
RequireValidShell off
UseFtpUsers off
<Anonymous $tmp/pro>
	User nobody
	Group nogroup
	UserAlias anonymous nobody
</Anonymous>
END
}
start_proftpd() {
	"$@" proftpd -n -c "$tmp/proftpd.conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true curl -s "ftp://127.0.0.1:$((port + 11))/file"
}
work_proftpd() {
	for i in 1 2 3 4 5; do
		curl -s "ftp://127.0.0.1:$((port + 11))/file"
	done | cksum
	curl -s -l "ftp://127.0.0.1:$((port + 11))/"
}
stop_proftpd() { kill "$(cat "$tmp/pro.run/pid")"; }
pid_proftpd() { cat "$tmp/pro.run/pid"; }

# The login runs in an empty root directory, and passes the connection to a process of the user.
set_dovecot() {
	command -v dovecot >/dev/null && command -v curl >/dev/null && test "$(id -u)" -eq 0 || return
	mkdir -p "$tmp/dove/mail"
	chmod 755 "$tmp/dove"
	cat >"$tmp/dove/conf" <<END
base_dir = $tmp/dove/run
state_dir = $tmp/dove/state
log_path = $tmp/dove/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:$tmp/dove/mail
mail_uid = nobody
mail_gid = nogroup
first_valid_uid = 1
service imap-login {
  inet_listener imap {
    port = $((port + 12))
  }
  inet_listener imaps {
    port = 0
  }
}
passdb {
  driver = static
  args = password=p
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=$tmp/dove/mail
}
END
	chown -R nobody "$tmp/dove/mail"
}
imap() { curl -s -u u:p "imap://127.0.0.1:$((port + 12))/"; }
start_dovecot() {
	"$@" dovecot -F -c "$tmp/dove/conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true imap
}
work_dovecot() {
	printf 'Subject: s\r\n\r\ntext\r\n' >"$tmp/mail"
	for i in 1 2 3; do
		curl -s -u u:p -T "$tmp/mail" "imap://127.0.0.1:$((port + 12))/INBOX"
		curl -s -u u:p "imap://127.0.0.1:$((port + 12))/INBOX;MAILINDEX=$i" | tr -d '\r'
	done
	imap
}
stop_dovecot() { kill "$(cat "$tmp/dove/run/master.pid")"; }
pid_dovecot() { cat "$tmp/dove/run/master.pid"; }

set_slapd() {
	command -v slapd >/dev/null && command -v ldapsearch >/dev/null || return
	mkdir -p "$tmp/ldap"
	cat >"$tmp/ldap/conf" <<END
include /etc/ldap/schema/core.schema
pidfile $tmp/ldap/pid
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
maxsize 10485760
suffix "dc=x"
rootdn "cn=r,dc=x"
rootpw p
directory $tmp/ldap
END
}
ldap() {
	command=ldap$1
	shift
	"$command" -x -H "ldap://127.0.0.1:$((port + 13))" "$@"
}
start_slapd() {
	rm -f "$tmp/ldap/data.mdb" "$tmp/ldap/lock.mdb"
	"$@" slapd -d 0 -f "$tmp/ldap/conf" -h "ldap://127.0.0.1:$((port + 13))" >"$tmp/said" 2>&1 &
	server=$!
	until_true ldap search -b '' -s base
}
work_slapd() {
	{
		printf 'dn: dc=x\nobjectClass: dcObject\nobjectClass: organization\no: x\ndc: x\n\n'
		for i in $(seq 30); do
			printf 'dn: cn=%d,dc=x\nobjectClass: person\ncn: %d\nsn: s\n\n' "$i" "$i"
		done
	} | ldap add -c -D cn=r,dc=x -w p 2>/dev/null | cksum
	ldap search -LLL -b dc=x '(cn=1*)' cn
	ldap delete -r -D cn=r,dc=x -w p dc=x
}
stop_slapd() { kill "$(cat "$tmp/ldap/pid")"; }
pid_slapd() { cat "$tmp/ldap/pid"; }

# A child for each connection, with another user and root directory.
set_rsyncd() {
	command -v rsync >/dev/null && test "$(id -u)" -eq 0 || return
	mkdir -p "$tmp/rsync"
	chmod 755 "$tmp/rsync"
	for i in $(seq 20); do
		seq "$i" 1000 >"$tmp/rsync/$i"
	done
	cat >"$tmp/rsyncd.conf" <<END
pid file = $tmp/rsyncd.pid
log file = $tmp/rsyncd.log
port = $((port + 14))
address = 127.0.0.1
[m]
path = $tmp/rsync
uid = nobody
gid = nogroup
use chroot = yes
END
}
start_rsyncd() {
	rm -f "$tmp/rsyncd.pid"
	"$@" rsync --daemon --no-detach --config="$tmp/rsyncd.conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true is_open $((port + 14))
}
work_rsyncd() {
	for i in 1 2 3; do
		rm -rf "$tmp/rsynced"
		rsync -a "rsync://127.0.0.1:$((port + 14))/m/" "$tmp/rsynced/"
		cat "$tmp/rsynced/"* | cksum
	done
}
stop_rsyncd() { kill "$(cat "$tmp/rsyncd.pid")"; }
pid_rsyncd() { cat "$tmp/rsyncd.pid"; }

# A folder with a script of CGI.
make_cgi() {
	mkdir -p "$1"
	chmod 755 "$1"
	seq 5000 >"$1/file"
	cat >"$1/a.cgi" <<'END'
#!/bin/sh
printf "Content-Type: text/plain\r\n\r\n"
cksum
test -e /nonexist || echo "$QUERY_STRING"
END
	chmod 755 "$1/a.cgi"
}
# The argument is the address.
ask_cgi() {
	for i in $(seq 10); do
		curl -s "$1/a.cgi?$i"
		curl -s -d "data=$i" "$1/a.cgi"
		curl -s "$1/file" | cksum
		curl -s -o /dev/null -w '%{http_code}\n' "$1/none"
	done
}

set_lighttpd() {
	command -v lighttpd >/dev/null && command -v curl >/dev/null || return
	make_cgi "$tmp/lighttpd"
	cat >"$tmp/lighttpd.conf" <<END
server.modules = ( "mod_cgi" )
server.document-root = "$tmp/lighttpd"
server.bind = "127.0.0.1"
server.port = $((port + 15))
server.pid-file = "$tmp/lighttpd.pid"
cgi.assign = ( ".cgi" => "" )
END
}
start_lighttpd() {
	"$@" lighttpd -D -f "$tmp/lighttpd.conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true is_open $((port + 15))
}
work_lighttpd() { ask_cgi "http://127.0.0.1:$((port + 15))"; }
stop_lighttpd() { kill "$(cat "$tmp/lighttpd.pid")"; }
pid_lighttpd() { cat "$tmp/lighttpd.pid"; }

# Workers with threads, and a daemon that starts the scripts.
set_apache() {
	command -v apache2 >/dev/null && command -v curl >/dev/null || return
	make_cgi "$tmp/apache"
	{
		for module in mpm_event authz_core cgid mime; do
			echo "LoadModule ${module}_module /usr/lib/apache2/modules/mod_$module.so"
		done
		cat <<END
ServerRoot $tmp/apache
ServerName x
DefaultRuntimeDir $tmp/apache
PidFile $tmp/apache.pid
ErrorLog $tmp/apache.log
ScriptSock $tmp/apache.sock
TypesConfig /dev/null
Listen 127.0.0.1:$((port + 16))
StartServers 2
ThreadsPerChild 25
DocumentRoot $tmp/apache
<Directory $tmp/apache>
	Options ExecCGI
	AddHandler cgi-script .cgi
	Require all granted
</Directory>
END
		test "$(id -u)" -ne 0 || printf 'User nobody\nGroup nogroup\n'
	} >"$tmp/apache.conf"
}
start_apache() {
	"$@" apache2 -DFOREGROUND -f "$tmp/apache.conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true is_open $((port + 16))
}
work_apache() { ask_cgi "http://127.0.0.1:$((port + 16))"; }
stop_apache() { kill "$(cat "$tmp/apache.pid")"; }
pid_apache() { cat "$tmp/apache.pid"; }

# Workers of an application in Python.
make_wsgi() {
	mkdir -p "$tmp/wsgi"
	cat >"$tmp/wsgi/app.py" <<'END'
import os
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"%d %s\n" % (os.path.exists("/nonexist"), environ["PATH_INFO"].encode())]
END
}
ask_wsgi() {
	for i in $(seq 20); do
		curl -s --unix-socket "$1" "http://x/$i"
	done
}
is_wsgi_open() { curl -s --max-time 5 --unix-socket "$1" http://x/; }

set_gunicorn() {
	command -v gunicorn >/dev/null && command -v curl >/dev/null || return
	make_wsgi
}
start_gunicorn() {
	"$@" gunicorn -w 2 --chdir "$tmp/wsgi" -b "unix:$tmp/gunicorn" -p "$tmp/gunicorn.pid" \
		app:application >"$tmp/said" 2>&1 &
	server=$!
	until_true is_wsgi_open "$tmp/gunicorn"
}
work_gunicorn() { ask_wsgi "$tmp/gunicorn"; }
stop_gunicorn() { kill "$(cat "$tmp/gunicorn.pid")"; }
pid_gunicorn() { newest "$(cat "$tmp/gunicorn.pid")"; }

set_uwsgi() {
	command -v uwsgi >/dev/null && command -v curl >/dev/null &&
		ls /usr/lib/uwsgi/plugins/python3*_plugin.so >/dev/null 2>&1 || return
	make_wsgi
}
start_uwsgi() {
	rm -f "$tmp/uwsgi"
	"$@" uwsgi --plugin python3 --master -p 2 --http-socket "$tmp/uwsgi" \
		--wsgi-file "$tmp/wsgi/app.py" --pidfile "$tmp/uwsgi.pid" --die-on-term >"$tmp/said" 2>&1 &
	server=$!
	until_true is_wsgi_open "$tmp/uwsgi"
}
work_uwsgi() { ask_wsgi "$tmp/uwsgi"; }
stop_uwsgi() { kill "$(cat "$tmp/uwsgi.pid")"; }
pid_uwsgi() { cat "$tmp/uwsgi.pid"; }

# Servers of names with a process for each task.
set_nsd() {
	command -v nsd >/dev/null && command -v dig >/dev/null || return
	mkdir -p "$tmp/nsd"
	chmod 777 "$tmp/nsd"
	cat >"$tmp/nsd/conf" <<END
server:
	ip-address: 127.0.0.1
	port: $((port + 17))
	zonesdir: "$tmp/nsd"
	pidfile: "$tmp/nsd/pid"
	xfrdir: "$tmp/nsd"
	xfrdfile: ""
	zonelistfile: "$tmp/nsd/list"
	database: ""
	logfile: "$tmp/nsd/log"
remote-control:
	control-enable: no
zone:
	name: x.test
	zonefile: zone
END
	printf '$ORIGIN x.test.\n$TTL 60\n@ IN SOA a b 1 60 60 60 60\n@ IN NS a\na IN A 127.0.0.1\n' \
		>"$tmp/nsd/zone"
}
start_nsd() {
	"$@" nsd -d -c "$tmp/nsd/conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true dig +short @127.0.0.1 -p $((port + 17)) a.x.test
}
work_nsd() { look_up $((port + 17)) a.x.test a.x.test; }
stop_nsd() { kill "$(cat "$tmp/nsd/pid")"; }
pid_nsd() { cat "$tmp/nsd/pid"; }

set_unbound() {
	command -v unbound >/dev/null && command -v dig >/dev/null || return
	mkdir -p "$tmp/unbound"
	chmod 777 "$tmp/unbound"
	cat >"$tmp/unbound/conf" <<END
server:
	interface: 127.0.0.1
	port: $((port + 18))
	num-threads: 2
	chroot: "$tmp/unbound"
	directory: "$tmp/unbound"
	pidfile: "$tmp/unbound/pid"
	use-syslog: no
	local-zone: "x.test." static
	local-data: "a.x.test. A 1.2.3.4"
remote-control:
	control-enable: no
END
}
start_unbound() {
	"$@" unbound -d -c "$tmp/unbound/conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true dig +short @127.0.0.1 -p $((port + 18)) a.x.test
}
work_unbound() { look_up $((port + 18)) a.x.test a.x.test; }
stop_unbound() { kill "$(cat "$tmp/unbound/pid")"; }
pid_unbound() { cat "$tmp/unbound/pid"; }

set_gitd() {
	command -v git >/dev/null && test -x "$(git --exec-path)/git-daemon" || return
	git init -q --bare "$tmp/gitd" && git init -q "$tmp/gitw" && seq 1000 >"$tmp/gitw/file" &&
		git -C "$tmp/gitw" add file &&
		git -C "$tmp/gitw" -c user.name=n -c user.email=e commit -q -m m &&
		git -C "$tmp/gitw" push -q "$tmp/gitd" HEAD:refs/heads/a
}
start_gitd() {
	"$@" git daemon --base-path="$tmp" --export-all --enable=receive-pack --reuseaddr \
		--listen=127.0.0.1 --port=$((port + 19)) --pid-file="$tmp/gitd.pid" >"$tmp/said" 2>&1 &
	server=$!
	until_true is_open $((port + 19))
}
work_gitd() {
	for i in 1 2 3; do
		rm -rf "$tmp/gitc"
		git clone -q -b a "git://127.0.0.1:$((port + 19))/gitd" "$tmp/gitc"
		cksum <"$tmp/gitc/file"
		git -C "$tmp/gitc" push -q origin "HEAD:refs/heads/b$i"
	done
	git ls-remote "git://127.0.0.1:$((port + 19))/gitd"
}
stop_gitd() { kill "$(cat "$tmp/gitd.pid")"; }
pid_gitd() { cat "$tmp/gitd.pid"; }

# It ends all processes of its group when it ends.
set_smbd() {
	command -v smbd >/dev/null && command -v smbclient >/dev/null && test "$(id -u)" -eq 0 || return
	mkdir -p "$tmp/smb/share"
	chmod -R 755 "$tmp/smb"
	seq 5000 >"$tmp/smb/share/file"
	cat >"$tmp/smb/conf" <<END
[global]
server role = standalone
map to guest = bad user
interfaces = lo
bind interfaces only = yes
smb ports = $((port + 20))
load printers = no
printing = bsd
disable spoolss = yes
lock directory = $tmp/smb
state directory = $tmp/smb
cache directory = $tmp/smb
private dir = $tmp/smb
pid directory = $tmp/smb
ncalrpc dir = $tmp/smb/rpc
log file = $tmp/smb/log
[share]
path = $tmp/smb/share
guest ok = yes
END
}
smb() { smbclient -N -s "$tmp/smb/conf" -p $((port + 20)) //127.0.0.1/share -c "$1" 2>/dev/null; }
start_smbd() {
	"$@" setsid smbd -F --no-process-group -s "$tmp/smb/conf" >"$tmp/said" 2>&1 </dev/null &
	server=$!
	until_true smb ls
}
work_smbd() {
	for i in 1 2 3; do
		smb 'get file -' | cksum
	done
	smb 'get none -'
	smb ls | grep -c file
}
stop_smbd() { kill "$(cat "$tmp/smb/smbd.pid")"; }
pid_smbd() { cat "$tmp/smb/smbd.pid"; }
