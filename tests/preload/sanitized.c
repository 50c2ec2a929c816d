/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/sanitized.c - a program without trace points that test_sanitizers.sh compiles with
 * sanitizers.
 *
 *	sanitized		many functions that sanitizers define too; ends with 5
 *	sanitized FAULT		use-after-free, leak, uninitialized, race or overflow
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t handled;
static long counted;

static void handle(int signal)
{
	(void)signal;
	handled++;
}

static void *count(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		char *memory = malloc((size_t)i + 1);

		memset(memory, 1, (size_t)i + 1);
		pthread_mutex_lock(&lock);
		counted += memory[i];
		pthread_mutex_unlock(&lock);
		free(memory);
	}
	return arg;
}

static void *race(void *arg)
{
	for (int i = 0; i < 1000; i++)
		++*(long *)arg;
	return NULL;
}

static int ended(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int use_functions(void)
{
	struct sigaction action = { .sa_handler = handle };
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"exit 3", NULL };
	char line[100] = "", path[] = "/tmp/sanitized.XXXXXX";
	void *memory, *library;
	pthread_t thread[2];
	int pair[2], fd;
	FILE *file;
	pid_t pid;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, count, NULL))
			return 10;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("counted %ld\n", counted);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	printf("handled %d\n", (int)handled);
	fd = mkstemp(path);
	if (fd < 0 || write(fd, "one\n", 4) != 4 || pread(fd, line, 4, 0) != 4 || close(fd))
		return 11;
	unlink(path);
	printf("read %s", line);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || send(pair[0], "two\n", 4, 0) != 4 ||
	    recv(pair[1], line, 4, 0) != 4)
		return 12;
	close(pair[0]);
	close(pair[1]);
	printf("received %s", line);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || munmap(memory, 4096))
		return 13;
	library = dlopen("libm.so.6", RTLD_NOW);
	if (!library || dlclose(library))
		return 14;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		char *copy = strdup("a child");

		printf("%s\n", copy);
		free(copy);
		fflush(stdout);
		_exit(2);
	}
	printf("child %d\n", ended(pid));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execvp("sh", argv);
		_exit(9);
	}
	printf("executed %d\n", ended(pid));
	if (posix_spawnp(&pid, "sh", NULL, NULL, argv, environ))
		return 15;
	printf("spawned %d\n", ended(pid));
	printf("system %d\n", WEXITSTATUS(system("exit 4")));
	file = popen("echo three", "r");
	if (!file || !fgets(line, sizeof(line), file) || pclose(file))
		return 16;
	printf("piped %s", line);
	fflush(stdout);
	return 5;
}

int main(int argc, char **argv)
{
	char *volatile memory;

	if (argc < 2)
		return use_functions();
	memory = malloc(100);
	if (!strcmp(argv[1], "uninitialized")) {
		if (memory[50])
			puts("set");
	} else if (!strcmp(argv[1], "use-after-free")) {
		free(memory);
		printf("%d\n", memory[1]);
	} else if (!strcmp(argv[1], "leak")) {
		memory = NULL;
	} else if (!strcmp(argv[1], "race")) {
		pthread_t thread[2];
		static long shared;

		for (int i = 0; i < 2; i++)
			pthread_create(&thread[i], NULL, race, &shared);
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
	} else if (!strcmp(argv[1], "overflow")) {
		volatile int most = 0x7fffffff;

		printf("%d\n", most + argc);
	}
	return 5;
}
