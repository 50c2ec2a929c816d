# SPDX-License-Identifier: LGPL-2.1-or-later
# fleet/servers.sh - servers of ClickHouse and ZooKeeper for tests; sourced.
#
# They are ordinary processes with configurations, data and logs of their own in the folder $servers,
# and ports from $port on, of the loopback address. Nothing of the system's folders is used.
#
#	start_clickhouse N [replica]	server number N from 1; its URL is http://127.0.0.1:$(http_of N)
#	start_zookeeper
#	wait_zookeeper			until it answers
#	kill_server NAME		with SIGKILL: clickhouse-N or zookeeper
#	stop_servers

# free_ports: the first of 30 ports that are not in use. They are below the ports that the kernel gives to
# clients, since a server ends if a client has its port.
free_ports() {
	cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
		awk -v first=$((12000 + $$ % 20000)) 'BEGIN { digits = "123456789ABCDEF" }
		$2 ~ /:/ {
			text = $2
			sub(/.*:/, "", text)
			for (number = 0; text != ""; text = substr(text, 2))
				number = 16 * number + index(digits, substr(text, 1, 1))
			used[number]
		}
		END {
			for (try = 0; try < 600; try++) {
				is_free = 1
				for (number = first; number < first + 30; number++)
					if (number in used) is_free = 0
				if (is_free) break
				first = first + 30 < 32000 ? first + 30 : 12000
			}
			print first
		}'
}
: "${port:=$(free_ports)}"
: "${session_ms:=5000}" # of ZooKeeper
http_of() { echo $((port + 10 * $1)); }

has_clickhouse() { command -v clickhouse-server >/dev/null; }
has_zookeeper() { command -v java >/dev/null && test -f /usr/share/java/zookeeper.jar; }

write_clickhouse() {
	mkdir -p "$servers/$1/tmp"
	cat >"$servers/$1/config.xml" <<-END
		<yandex>
		  <logger><level>warning</level><log>$servers/$1/log</log><errorlog>$servers/$1/err</errorlog>
		    <size>10M</size><count>2</count></logger>
		  <http_port>$2</http_port><tcp_port>$(($2 + 1))</tcp_port>
		  <interserver_http_port>$(($2 + 2))</interserver_http_port>
		  <interserver_http_host>127.0.0.1</interserver_http_host>
		  <listen_host>127.0.0.1</listen_host>
		  <path>${3:-$servers/$1/data}/</path><tmp_path>$servers/$1/tmp/</tmp_path>
		  <users_config>users.xml</users_config><default_profile>default</default_profile>
		  <default_database>default</default_database>
		  <mark_cache_size>100000000</mark_cache_size>
		  <uncompressed_cache_size>0</uncompressed_cache_size>
		  <max_concurrent_queries>200</max_concurrent_queries>
		  <timezone>UTC</timezone>
		  <zookeeper><node><host>127.0.0.1</host><port>$port</port></node>
		    <session_timeout_ms>$session_ms</session_timeout_ms></zookeeper>
		  <!-- A kill leaves parts that ZooKeeper does not have. In a small table they are most of the
		       rows, and the server would refuse to start. -->
		  <merge_tree>
		    <replicated_max_ratio_of_wrong_parts>1</replicated_max_ratio_of_wrong_parts>
		  </merge_tree>
		  <macros><shard>1</shard><replica>$1</replica></macros>
		</yandex>
	END
	cat >"$servers/$1/users.xml" <<-END
		<yandex>
		  <profiles><default><max_memory_usage>12000000000</max_memory_usage></default></profiles>
		  <users><default><password></password><networks><ip>127.0.0.1</ip></networks>
		    <profile>default</profile><quota>default</quota></default></users>
		  <quotas><default></default></quotas>
		</yandex>
	END
}

# start_clickhouse N [DATA]: DATA is a folder for the data, such as a small file system.
start_clickhouse() {
	test -f "$servers/clickhouse-$1/config.xml" ||
		write_clickhouse "clickhouse-$1" "$(http_of "$1")" "$2"
	(cd "$servers/clickhouse-$1" &&
		exec clickhouse-server --config-file=config.xml >out 2>&1) &
	echo $! >"$servers/clickhouse-$1/pid"
}

start_zookeeper() {
	mkdir -p "$servers/zookeeper/data"
	cat >"$servers/zookeeper/zoo.cfg" <<-END
		tickTime=1000
		dataDir=$servers/zookeeper/data
		clientPort=$port
		clientPortAddress=127.0.0.1
		admin.enableServer=false
		maxClientCnxns=0
		4lw.commands.whitelist=ruok
	END
	(cd "$servers/zookeeper" &&
		exec java -Xmx512m -Dzookeeper.log.dir=. -Dlog4j.configuration=file:/dev/null \
			-cp "/usr/share/java/zookeeper.jar:/usr/share/java/*" \
			org.apache.zookeeper.server.quorum.QuorumPeerMain zoo.cfg >out 2>&1) &
	echo $! >"$servers/zookeeper/pid"
}

# wait_zookeeper: without a session of ZooKeeper, a server refuses replicated tables. Returns 1 if there is
# no answer after 300 looks.
wait_zookeeper() {
	looks=0
	until test "$(printf ruok | curl -s --max-time 2 --noproxy '*' "telnet://127.0.0.1:$port" 2>/dev/null)" = imok; do
		looks=$((looks + 1))
		test $looks -lt 300 || return 1
		sleep 0.2
	done
}

# ask N SQL: the answer of a server. A statement may wait for ever for a part that no replica has, so
# the time is limited to $ask_s seconds.
: "${ask_s:=120}"
ask() { curl -sS --max-time "$ask_s" --noproxy '*' "http://127.0.0.1:$(http_of "$1")/" --data-binary "$2"; }

# wait_clickhouse N: until it answers. Returns 1 if it ends. A server that cannot load a table may stay
# without an answer for ever: after 300 looks it is killed.
wait_clickhouse() {
	looks=0
	until test "$(ask_s=5; ask "$1" 'SELECT 1' 2>/dev/null)" = 1; do
		kill -0 "$(cat "$servers/clickhouse-$1/pid")" 2>/dev/null || return 1
		looks=$((looks + 1))
		test $looks -lt 300 || { kill_server "clickhouse-$1"; return 1; }
		sleep 0.2
	done
}

kill_server() {
	kill -9 "$(cat "$servers/$1/pid")" 2>/dev/null
	wait "$(cat "$servers/$1/pid")" 2>/dev/null
	rm -f "$servers/$1/pid"
}

stop_servers() {
	for pid in "$servers"/*/pid; do
		test -f "$pid" || continue
		pid=${pid%/pid}
		kill_server "${pid##*/}"
	done
}
