#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Containers made by unshare(1), each with its own root folder, mounts and user, and the first one
# with its own process ids: a program is traced inside, from outside, and from another container.
# The traced programs have no capabilities. If podman(1) can run a root folder here, it does so, too.
# PODMAN_OPTIONS has options that "podman run" needs here; without it the test tries some sets.
. "${0%/*}/lib.sh"

for program in unshare nsenter setpriv chroot; do
	command -v $program >/dev/null || skip "no $program"
done
unshare -Umrpf --mount-proc true 2>/dev/null || skip "no new namespaces are allowed here"

# add_to ROOT FILE...: copies of files, and of the libraries that they need, at the same paths
add_to() {
	root=$1
	shift
	for file; do
		echo "$file"
		ldd "$file" 2>/dev/null | grep -o '/[^ ]*'
	done | sort -u | while read -r file; do
		test -e "$root$file" || { mkdir -p "$root${file%/*}" && cp -L "$file" "$root$file"; }
	done
}
# make_root NAME: a root folder. Its posixtrace consists of copies, as that of a container's image.
make_root() {
	mkdir -p "$tmp/$1/proc" "$tmp/$1/dev" "$tmp/$1/sys" "$tmp/$1/tmp" "$tmp/$1/volume"
	: >"$tmp/$1/dev/null"
	add_to "$tmp/$1" "$(command -v sh)" "$(command -v cat)" "$(command -v sleep)" \
		"$(command -v setpriv)" "$build/lib/posixtrace-guardian" \
		"$build/lib/.libs/libposixtrace.so.1" "$shim" "$posixtrace"
}
# inside NAME COMMAND...: runs it there without capabilities. This process must have its namespaces.
inside='
	root=$1 volume=$2
	shift 2
	mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" &&
		mount --bind /dev/null "$root/dev/null" &&
		mount --bind "$volume" "$root/volume" && cd / &&
		exec chroot "$root" setpriv --no-new-privs --inh-caps=-all --bounding-set=-all "$@"'
posixtrace=$(readlink -f "$posixtrace")
make_root one
make_root two
mkdir "$tmp/volume"
unset POSIXTRACE_RUNTIME_DIR
LD_LIBRARY_PATH=$(cd "$build/lib/.libs" && pwd -P)
loop='echo $$ >/volume/there; while :; do cat /volume/there >/dev/null; sleep 0.05; done'

# until_there: the traced program runs
until_there() {
	tries=600
	until test -s "$tmp/volume/there" || test $tries -eq 0; do
		tries=$((tries - 1))
		sleep 0.05
	done
}

# --- Inside

unshare -Umrpf sh -c "$inside" sh "$tmp/one" "$tmp/volume" \
	"$posixtrace" record -o /volume/inside.ptl -- sh -c 'cat /proc/self/status >/volume/status' \
	>"$tmp/out" 2>&1
check "a program is recorded inside: $(cat "$tmp/out")" test $? -eq 0
check "it has no capabilities" grep -q '^CapEff:	0*$' "$tmp/volume/status"
run 0 verify "$tmp/volume/inside.ptl"
"$posixtrace" dump -e io.open "$tmp/volume/inside.ptl" >"$tmp/out"
check "the log has its calls" has out '/volume/status'

# --- From outside

unshare -Umrpf sh -c "$inside" sh "$tmp/one" "$tmp/volume" sh -c "$loop" 2>/dev/null &
keeper=$!
end_target() {
	test -z "${target-}" || kill -9 "$target"
	wait
	target=
} 2>/dev/null
trap 'is_script && { end_target; rm -rf "$tmp"; }' 0
until_there
target=$(cat "/proc/$keeper/task/$keeper/children")
target=${target%% *}
check "the process has other numbers inside" test "$target" != "$(cat "$tmp/volume/there")"
run 0 attach -p "$target" --duration 1s -o "$tmp/outside.ptl"
run 0 verify "$tmp/outside.ptl"
"$posixtrace" dump -e 'process.*' "$tmp/outside.ptl" >"$tmp/out"
check "it is traced from outside" test -s "$tmp/out"

# --- From another container with the same process ids, whose volume both have

nsenter -t "$target" -U -p --preserve-credentials unshare -mf sh -c "$inside" \
	sh "$tmp/two" "$tmp/volume" "$posixtrace" attach -p "$(cat "$tmp/volume/there")" --duration 1s \
	-o /volume/across.ptl >"$tmp/out" 2>&1
