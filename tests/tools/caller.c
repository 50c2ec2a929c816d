/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/caller.c - calls functions of a library. It is no test itself. The transcripts trace it.
 *
 *	caller LIBRARY [FUNCTION NUMBER]...
 *
 * Each FUNCTION takes and returns an int, and its result is printed. If "-" is in the place of a
 * function, the program waits for a line of standard input. After "+" it calls the functions in a
 * new thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;
static char **next;

static void call_all(void);

static void *call_rest(void *arg)
{
	call_all();
	return arg;
}

static void call_all(void)
{
	while (*next) {
		const char *name = *next++;
		int (*function)(int, int, int, int) = NULL;

		if (!strcmp(name, "-")) {
			char line[80];

			if (!fgets(line, sizeof(line), stdin))
				return;
		} else if (!strcmp(name, "+")) {
			pthread_t thread;

			if (!pthread_create(&thread, NULL, call_rest, NULL))
				pthread_join(thread, NULL);
		} else if (*next) {
			*(void **)&function = dlsym(library, name);
			if (!function) {
				fprintf(stderr, "caller: %s\n", dlerror());
				exit(1);
			}
			printf("%s %d\n", name, function(atoi(*next++), 2, 3, 4));
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "caller: %s\n", dlerror());
		return 1;
	}
	next = argv + 2;
	call_all();
	return 0;
}
