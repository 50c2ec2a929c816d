/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/probe.h"

static char got[400];

static void transfers(void)
{
	static char xs[300], one[] = "one", two[] = "two-three-four";
	struct iovec out[3] = { { one, 3 }, { NULL, 0 }, { two, 14 } };
	struct iovec in[2] = { { got, 4 }, { got + 100, 100 } };
	int fds[2], file = memfd_create("content", 0);

	memset(xs, 'x', sizeof xs);
	MUST(file >= 0 && pipe(fds) == 0);
	errno = 4711;
	MUST(write(fds[1], "alpha", 5) == 5 && read(fds[0], got, sizeof got) == 5);
	MUST(write(fds[1], xs, sizeof xs) == 300 && read(fds[0], got, sizeof got) == 300);
	MUST(writev(fds[1], out, 3) == 17 && readv(fds[0], in, 2) == 17);
	MUST(pwrite(file, "beta-at-three", 13, 3) == 13 && pread(file, got, 4, 3) == 4);
	MUST(write(fds[1], "\0\1\2", 3) == 3 && read(fds[0], got, sizeof got) == 3);
	MUST(errno == 4711);
	MUST(read(-1, got, 5) == -1 && errno == EBADF);
}

static void messages(int near, int far)
{
	static char gamma[] = "gamma ray";
	struct iovec part = { gamma, 9 }, room = { got, 5 };
	struct msghdr out = { .msg_iov = &part, .msg_iovlen = 1 };
	struct msghdr in = { .msg_iov = &room, .msg_iovlen = 1 };
	struct mmsghdr several[2] = { { .msg_hdr = out }, { .msg_hdr = out } };

	errno = 4711;
	MUST(send(near, "delta", 5, 0) == 5 && recv(far, got, sizeof got, 0) == 5);
	MUST(sendmsg(near, &out, 0) == 9 && recvmsg(far, &in, 0) == 5);
	MUST(recvfrom(far, got, sizeof got, 0, NULL, NULL) == 4);
	MUST(sendto(near, "kappa", 5, 0, NULL, 0) == 5 && read(far, got, sizeof got) == 5);
	MUST(sendmmsg(near, several, 2, 0) == 2);
	MUST(errno == 4711);
}

/* A TCP socket discards what is received with MSG_TRUNC: the memory keeps its secret. */
static void discarded(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;
	int listens = socket(AF_INET, SOCK_STREAM, 0), near = socket(AF_INET, SOCK_STREAM, 0), far;

	MUST(bind(listens, (struct sockaddr *)&at, sizeof at) == 0 && listen(listens, 1) == 0);
	MUST(getsockname(listens, (struct sockaddr *)&at, &len) == 0);
	MUST(connect(near, (struct sockaddr *)&at, sizeof at) == 0);
	far = accept(listens, NULL, NULL);
	MUST(far >= 0 && write(near, "plain", 5) == 5);
	strcpy(got, "SECRET");
	MUST(recv(far, got, 5, MSG_TRUNC | MSG_WAITALL) == 5);
}

/* Frees the memory of a message when it arrives, perhaps before the sender's write() returns. */
static void *frees(void *arg)
{
	void *memory;

	while (read(*(int *)arg, &memory, sizeof memory) == sizeof memory)
		munmap(memory, 4096);
	return NULL;
}

static void freed(void)
{
	pthread_t thread;
	int fds[2];

	MUST(pipe(fds) == 0 && pthread_create(&thread, NULL, frees, &fds[0]) == 0);
	for (int i = 0; i < 500; i++) {
		void **memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		MUST(memory != MAP_FAILED);
		*memory = memory;
		MUST(write(fds[1], memory, sizeof *memory) == sizeof *memory);
	}
	close(fds[1]);
	MUST(pthread_join(thread, NULL) == 0);
}

static int content(int argc, char **argv)
{
	int pair[2];

	(void)argc, (void)argv;
	transfers();
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	messages(pair[0], pair[1]);
	discarded();
	freed();
	return 0;
}

/* The main thread, whose number is that of the process, has ended. */
static void *moves_alone(void *main_thread)
{
	int fds[2];

	MUST(pthread_join(*(pthread_t *)main_thread, NULL) == 0);
	MUST(pipe(fds) == 0 && write(fds[1], "omega", 5) == 5);
	exit(0);
}

static int content_alone(int argc, char **argv)
{
	static pthread_t main_thread;
	pthread_t thread;

	(void)argc, (void)argv;
	main_thread = pthread_self();
	MUST(pthread_create(&thread, NULL, moves_alone, &main_thread) == 0);
	pthread_exit(NULL);
}

const struct probe probes_content[] = {
	{ "content", content },
	{ "content-alone", content_alone },
	{ 0 }
};
