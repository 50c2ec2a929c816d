/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/probe_gone.c - a call whose argument is in memory that is unmapped before the call
 * returns. It is no test itself.
 *
 *	probe_gone CALL ok|fault|other-fault|heap-fault|data-fault|quiet|quiet-fault FOLDER
 *
 * The argument is in a page. With ok, gone.c unmaps the page when the kernel has read the argument,
 * and the call succeeds. With fault, the page cannot be read, and the call fails with EFAULT. With
 * other-fault, a signal handler on an alternate stack makes such a call. With heap-fault, the page
 * that cannot be read is in the heap, and with data-fault in the program's data. With quiet, the
 * process first installs a filter that permits all system calls. Files are made in the folder. The
 * program exits with 0 if the call had the expected result, and with 2 if the system lacks
 * something that the call needs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/gone.h"

#define OTHER_STACK    (64 << 10)
#define OTHER_DISTANCE (1 << 20) /* from the begin of this stack to the argument */

#define FIFO "gone.fifo"

/* Objects that the calls need. They are made before the page is filled. */
static int server, client, epoll, semaphores, queue, locked;
static struct sockaddr_in address;
static timer_t timer;

static void must(int is_true, const char *what)
{
	if (is_true)
		return;
	perror(what);
	exit(2);
}

static void make_sockets(int type)
{
	socklen_t bytes = sizeof address;

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server = socket(AF_INET, type, 0);
	client = socket(AF_INET, type, 0);
	must(server >= 0 && client >= 0, "socket");
	must(bind(server, (struct sockaddr *)&address, sizeof address) == 0, "bind");
	must(getsockname(server, (struct sockaddr *)&address, &bytes) == 0, "getsockname");
	must(type == SOCK_DGRAM || listen(server, 1) == 0, "listen");
}

static void make_datagrams(void)
{
	make_sockets(SOCK_DGRAM);
}

static void make_streams(void)
{
	make_sockets(SOCK_STREAM);
}

static void make_epoll(void)
{
	make_datagrams();
	must((epoll = epoll_create1(0)) >= 0, "epoll_create1");
}

static void make_semaphores(void)
{
	must((semaphores = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600)) >= 0, "semget");
}

static void end_semaphores(void)
{
	semctl(semaphores, 0, IPC_RMID);
}

static void make_queue(void)
{
	must((queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600)) >= 0, "msgget");
}

static void end_queue(void)
{
	msgctl(queue, IPC_RMID, NULL);
}

static void make_fifo(void)
{
	must(mkfifo(FIFO, 0600) == 0, "mkfifo");
}

static void end_fifo(void)
{
	unlink(FIFO);
}

static void make_timer(void)
{
	struct sigevent none = { .sigev_notify = SIGEV_NONE };

	must(timer_create(CLOCK_MONOTONIC, &none, &timer) == 0, "timer_create");
}

static void make_file(void)
{
	must((locked = open("/proc/self/exe", O_RDONLY)) >= 0, "open");
}

/* bind() to a free port. */
static void make_unbound(void)
{
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must((client = socket(AF_INET, SOCK_STREAM, 0)) >= 0, "socket");
}

static void *wait_for_end(void *unused)
{
	pause();
	return unused;
}

/* The shim expects that a ring may end during a call only in a process with several threads. */
static void make_thread(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, wait_for_end, NULL) == 0, "pthread_create");
}

static void make_nothing(void)
{
}

/* The page begins with the argument of the call. */
union argument {
	struct sockaddr_in address;
	struct {
		struct mmsghdr message;
		struct iovec part;
		struct sockaddr_in to;
	} sent;
	struct epoll_event event;
	struct sembuf operation;
	struct {
		long type;
		char text[8];
	} message;
	struct flock lock;
	int number;
	struct {
		uint64_t flags, mode, resolve;
	} how;
	struct {
		char *argv[3];
		char path[16], word[16];
	} command;
	struct itimerval interval;
	struct itimerspec timer;
	char path[32];
	struct {
		struct io_uring ring;
		unsigned head, tail, mask;
		unsigned char requests[2][64] __attribute__((aligned(8)));
		struct gone_answer answers[2];
	} ring;
};

static void fill_address(union argument *at)
{
	at->address = address;
}

static void fill_message(union argument *at)
{
	at->sent.to = address;
	at->sent.part = (struct iovec){ &at->sent.to, 1 };
	at->sent.message.msg_hdr = (struct msghdr){
		.msg_name = &at->sent.to, .msg_namelen = sizeof at->sent.to,
		.msg_iov = &at->sent.part, .msg_iovlen = 1
	};
}

static void fill_event(union argument *at)
{
	at->event.events = EPOLLIN | EPOLLET;
}

static void fill_operation(union argument *at)
{
	at->operation = (struct sembuf){ .sem_num = 1, .sem_op = 1 };
}