check "it is traced from another container: $(cat "$tmp/out")" test $? -eq 0
run 0 verify "$tmp/volume/across.ptl"
"$posixtrace" dump -e 'process.*' "$tmp/volume/across.ptl" >"$tmp/out"
check "the log on the volume has its calls" test -s "$tmp/out"

# --- Without the library, or with another one

end_target
echo >>"$tmp/one$shim"
rm "$tmp/volume/there"
unshare -Umrpf sh -c "$inside" sh "$tmp/one" "$tmp/volume" sh -c "$loop" 2>/dev/null &
keeper=$!
until_there
target=$(cat "/proc/$keeper/task/$keeper/children")
target=${target%% *}
run 1 attach -p "$target" --duration 1s -o "$tmp/no.ptl"
check "another version is refused" has err 'another version of the file .*install the same version'
rm "$tmp/one$shim"
run 1 attach -p "$target" --duration 1s -o "$tmp/no.ptl"
check "a missing one, too" has err 'does not see the file .*install the same version'
cp -L "$shim" "$tmp/here.so"
ln -s "$tmp/here.so" "$tmp/one$shim"
run 1 attach -p "$target" --duration 1s -o "$tmp/no.ptl"
check "a link is followed in the root folder of the process" has err 'does not see the file'
rm "$tmp/one$shim"
end_target

# --- podman

# with_cgroup2 COMMAND...: all control groups that the command sees are of version 2
with_cgroup2() {
	unshare -m sh -c 'umount -R -l /sys/fs/cgroup 2>/dev/null
		mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"' sh "$@"
}
# run_podman ARGUMENT...: podman run without capabilities
run_podman() {
	# shellcheck disable=SC2086 # words
	$groups podman run $PODMAN_OPTIONS --rm --network none --cap-drop all -v "$tmp/volume:/volume" \
		-e LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$@"
}

# find_options: the first set of options with which podman runs a root folder, in PODMAN_OPTIONS.
# podman raises the limits, which root may not do everywhere. crun refuses control groups of both
# versions at once, so all sets are also tried with_cgroup2.
find_options() {
	set -- "${PODMAN_OPTIONS-}"
	limits='--ulimit=nofile=1024:1024 --ulimit=nproc=1024:1024'
	test -n "$1" || set -- "" "$limits" "--runtime=runc $limits" "--cgroups=disabled $limits"
	for groups in '' with_cgroup2; do
		for PODMAN_OPTIONS; do
			run_podman --rootfs "$tmp/two" sh -c : >"$tmp/err" 2>&1 && return
		done
	done
	return 1
}
if command -v podman >/dev/null && test "$(id -u)" -eq 0 && find_options; then
	echo "podman runs: $groups podman run $PODMAN_OPTIONS"
	cp -L "$shim" "$tmp/one$shim"
	run_podman --rootfs "$tmp/two" "$posixtrace" record -o /volume/podman.ptl -- \
		cat /proc/self/status >"$tmp/out" 2>&1
	check "a program is recorded in podman: $(cat "$tmp/out")" test $? -eq 0
	check "it has no capabilities there" has out '^CapEff:	0*$'
	run 0 verify "$tmp/volume/podman.ptl"
	rm -f "$tmp/volume/there"
	# podman restricts system calls, so the library is loaded at the start.
	container=$(run_podman -d -e LD_PRELOAD="$shim" --rootfs "$tmp/one" sh -c "$loop")
	until_there
	target=$(podman inspect -f '{{.State.Pid}}' "$container")
	run 0 attach -p "$target" --duration 1s \
		-o "$tmp/podman.ptl"
	"$posixtrace" dump -e 'process.*' "$tmp/podman.ptl" >"$tmp/out"
	check "a container of podman is traced from outside" test -s "$tmp/out"
	# podman refuses common process ids without control groups.
	case $PODMAN_OPTIONS in *--cgroups=disabled*) ;; *)
		run_podman --pid "container:$container" --rootfs "$tmp/two" "$posixtrace" attach \
			-p "$(cat "$tmp/volume/there")" --duration 1s -o /volume/pods.ptl >"$tmp/out" 2>&1
		check "it is traced from another one: $(cat "$tmp/out")" test $? -eq 0
		run 0 verify "$tmp/volume/pods.ptl"
	esac
	$groups podman kill "$container" >/dev/null
	target=
else
	echo "podman cannot run a root folder here, and is not tested: $(cat "$tmp/err")"
fi
finish
