/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inject_load THREADS - a program whose threads do what a library that is loaded from
 * outside might disturb: they allocate, load and unload libraries, fork, throw exceptions, wait in
 * system calls, and get signals. It is compiled with -DIS_STATIC for a static program, which loads
 * no libraries.
 *
 * It ends with its input. Every result is checked. No signal with a handler reaches the threads that wait, so that EINTR
 * is an error there. It prints "sound" and exits with 0, or prints the first error and exits with 1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

static std::atomic<bool> is_over;
static std::atomic<long> rounds, alive, handled;
static sem_t received;

static void fail(const char *what, int err)
{
	printf("%s: %s\n", what, err ? strerror(err) : "wrong result");
	fflush(stdout);
	_exit(1);
}

static void need(bool is_right, const char *what)
{
	if (!is_right)
		fail(what, errno);
}

/* Blocks of all sizes, whose contents are checked. */
static void allocate(unsigned *seed)
{
	std::vector<std::pair<unsigned char *, size_t>> blocks;

	for (int i = 0; i < 200; i++) {
		size_t bytes = 1 + rand_r(seed) % (i % 50 ? 900 : 200000);
		auto *block = static_cast<unsigned char *>(malloc(bytes));

		memset(block, i, bytes);
		if (i % 3 == 0) {
			block = static_cast<unsigned char *>(realloc(block, bytes + 100));
			need(block[bytes - 1] == (unsigned char)i, "realloc");
		}
		blocks.emplace_back(block, bytes);
	}
	for (size_t i = 0; i < blocks.size(); i++) {
		need(blocks[i].first[0] == (unsigned char)i, "malloc");
		need(blocks[i].first[blocks[i].second - 1] == (unsigned char)i, "malloc");
		free(blocks[i].first);
	}
}

static void load(unsigned *seed)
{
#ifndef IS_STATIC
	static const char *const names[] = { "libresolv.so.2", "libnss_dns.so.2",
					     "libBrokenLocale.so.1", "libanl.so.1" };
	void *handle = dlopen(names[rand_r(seed) % 4], RTLD_NOW);

	need(handle, "dlopen");
	need(dlsym(RTLD_DEFAULT, "malloc"), "dlsym");
	need(dlclose(handle) == 0, "dlclose");
	need(!dlopen("/nonexistent/lib.so", RTLD_NOW), "dlopen of no file");
	need(dlerror(), "dlerror");
#else
	(void)seed;
#endif
}

struct counted {
	static thread_local int count;
	counted() { count++; }
	~counted() { count--; }
};
thread_local int counted::count;

static void throw_from(int depth, const std::string &text)
{
	counted one;

	if (depth == 0)
		throw std::runtime_error(text);
	throw_from(depth - 1, text + "x");
}

static void throw_and_catch()
{
	try {
		throw_from(30, "");
	} catch (const std::exception &error) {
		need(strlen(error.what()) == 30, "what");
	}
	need(counted::count == 0, "destructors");
}

static void fork_child()
{
	pid_t child = fork();
	int status;

	need(child >= 0, "fork");
	if (child == 0) {
		free(malloc(5000));
		_exit(7);
	}
	need(waitpid(child, &status, 0) == child, "waitpid");
	need(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status of the child");
}

/* Data through a pipe, and the calls that wait without a handler: none may be interrupted. */
static void wait_in_calls(unsigned *seed)
{
	char out[4096], in[4096];
	struct timespec time = { 0, 1000000 + rand_r(seed) % 3000000 };
	struct epoll_event event = {};
	struct pollfd poll_one;
	int fd[2], queue;

	need(pipe2(fd, O_CLOEXEC) == 0, "pipe2");
	memset(out, (int)(rand_r(seed) & 127), sizeof out);
	need(write(fd[1], out, sizeof out) == sizeof out, "write");
	need(read(fd[0], in, sizeof in) == sizeof in, "read");
	need(!memcmp(out, in, sizeof in), "contents of the pipe");
	need(nanosleep(&time, NULL) == 0, "nanosleep");
	poll_one = { fd[0], POLLIN, 0 };
	need(poll(&poll_one, 1, 2) == 0, "poll");
	queue = epoll_create1(EPOLL_CLOEXEC);
	need(queue >= 0, "epoll_create1");
	event.events = EPOLLIN;
	need(epoll_ctl(queue, EPOLL_CTL_ADD, fd[0], &event) == 0, "epoll_ctl");
	need(epoll_wait(queue, &event, 1, 3) == 0, "epoll_wait");
	close(queue);
	close(fd[0]);
	close(fd[1]);
}

static void compute(unsigned *seed)
{
	double sum = 0;

	for (int i = 1; i < 20000; i++)
		sum += 1.0 / i;
	need(sum > 10.4806 && sum < 10.4808, "floating point");
	(void)seed;
}

static void *work(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	while (!is_over) {
		errno = 0;
		allocate(&seed);
		throw_and_catch();
		compute(&seed);
		load(&seed);
		if (rand_r(&seed) % 4 == 0)
			fork_child();
		wait_in_calls(&seed);
		rounds++;
	}
	alive--;
	return NULL;
}

static void on_signal(int, siginfo_t *, void *)
{
	int saved = errno;

	handled++;
	sem_post(&received);
	errno = saved;
}

/* The only thread with the signal unblocked. Its calls may be interrupted. */
static void *get_signals(void *)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (!is_over)
		poll(NULL, 0, 1000);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 4;
	struct sigaction action = {};
	pthread_t thread, listener;
	long sent = 0;
	sigset_t set;

	sem_init(&received, 0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR1, &action, NULL);
	need(pthread_create(&listener, NULL, get_signals, NULL) == 0, "pthread_create");
	for (int i = 1; i <= threads; i++) {
		alive++;
		need(pthread_create(&thread, NULL, work, (void *)(uintptr_t)i) == 0,
		     "pthread_create");
		pthread_detach(thread);
	}
	/* Each signal is answered before the next one. The end of the input ends the program. */
	for (;;) {
		struct pollfd input = { 0, POLLIN, 0 };

		if (poll(&input, 1, 2) > 0)
			break;
		pthread_kill(listener, SIGUSR1);
		sent++;
		need(sem_wait(&received) == 0, "sem_wait");
	}
	is_over = true;
	pthread_kill(listener, SIGUSR1);
	sent++;
	need(sem_wait(&received) == 0, "sem_wait");
	pthread_join(listener, NULL);
	while (alive)
		usleep(1000);
	need(sent == handled, "number of signals");
	printf("sound: %ld rounds, %ld signals\n", rounds.load(), sent);
	return 0;
}