static void fill_queued(union argument *at)
{
	at->message.type = 7;
}

static void fill_lock(union argument *at)
{
	at->lock = (struct flock){ .l_type = F_UNLCK, .l_whence = SEEK_SET };
}

static void fill_number(union argument *at)
{
	at->number = 1;
}

static void fill_fifo(union argument *at)
{
	strcpy(at->path, FIFO);
}

static void fill_how(union argument *at)
{
	at->how.flags = O_DIRECTORY | O_CLOEXEC;
}

static void fill_command(union argument *at)
{
	strcpy(at->command.path, "/bin/true");
	strcpy(at->command.word, "gone");
	at->command.argv[0] = at->command.word;
	at->command.argv[1] = at->command.word;
}

static void fill_shell(union argument *at)
{
	strcpy(at->path, ": gone");
}

static void fill_interval(union argument *at)
{
	at->interval.it_value.tv_sec = 1000;
}

static void fill_timer(union argument *at)
{
	at->timer.it_value.tv_sec = 1000;
}

/* A ring with one request, whose user_data is 5, and with an answer that no call has seen yet. */
static void fill_ring(union argument *at)
{
	struct io_uring *ring = &at->ring.ring;

	ring->submissions.kernel.mask = ring->completions.kernel.mask = &at->ring.mask;
	ring->submissions.requests = at->ring.requests;
	ring->submissions.tail = 1;
	at->ring.requests[0][32] = 5;
	ring->completions.kernel.head = &at->ring.head;
	ring->completions.kernel.tail = &at->ring.tail;
	ring->completions.answers = at->ring.answers;
	at->ring.mask = 1;
	at->ring.answers[0].result = 3;
	at->ring.tail = 1;
	ring->fd = 99;
}

/* The calls return a negative number after an error. */
static long call_sendto(union argument *at)
{
	return sendto(client, "x", 1, 0, (struct sockaddr *)&at->address, sizeof at->address);
}

static long call_sendmsg(union argument *at)
{
	return sendmsg(client, &at->sent.message.msg_hdr, 0);
}

static long call_sendmmsg(union argument *at)
{
	return sendmmsg(client, &at->sent.message, 1, 0);
}

static long call_connect(union argument *at)
{
	return connect(client, (struct sockaddr *)&at->address, sizeof at->address);
}

static long call_bind(union argument *at)
{
	return bind(client, (struct sockaddr *)&at->address, sizeof at->address);
}

static long call_setsockopt(union argument *at)
{
	return setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &at->number, sizeof at->number);
}

static long call_epoll_ctl(union argument *at)
{
	return epoll_ctl(epoll, EPOLL_CTL_ADD, client, &at->event);
}

static long call_semop(union argument *at)
{
	return semop(semaphores, &at->operation, 1);
}

static long call_semtimedop(union argument *at)
{
	const struct timespec limit = { .tv_sec = 1 };

	return semtimedop(semaphores, &at->operation, 1, &limit);
}

static long call_msgsnd(union argument *at)
{
	return msgsnd(queue, &at->message, sizeof at->message.text, 0);
}

static long call_fcntl(union argument *at)
{
	return fcntl(locked, F_OFD_SETLK, &at->lock);
}

static long call_open(union argument *at)
{
	return open(at->path, O_RDWR);
}

static long call_openat(union argument *at)
{
	return openat(AT_FDCWD, at->path, O_RDWR);
}

static long call_openat2(union argument *at)
{
	return syscall(SYS_openat2, AT_FDCWD, "/", &at->how, sizeof at->how);
}

static long call_fopen(union argument *at)
{
	return fopen(at->path, "r+") ? 0 : -1;
}

static long call_freopen(union argument *at)
{
	return freopen(at->path, "r+", stdin) ? 0 : -1;
}

static long call_spawn(union argument *at)
{
	pid_t child;
	const int error = posix_spawn(&child, at->command.path, NULL, NULL, at->command.argv,
				      environ);

	if (!error)
		return waitpid(child, NULL, 0);
	errno = error;
	return -1;
}

static long call_popen(union argument *at)
{
	FILE *file = popen(at->path, "r");

	return file ? pclose(file) : -1;
}

static long call_setitimer(union argument *at)
{
	return setitimer(ITIMER_REAL, &at->interval, NULL);
}

static long call_timer_settime(union argument *at)
{
	return timer_settime(timer, 0, &at->timer, NULL);
}

static long call_ring(union argument *at)
{
	return io_uring_submit(&at->ring.ring);
}

static long call_reused(union argument *at)
{
	at->ring.ring.fd = GONE_REUSED;
	return io_uring_submit(&at->ring.ring);
}

