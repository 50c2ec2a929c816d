#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# page.sh FILE...: the files of the page as a C source.
printf '#include "picture/page.h"\n'
for file; do
	name=$(basename "$file" | tr . _)
	printf '\nconst unsigned char %s[] = {\n' "$name"
	od -An -v -tu1 "$file" | sed 's/  *\([0-9][0-9]*\)/\1,/g'
	printf '};\nconst size_t %s_bytes = sizeof(%s);\n' "$name" "$name"
done
