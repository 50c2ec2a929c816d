/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weak.c - is linked without the library and prints whether it found it: weak [LOG]. If the library
 * was preloaded, it records into LOG with functions that it looks up itself.
 */
#define POSIX_TRACE_WEAK_NP
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <trace_np.h>

static int evaluated;

static int work(int i)
{
	POSIX_TRACE_SCOPE_NP(work, (s32, i, i));
	POSIX_TRACE_EVENT_NP(step, (s32, i, ++evaluated), (str, text, "step"));
	POSIX_TRACE_LOG_NP("i is %d", i);
	return i;
}

/* Stores the address of a function of the library. */
static int find(void *to, const char *name)
{
	void *found = dlsym(dlopen(NULL, RTLD_NOW), name);

	memcpy(to, &found, sizeof(found));
	return found != NULL;
}

int main(int argc, char **argv)
{
	int (*create)(pid_t, const trace_attr_t *, int, trace_id_t *);
	int (*start)(trace_id_t), (*stop)(trace_id_t);
	trace_id_t trid;
	int log;

	work(0);
	if (evaluated)
		return 3;
	if (!find(&create, "posix_trace_create_withlog") || !find(&start, "posix_trace_start") ||
	    !find(&stop, "posix_trace_shutdown")) {
		puts("absent");
		return 0;
	}
	puts("present");
	log = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	if (create(0, NULL, log, &trid) || start(trid))
		return 2;
	work(1);
	work(2);
	return stop(trid) || evaluated != 2;
}