static const struct gone_case {
	const char *name;
	void (*make)(void), (*end)(void);
	void (*fill)(union argument *at);
	long (*call)(union argument *at);
} cases[] = {
	{ "sendto", make_datagrams, make_nothing, fill_address, call_sendto },
	{ "sendmsg", make_datagrams, make_nothing, fill_message, call_sendmsg },
	{ "sendmmsg", make_datagrams, make_nothing, fill_message, call_sendmmsg },
	{ "connect", make_streams, make_nothing, fill_address, call_connect },
	{ "bind", make_unbound, make_nothing, fill_address, call_bind },
	{ "setsockopt", make_streams, make_nothing, fill_number, call_setsockopt },
	{ "epoll_ctl", make_epoll, make_nothing, fill_event, call_epoll_ctl },
	{ "semop", make_semaphores, end_semaphores, fill_operation, call_semop },
	{ "semtimedop", make_semaphores, end_semaphores, fill_operation, call_semtimedop },
	{ "msgsnd", make_queue, end_queue, fill_queued, call_msgsnd },
	{ "fcntl", make_file, make_nothing, fill_lock, call_fcntl },
	{ "open", make_fifo, end_fifo, fill_fifo, call_open },
	{ "openat", make_fifo, end_fifo, fill_fifo, call_openat },
	{ "openat2", make_nothing, make_nothing, fill_how, call_openat2 },
	{ "fopen", make_fifo, end_fifo, fill_fifo, call_fopen },
	{ "freopen", make_fifo, end_fifo, fill_fifo, call_freopen },
	{ "posix_spawn", make_nothing, make_nothing, fill_command, call_spawn },
	{ "popen", make_nothing, make_nothing, fill_shell, call_popen },
	{ "setitimer", make_nothing, make_nothing, fill_interval, call_setitimer },
	{ "timer_settime", make_timer, make_nothing, fill_timer, call_timer_settime },
	{ "io_uring_submit", make_thread, make_nothing, fill_ring, call_ring },
	{ "io_uring_reused", make_thread, make_nothing, fill_ring, call_reused },
};

static void install_filter(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog filter = { .len = 1, .filter = all };

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "PR_SET_SECCOMP");
}

/* A call on an alternate stack: the shim does not know where this stack ends. */
static const struct gone_case *other_case;
static union argument *other_argument;
static volatile long other_result;

static void call_on_other_stack(int signal)
{
	(void)signal;
	other_result = other_case->call(other_argument);
}

static long call_in_handler(const struct gone_case *one, union argument *at, void *memory)
{
	const stack_t stack = { .ss_sp = memory, .ss_size = OTHER_STACK };
	const struct sigaction action = { .sa_handler = call_on_other_stack,
					  .sa_flags = SA_ONSTACK };

	must(sigaltstack(&stack, NULL) == 0, "sigaltstack");
	must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
	other_case = one;
	other_argument = at;
	must(raise(SIGUSR1) == 0, "raise");
	return other_result;
}

/* Returns a page of its own in the heap, below the break. */
static void *page_of_heap(void)
{
	const uintptr_t begin = (uintptr_t)sbrk(3 * GONE_PAGE);

	must(begin != UINTPTR_MAX, "sbrk");
	return (void *)((begin + GONE_PAGE) & ~(uintptr_t)(GONE_PAGE - 1));
}

static int run_case(const struct gone_case *one, const char *how)
{
	static char page_of_data[GONE_PAGE] __attribute__((aligned(GONE_PAGE)));
	const int fails = strstr(how, "fault") != NULL, is_on_other = !strcmp(how, "other-fault");
	/* The other stack is in front of the argument, and farther away than frames are long. */
	char *memory = mmap(NULL, OTHER_DISTANCE + GONE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union argument *at = (union argument *)(void *)(memory + OTHER_DISTANCE);
	long result;

	must(memory != MAP_FAILED, "mmap");
	if (!strcmp(how, "heap-fault"))
		at = page_of_heap();
	else if (!strcmp(how, "data-fault"))
		at = (union argument *)(void *)page_of_data;
	one->make();
	one->fill(at);
	if (!strncmp(how, "quiet", 5))
		install_filter();
	if (fails)
		must(mprotect(at, GONE_PAGE, PROT_NONE) == 0, "mprotect");
	else
		gone_arm(at);
	errno = 4711;
	result = is_on_other ? call_in_handler(one, at, memory) : one->call(at);
	if (fails ? result >= 0 || errno != EFAULT : result < 0 || errno != 4711) {
		fprintf(stderr, "%s: %ld: %s\n", one->name, result, strerror(errno));
		return 1;
	}
	one->end();
	if (fails || gone_is_unmapped())
		return 0;
	fprintf(stderr, "%s did not unmap the page\n", one->name);
	return 3;
}

int main(int argc, char **argv)
{
	must(argc == 4 && chdir(argv[3]) == 0, "folder");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (!strcmp(cases[i].name, argv[1]))
			return run_case(&cases[i], argv[2]);
	return 2;
}
