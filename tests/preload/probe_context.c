/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls in contexts where preloaded libraries usually break. Each call that the test looks for in
 * the log closes a descriptor that does not exist: close(-NUMBER).
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/probe.h"

static pthread_key_t key;

static void at_thread_end(void *arg)
{
	(void)arg;
	close(-21);
	free(malloc(10));
}

static void *sets_key(void *arg)
{
	pthread_setspecific(key, arg);
	return NULL;
}

static int tls_destructor(int argc, char **argv)
{
	pthread_t thread;

	(void)argc, (void)argv;
	MUST(pthread_key_create(&key, at_thread_end) == 0);
	for (int i = 0; i < 10; i++) {
		MUST(pthread_create(&thread, NULL, sets_key, &key) == 0);
		MUST(pthread_join(thread, NULL) == 0);
	}
	return 0;
}

static volatile sig_atomic_t handled;

static void handler(int number)
{
	int saved = errno;
	pid_t child;

	(void)number;
	close(-31);
	child = vfork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	errno = saved;
	handled = 1;
}

static int altstack(int argc, char **argv)
{
	static char memory[16384];
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };

	(void)argc, (void)argv;
	MUST(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	MUST(raise(SIGUSR1) == 0 && handled);
	return 0;
}

static void *allocates(void *arg)
{
	for (volatile int *go = arg; *go;)
		free(malloc(100));
	return NULL;
}

/* Children of a program whose other threads are inside wrappers. */
static int fork_threads(int argc, char **argv)
{
	pthread_t thread[4];
	volatile int go = 1;
	int status;

	(void)argc, (void)argv;
	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&thread[i], NULL, allocates, (void *)&go) == 0);
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();

		if (child == 0) {
			free(malloc(100));
			signal(SIGUSR1, handler);
			close(-41);
			_exit(0);
		}
		MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	}
	go = 0;
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
	return 0;
}

static int dlclosed(int argc, char **argv)
{
	MUST(argc == 1); /* a library with call() */
	for (int i = 0; i < 10; i++) {
		void *handle = dlopen(argv[0], RTLD_NOW);
		void (*call)(void) = handle ? (void (*)(void))dlsym(handle, "call") : NULL;

		MUST(call);
		call();
		MUST(dlclose(handle) == 0);
	}
	return 0;
}

static void *closes_ten(void *arg)
{
	for (int i = 0; i < 10; i++)
		close(-61);
	return arg;
}

static int many_threads(int argc, char **argv)
{
	pthread_t thread[200];

	(void)argc, (void)argv;
	for (int i = 0; i < 200; i++)
		MUST(pthread_create(&thread[i], NULL, closes_ten, NULL) == 0);
	for (int i = 0; i < 200; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
	return 0;
}

static int many_children(int argc, char **argv)
{
	pid_t children[500];

	(void)argc, (void)argv;
	for (int i = 0; i < 500; i++) {
		children[i] = fork();
		MUST(children[i] >= 0);
		if (children[i] == 0) {
			close(-71);
			_exit(0);
		}
	}
	for (int i = 0; i < 500; i++)
		MUST(waitpid(children[i], NULL, 0) == children[i]);
	return 0;
}

static int ends_at_once(int argc, char **argv)
{
	(void)argc, (void)argv;
	close(-81);
	_exit(3);
}

static int syncs(int argc, char **argv)
{
	(void)argc, (void)argv;
	errno = 0;
	MUST(fdatasync(-1) == -1);
	return errno == ENOSYS ? 38 : 0;
}

const struct probe probes_context[] = {
	{ "tls-destructor", tls_destructor },
	{ "altstack", altstack },
	{ "fork-threads", fork_threads },
	{ "dlclosed", dlclosed },
	{ "many-threads", many_threads },
	{ "many-children", many_children },
	{ "_exit", ends_at_once },
	{ "syncs", syncs },
	{ 0 }
};
