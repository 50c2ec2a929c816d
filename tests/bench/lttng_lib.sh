# SPDX-License-Identifier: LGPL-2.1-or-later
# lttng_lib.sh - a private lttng-sessiond and sessions of it, for the scripts that source this. They
# set work, a folder that this file makes and removes, and get that folder's parent as $1. Exit 77
# when LTTng cannot be used here.
for tool in lttng lttng-sessiond babeltrace2; do
	command -v $tool >/dev/null || exit 77
done
if [ "$(id -u)" = 0 ] && [ -z "${LTTNG_PRIVATE_NP-}" ]; then
	# The root user's session daemon has fixed paths; this gives it paths of our own.
	LTTNG_PRIVATE_NP=1 exec unshare --mount sh "$0" "$1"
	exit 77
fi
if [ "$(id -u)" = 0 ]; then
	mount -t tmpfs none /run && mount -t tmpfs none /dev/shm || exit 77
fi

mkdir -p "$work" || exit 77
export LTTNG_HOME="$work" LTTNG_UST_REGISTER_TIMEOUT=-1
daemon=
cleanup()
{
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null && wait "$daemon" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

lttng-sessiond --no-kernel --quiet >"$work/daemon" 2>&1 &
daemon=$!
tries=0
until lttng --no-sessiond list >/dev/null 2>&1; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] && kill -0 $daemon 2>/dev/null || exit 77
	sleep 0.1
done

cpus=$(getconf _NPROCESSORS_CONF)
# Four sub-buffers for each CPU, with this number of bytes together.
sub_buffer()
{
	sub=4096
	while [ $((sub * 2 * 4 * cpus)) -le "$1" ]; do
		sub=$((sub * 2))
	done
}
sub_buffer 4194304

# session NAME [--snapshot] CHANNEL_OPTION...
session()
{
	name=$1 snapshot=
	shift
	[ "$1" != --snapshot ] || { snapshot=$1; shift; }
	{
		lttng create "$name" $snapshot --output="$work/$name" &&
		lttng enable-channel -u -s "$name" --buffers-uid --subbuf-size=$sub \
			--num-subbuf=4 "$@" c &&
		lttng add-context -u -s "$name" -c c -t vpid -t vtid -t ip &&
		lttng enable-event -u -s "$name" -c c 'posixtrace_bench:*' &&
		lttng start "$name"
	} >"$work/out" 2>&1 || { cat "$work/out" >&2; exit 77; }
}

seconds_since()
{
	awk "BEGIN { print ($(date +%s%N) - $1) / 1e9 }"
}
