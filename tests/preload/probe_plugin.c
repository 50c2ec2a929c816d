/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads a plugin again and again, at its former place or another one, and calls a function of it.
 * test_function_late.sh compiles it. Arguments: the plugin, or - for that in $PLUGIN, and the
 * rounds; 0 rounds: until its input ends. Further arguments: threads (another thread runs), waits
 * (for a line before the plugin is loaded), moves (memory is mapped where the plugin was).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *runs(void *arg)
{
	for (;;)
		usleep(1000);
	return arg;
}

static volatile int is_over;

static void *reads(void *arg)
{
	while (getchar() != EOF)
		;
	is_over = 1;
	return arg;
}

static int has(int argc, char **argv, const char *word)
{
	for (int i = 3; i < argc; i++)
		if (!strcmp(argv[i], word))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = strcmp(argv[1], "-") ? argv[1] : getenv("PLUGIN");
	int rounds = atoi(argv[2]), wrong = 0, count = 0;
	uintptr_t places = 0, last = 0;
	pthread_t thread;

	printf("runs\n");
	fflush(stdout);
	if (has(argc, argv, "threads"))
		pthread_create(&thread, NULL, runs, NULL);
	if (has(argc, argv, "waits"))
		getchar();
	if (!rounds)
		pthread_create(&thread, NULL, reads, NULL);
	for (int i = 0; rounds ? i < rounds : !is_over; i++) {
		void *library = dlopen(path, RTLD_NOW);
		int (*function)(int) = NULL;

		if (library)
			function = (int (*)(int))dlsym(library, "plugin_outer");
		if (!function) {
			printf("%s\n", dlerror());
			return 1;
		}
		for (int k = 0; k < 10; k++) {
			wrong += function(k) != 3 * k + 3;
			count++;
		}
		places += (uintptr_t)function != last;
		last = (uintptr_t)function;
		/* Without a limit it stays loaded for a while, so that it can be patched. */
		for (int k = 0; !rounds && k < 500 && !is_over; k++) {
			wrong += function(k) != 3 * k + 3;
			usleep(1000);
		}
		dlclose(library);
		if (has(argc, argv, "moves"))
			mmap((void *)(last & ~(uintptr_t)4095), 4096, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	}
	printf("wrong %d places %d\n", wrong, places > 1);
	if (rounds)
		printf("calls %d\n", count);
	return 0;
}
