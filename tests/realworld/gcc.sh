#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# gcc compiling parts of this project: the same objects, and the family of processes that strace sees.
PACKAGES='gcc gcc
make make
python3 python3
strace strace'
. "${0%/*}/lib.sh"

PATH=/usr/bin:/bin # the distribution's compiler, without a cache in front of it
# A makefile of its own: the same commands each time, whatever this tree was configured with.
cat >"$tmp/Makefile" <<END
sources := \$(wildcard $source/lib/record/*.c $source/lib/ring/*.c $source/lib/base/*.c)
objects := \$(notdir \$(sources:.c=.o))
vpath %.c $source/lib/record $source/lib/ring $source/lib/base
part.so: \$(objects)
	@gcc -shared -o \$@ \$^ && cksum \$^ \$@
%.o: %.c
	@gcc -std=gnu11 -D_GNU_SOURCE -DPACKAGE_NAME='"part"' -DPACKAGE_VERSION='"0"' -O1 -fPIC -I$source/lib -I$source/include -c -o \$@ \$<
END
work() {
	rm -f "$tmp"/*.o "$tmp/part.so"
	"$@" make -s -f "$tmp/Makefile"
}
compare

# The program, exit status and parent of each process. Equal ones count once, because process
# numbers differ.
families=process
once traced record
"$posixtrace" dump --json "$log" >"$tmp/events"
rm -f "$tmp"/*.o "$tmp/part.so"
strace -f -q -s 0 -e trace=process -e signal=none -o "$tmp/strace" make -s -f "$tmp/Makefile" >/dev/null 2>&1
python3 "$here/tree.py" log "$tmp/events" >"$tmp/tree.log"
python3 "$here/tree.py" strace "$tmp/strace" >"$tmp/tree.strace"
check "there is a tree" test "$(wc -l <"$tmp/tree.strace")" -ge 50
check "the tree of processes is the one that strace saw" diff "$tmp/tree.strace" "$tmp/tree.log"
echo "gcc: $(wc -l <"$tmp/tree.log") processes in the log, $(wc -l <"$tmp/tree.strace") in strace"
finish
