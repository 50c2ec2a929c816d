/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#include "preload/probe.h"

static int dl(int argc, char **argv)
{
	void *handle, *bare;
	int (*answer)(void);

	MUST(argc == 2); /* a library's path and name */
	handle = dlopen(argv[0], RTLD_NOW);
	MUST(handle);
	answer = (int (*)(void))dlsym(handle, "answer");
	MUST(answer && answer() == 42);
	bare = dlopen(argv[1], RTLD_LAZY);
	printf("%s\n", bare ? "found" : dlerror());
	MUST(!bare || dlclose(bare) == 0);
	MUST(dlclose(handle) == 0);
	MUST(dlopen("/no/such/library.so", RTLD_NOW) == NULL && dlerror());
	MUST(dlopen(NULL, RTLD_NOW));
	return 0;
}

const struct probe probes_dl[] = { { "dl", dl }, { 0 } };
