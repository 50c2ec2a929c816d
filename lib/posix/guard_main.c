/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posixtrace-guardian BIT GENERATION - completes a log whose writer is killed; posix/guard.h.
 *
 * Started by the library only: descriptor 3 is the arena, 4 the log. It has nothing to print to.
 */
#include <stdio.h>
#include <stdlib.h>

#include "posix/guard.h"

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "posixtrace-guardian is started by libposixtrace\n");
		return 2;
	}
	return ptx_guard_run(3, 4, (unsigned)strtoul(argv[1], NULL, 10),
			     strtoull(argv[2], NULL, 10));
}
