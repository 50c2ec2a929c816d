#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# git gc of a repository with a thousand objects.
PACKAGES='git git'
. "${0%/*}/lib.sh"

HOME=$tmp
GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000'
export HOME GIT_CONFIG_NOSYSTEM GIT_AUTHOR_DATE GIT_COMMITTER_DATE
git config --global user.name nobody
git config --global user.email nobody@example.org
git config --global pack.threads 2
git init -q "$tmp/original"
(cd "$tmp/original" && for n in $(seq 100); do
	seq "$n" 2000 >"file$((n % 17))"
	git add . && git commit -q -m "step $n"
done) || exit 99
work() {
	rm -rf "$tmp/copy"
	cp -r "$tmp/original" "$tmp/copy"
	(cd "$tmp/copy" && "$@" git gc --quiet) || return
	git -C "$tmp/copy" count-objects -v | grep -v size
	git -C "$tmp/copy" fsck --full 2>&1
	git -C "$tmp/copy" rev-parse HEAD
}
compare
check "its children are in the log" test "$(count_of process.start)" -ge 3
finish
