#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# compare_debs.sh FOLDER OTHER: compares the Debian packages of two builds. Prints nothing and exits
# with 0 if they are the same, byte for byte; otherwise prints what differs, in lines
#
#	PACKAGE: FILE: SECTION: line of the first build, or of the other
#
# with at most LINES (8) lines for each file. FILE is a member of the package or a file in it, SECTION
# is a section of an ELF file, of which the printable strings are compared, then the bytes.
set -u
: "${LINES:=8}"
one=$(cd "$1" && pwd) && two=$(cd "$2" && pwd) || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' 0
status=0

# differ LABEL FILE OTHER: prints the lines that differ.
differ() {
	cmp -s "$2" "$3" || diff -a "$2" "$3" | grep -a '^[<>]' | cut -c 1-200 | head -n "$LINES" |
		sed "s|^|$1: |"
}

# compare_elf LABEL FILE OTHER: section by section
compare_elf() {
	readelf -SW "$2" >"$scratch/sections" 2>/dev/null || return 1
	for section in $(sed -n 's/^  *\[ *[0-9]*\] \(\.[^ ]*\) .*/\1/p' "$scratch/sections"); do
		for side in 2 3; do
			eval "file=\$$side"
			rm -f "$scratch/section.$side"
			objcopy -O binary --only-section="$section" --set-section-flags "$section"=alloc \
				"$file" "$scratch/section.$side" 2>/dev/null || : >"$scratch/section.$side"
			strings -a "$scratch/section.$side" >"$scratch/strings.$side"
		done
		cmp -s "$scratch/section.2" "$scratch/section.3" && continue
		echo "$1: $section: $(wc -c <"$scratch/section.2") and $(wc -c <"$scratch/section.3") bytes"
		differ "$1: $section" "$scratch/strings.2" "$scratch/strings.3"
	done
}

# compare_trees PACKAGE: the files of the package, extracted into one and two
compare_trees() {
	for side in one two; do
		(cd "$scratch/$side" && find . -mindepth 1 -printf '%p %y %m %u %g %l %T@\n' | sort) \
			>"$scratch/list.$side"
	done
	differ "$1: list of files" "$scratch/list.one" "$scratch/list.two"
	(cd "$scratch/one" && find . -type f | sort) | while read -r file; do
		cmp -s "$scratch/one/$file" "$scratch/two/$file" && continue
		test -e "$scratch/two/$file" || continue
		case $file in
		*.gz)
			gunzip -c "$scratch/one/$file" >"$scratch/plain.one"
			gunzip -c "$scratch/two/$file" >"$scratch/plain.two"
			echo "$1: $file: $(cmp "$scratch/one/$file" "$scratch/two/$file" | sed 's/.*: //')"
			differ "$1: $file" "$scratch/plain.one" "$scratch/plain.two"
			;;
		*) compare_elf "$1: $file" "$scratch/one/$file" "$scratch/two/$file" ||
			differ "$1: $file" "$scratch/one/$file" "$scratch/two/$file" ;;
		esac
	done
}

for package in $({ cd "$one" && ls ./*.deb && cd "$two" && ls ./*.deb; } | sort -u); do
	package=${package#./}
	cmp -s "$one/$package" "$two/$package" && continue
	status=1
	test -e "$one/$package" || { echo "$package: only in the other build" && continue; }
	test -e "$two/$package" || { echo "$package: only in the first build" && continue; }
	echo "$package: $(wc -c <"$one/$package") and $(wc -c <"$two/$package") bytes"
	rm -rf "$scratch/one" "$scratch/two"
	dpkg-deb -R "$one/$package" "$scratch/one" && dpkg-deb -R "$two/$package" "$scratch/two" ||
		exit 99
	compare_trees "$package"
done
exit $status
