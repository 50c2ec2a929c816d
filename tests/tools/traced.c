/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * traced.c LOG [PLUGIN...] - traces itself in functions that test_symbols.sh looks for: in a
 * function of its own, in an inlined function, in a function of each plugin, which it then unloads,
 * and in a function of a child.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

static trace_event_id_t id;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "traced: %s: %s\n", what, strerror(err));
	exit(1);
}

void __attribute__((noinline)) in_the_program(int number)
{
	posix_trace_event(id, &number, sizeof(number));
	__asm__ volatile("");
}

static inline void __attribute__((always_inline)) inlined(int number)
{
	posix_trace_event(id, &number, sizeof(number));
	__asm__ volatile("");
}

void __attribute__((noinline)) outer(int number)
{
	inlined(number);
	__asm__ volatile("");
}

static void __attribute__((noinline)) hidden(int number)
{
	posix_trace_event(id, &number, sizeof(number));
	__asm__ volatile("");
}

static void use_plugin(const char *path, trace_id_t trid)
{
	void (*trace)(trace_event_id_t, int);
	void *plugin = dlopen(path, RTLD_NOW);

	if (!plugin) {
		fprintf(stderr, "traced: %s\n", dlerror());
		exit(1);
	}
	*(void **)&trace = dlsym(plugin, "plugin_trace");
	trace(id, 10);
	must(posix_trace_flush(trid), "flush");
	dlclose(plugin);
	must(posix_trace_flush(trid), "flush");
}

int main(int argc, char **argv)
{
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child;
	int fd;

	if (argc < 2)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	must(posix_trace_attr_init(&attr), "attributes");
	must(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), "inherited");
	must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "policy");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "create");
	must(posix_trace_eventid_open("here", &id), "event");
	must(posix_trace_start(trid), "start");
	in_the_program(1);
	outer(2);
	hidden(3);
	child = fork();
	if (!child) {
		in_the_program(4);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	for (int i = 2; i < argc; i++)
		use_plugin(argv[i], trid);
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
