/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_inject KIND - a program without trace points, into which the tool loads the shim while it
 * runs. It prints a line when it is ready, performs the task KIND until its input ends, and prints
 * "right" if all results were right.
 *
 * It has no signal handler, so that no call may fail with EINTR.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define OPENED  10 /* files by each thread */

static void print(const char *line)
{
	puts(line);
	fflush(stdout);
}

static void need(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

/* Waits for the end of the input, at most ms. */
static bool is_over(int ms)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	int n = poll(&input, 1, ms);

	need(n >= 0, "poll");
	return n > 0;
}

static void wait_for_end(void)
{
	char byte;
	ssize_t n;

	while ((n = read(0, &byte, 1)) > 0)
		;
	need(n == 0, "read");
}

static void do_sleep(void)
{
	struct timespec begin, end, ms = { 0, 30000000 };

	while (!is_over(0)) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		need(nanosleep(&ms, NULL) == 0, "nanosleep");
		clock_gettime(CLOCK_MONOTONIC, &end);
		need((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec >=
			     ms.tv_nsec,
		     "duration");
	}
}

static void do_epoll(void)
{
	int queue = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	int n;

	need(epoll_ctl(queue, EPOLL_CTL_ADD, 0, &event) == 0, "epoll_ctl");
	do
		n = epoll_wait(queue, &event, 1, 40);
	while (n == 0);
	need(n == 1, "epoll_wait");
}

static void do_select(void)
{
	int n;

	do {
		struct timeval time = { 0, 40000 };
		fd_set set;

		FD_ZERO(&set);
		FD_SET(0, &set);
		n = select(1, &set, NULL, NULL, &time);
	} while (n == 0);
	need(n == 1, "select");
}

static void do_cond(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	while (!is_over(0)) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 20000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		errno = pthread_cond_timedwait(&cond, &mutex, &until);
		need(errno == ETIMEDOUT, "pthread_cond_timedwait");
	}
	pthread_mutex_unlock(&mutex);
}

static void *wait_in_thread(void *arg)
{
	wait_for_end();
	return arg;
}

static void do_join(void)
{
	static int own;
	pthread_t thread;
	void *result;

	need(pthread_create(&thread, NULL, wait_in_thread, &own) == 0, "pthread_create");
	need(pthread_join(thread, &result) == 0 && result == &own, "pthread_join");
}

static void do_sigwait(void)
{
	struct timespec time = { 0, 30000000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (!is_over(0))
		need(sigtimedwait(&set, NULL, &time) == -1 && errno == EAGAIN, "sigtimedwait");
}

/* Keeps numbers in vector registers without a call for a long time. */
static void do_compute(void)
{
	do {
		volatile double limit = 3000000;
		double sum = 0, square = 0;

		for (double i = 1; i <= limit; i++) {
			sum += i;
			square += i * 2;
		}
		need(square == 2 * sum && sum == limit * (limit + 1) / 2, "sum");
	} while (!is_over(0));
}

static _Atomic bool is_ended;

static void *allocate(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	while (!is_ended) {
		size_t bytes = 1 + (size_t)(rand_r(&seed) % 3000);
		unsigned char *block = malloc(bytes);

		memset(block, (int)bytes & 255, bytes);
		block = realloc(block, bytes + 500);
		need(block[bytes - 1] == (bytes & 255), "contents");
		free(block);
	}
	return NULL;
}

static void do_allocate(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, allocate, (void *)(i + 1));
	while (!is_over(20))
		;
	is_ended = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void *open_files(void *arg)
{
	for (int i = 0; i < OPENED; i++) {
		int fd = open("/dev/null", O_RDONLY);

		need(fd >= 0, "open");
		close(fd);
	}
	return arg;
}

/*
 * After it has read a line: calls from four threads, and from a library whose path is in the
 * environment.
 */
static void do_calls(void)
{
	const char *library = getenv("PROBE_LIBRARY");
	pthread_t thread[THREADS - 1];
	char line[8];

	need(fgets(line, sizeof(line), stdin), "fgets");
	for (int i = 0; i < THREADS - 1; i++)
		pthread_create(&thread[i], NULL, open_files, NULL);
	open_files(NULL);
	for (int i = 0; i < THREADS - 1; i++)
		pthread_join(thread[i], NULL);
	if (library) {
		void *handle = dlopen(library, RTLD_NOW);
		void (*function)(void) = handle ? (void (*)(void))dlsym(handle, "call") : NULL;

		need(function, "library");
		function();
		dlclose(handle);
	}
	print("made");
	wait_for_end();
}

static const char *own_path;

/*
 * The program that do_execute() executes. It opens a file that identifies the way of its execution,
 * and prints whether its environment has the shim, and the variable PROBE_KEPT.
 */
static int be_executed(const char *way)
{
	const char *preload = getenv("LD_PRELOAD"), *kept = getenv("PROBE_KEPT");
	char path[64];

	snprintf(path, sizeof(path), "/executed/by/%s", way);
	need(open(path, O_RDONLY) < 0, path);
	printf("%s: %s shim, kept %s\n", way,
	       preload && strstr(preload, "libposixtrace-preload.so") ? "with" : "without",
	       kept ? kept : "nothing");
	fflush(stdout);
	if (strcmp(way, "exec"))
		return 0;
	wait_for_end();
	print("right");
	return 0;
}

/*
 * Executes this program with many variables, on a stack that is too small for a copy of the
 * pointers to them.
 */
static void *spawn_large(void *arguments)
{
	static char kept[] = "PROBE_KEPT=yes", other[] = "A=b";
	static char *variables[20001];
	static pid_t child;

	variables[0] = kept;
	for (size_t i = 1; i < 20000; i++)
		variables[i] = other;
	need(!posix_spawn(&child, own_path, NULL, NULL, arguments, variables), "posix_spawn");
	return &child;
}

/* Executes this program for each line of the input, which is a way to execute a program. */
static void do_execute(void)
{
	char way[16], command[600], word[] = "executed";

	while (fgets(way, sizeof(way), stdin)) {
		char *arguments[] = { (char *)(uintptr_t)own_path, word, way, NULL };
		pid_t child = -1;
		int status = -1;

		way[strcspn(way, "\n")] = '\0';
		if (!strcmp(way, "exec")) {
			execv(own_path, arguments);
			need(false, "execv");
		} else if (!strcmp(way, "fork")) {
			child = fork();
			if (child == 0) {
				execvp(own_path, arguments);
				_exit(1);
			}
		} else if (!strcmp(way, "vfork")) {
			child = vfork();
			if (child == 0) {
				execve(own_path, arguments, environ);
				_exit(1);
			}
		} else if (!strcmp(way, "spawn")) {
			need(!posix_spawn(&child, own_path, NULL, NULL, arguments, environ),
			     "posix_spawn");
		} else if (!strcmp(way, "large")) {
			pthread_attr_t attr;
			pthread_t thread;
			void *result;

			need(!pthread_attr_init(&attr), "attributes");
			need(!pthread_attr_setstacksize(&attr, 98304), "size of the stack");
			need(!pthread_create(&thread, &attr, spawn_large, arguments), "thread");
			need(!pthread_join(thread, &result), "join");
			pthread_attr_destroy(&attr);
			child = *(pid_t *)result;
		} else {
			snprintf(command, sizeof(command), "%s executed %s", own_path, way);
			need(system(command) == 0, "system");
			continue;
		}
		need(waitpid(child, &status, 0) == child && status == 0, way);
	}
}

static void begin_seccomp(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &all };

	need(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		     !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	     "prctl");
}

