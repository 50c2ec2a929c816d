/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of most families, between two getpgid(0) system calls, which mark them in a list of system
 * calls.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/probe.h"

#define ROUNDS 100

static void files(void)
{
	char bytes[64];
	struct stat about;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	MUST(fd >= 0 && write(fd, "abc", 3) == 3 && read(fd, bytes, sizeof bytes) == 0);
	MUST(fstat(fd, &about) == 0 && stat("/", &about) == 0 && access("/", R_OK) == 0);
	MUST(close(fd) == 0 && open("/no/such/file", O_RDONLY) < 0);
}

static void sockets(void)
{
	struct pollfd one = { .events = POLLIN };
	char bytes[8];
	int pair[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	one.fd = pair[1];
	MUST(send(pair[0], "abcd", 4, 0) == 4 && poll(&one, 1, -1) == 1);
	MUST(recv(pair[1], bytes, sizeof bytes, 0) == 4);
	MUST(close(pair[0]) == 0 && close(pair[1]) == 0);
}

static void memory_and_locks(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static sem_t semaphore;
	void *block = malloc(100);

	MUST(block && (block = realloc(block, 200)));
	free(block);
	MUST(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
	MUST(sem_init(&semaphore, 0, 1) == 0 && sem_wait(&semaphore) == 0);
}

static void by_name(void)
{
	char to[100];
	struct stat got;
	DIR *folder = opendir("/");

	MUST(folder && readdir(folder) && closedir(folder) == 0);
	MUST(stat("/nonexist", &got) == -1 && stat("/", &got) == 0);
	MUST(readlink("/", to, sizeof to) == -1 && errno == EINVAL);
	MUST(access("/", R_OK) == 0 && unlink("/nonexist") == -1);
	MUST(fcntl(0, F_GETFD) != -2 && dup(-1) == -1);
}

static int calls(int argc, char **argv)
{
	const struct timespec moment = { .tv_nsec = 1 };

	(void)argc, (void)argv;
	memory_and_locks(); /* creates the heap, which the start of the library may have done
			     * already */
	syscall(SYS_getpgid, 0);
	for (int i = 0; i < ROUNDS; i++) {
		files();
		by_name();
		sockets();
		memory_and_locks();
		MUST(nanosleep(&moment, NULL) == 0);
	}
	MUST(waitpid(-1, NULL, WNOHANG) < 0);
	syscall(SYS_getpgid, 0);
	return 0;
}

const struct probe probes_calls[] = { { "calls", calls }, { 0 } };
