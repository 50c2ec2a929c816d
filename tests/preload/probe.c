/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/probe.c - a program without trace points that makes the calls that its argument selects.
 * It is no test itself. It exits with 0, or prints the difference from a run without the shim and
 * exits with 1.
 */
#include "preload/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct probe *const all[] = {
	probes_alloc, probes_c11, probes_calls, probes_confine, probes_content, probes_context,
	probes_dl, probes_file, probes_func, probes_io, probes_ipc, probes_lock, probes_net,
	probes_process, probes_signal, probes_stack, probes_thread, probes_wide
};

void probe_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	exit(1);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc >= 2 && i < sizeof all / sizeof all[0]; i++)
		for (const struct probe *probe = all[i]; probe->name; probe++)
			if (!strcmp(probe->name, argv[1]))
				return probe->run(argc - 2, argv + 2);
	fprintf(stderr, "probe: what?\n");
	return 2;
}