/*
 * A child traces this process until both read the end of the input. With is_brief, the child ends
 * soon and has the name of a posixtrace, as one whose command was killed.
 */
static void begin_tracer(bool is_brief)
{
	pid_t parent = getpid();
	int ready[2];
	char byte;

	need(pipe(ready) == 0, "pipe");
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (fork() == 0) {
		need(ptrace(PTRACE_SEIZE, parent, NULL, NULL) == 0, "ptrace");
		if (is_brief)
			prctl(PR_SET_NAME, "posixtrace");
		need(write(ready[1], "", 1) == 1, "write");
		if (is_brief)
			usleep(300000);
		while (!is_brief && !is_over(1000))
			;
		_exit(0);
	}
	need(read(ready[0], &byte, 1) == 1, "read");
}

static void begin_traced(void)
{
	begin_tracer(false);
}

static void begin_traced_briefly(void)
{
	begin_tracer(true);
}

/* A child that shares its parent's memory and executes no program. */
static void do_vfork(void)
{
	pid_t child = vfork();
	int status;

	if (child == 0) {
		char text[16];
		int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

		if (write(1, text, (size_t)n) != n)
			_exit(1);
		while (read(0, text, 1) > 0)
			;
		_exit(0);
	}
	need(waitpid(child, &status, 0) == child && status == 0, "child");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*begin)(void), (*work)(void);
	} kinds[] = {
		{ "wait", NULL, wait_for_end },	    { "sleep", NULL, do_sleep },
		{ "epoll", NULL, do_epoll },	    { "select", NULL, do_select },
		{ "cond", NULL, do_cond },	    { "join", NULL, do_join },
		{ "sigwait", NULL, do_sigwait },    { "compute", NULL, do_compute },
		{ "allocate", NULL, do_allocate },  { "calls", NULL, do_calls },
		{ "execute", NULL, do_execute },
		{ "seccomp", begin_seccomp, wait_for_end },
		{ "traced", begin_traced, wait_for_end },
		{ "traced-briefly", begin_traced_briefly, wait_for_end },
	};

	own_path = argv[0];
	if (argc == 3 && !strcmp(argv[1], "executed"))
		return be_executed(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "vfork")) {
		do_vfork(); /* the child prints */
		print("right");
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		if (kinds[i].begin)
			kinds[i].begin();
		print("ready");
		kinds[i].work();
		print("right");
		return 0;
	}
	return 2;
}
