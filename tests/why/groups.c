/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * groups.c - programs in which a thread waits because of a group of others, and loops with a
 * rhythm, for make check-why. It is no test itself.
 *
 *	groups NAME
 *
 * No result depends on the speed of the machine: all work is a sleep.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(condition) do { \
	if (!(condition)) { \
		perror(#condition); \
		exit(1); \
	} \
} while (0)

#define WORKERS 2
#define CLIENTS 4
#define READERS 4

/* ------------------------------------------------------------------ a pool of threads */

struct request {
	struct request *next;
	pthread_cond_t done; /* used if each request has its own */
	bool is_done;
	int ms;
};

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, some_done = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;
static bool is_shared;
static atomic_int asked, begun;

static void __attribute__((noinline)) work_slowly(int ms)
{
	usleep((useconds_t)ms * 1000);
}

static void *serve(void *arg)
{
	pthread_setname_np(pthread_self(), "worker");
	for (;;) {
		struct request *request;

		pthread_mutex_lock(&queue);
		while (!first)
			pthread_cond_wait(&work, &queue);
		request = first;
		first = request->next;
		if (!first)
			last = &first;
		pthread_mutex_unlock(&queue);
		if (!request->ms)
			return arg;
		begun++;
		work_slowly(request->ms);
		pthread_mutex_lock(&queue);
		request->is_done = true;
		if (is_shared)
			pthread_cond_broadcast(&some_done);
		else
			pthread_cond_signal(&request->done);
		pthread_mutex_unlock(&queue);
	}
}

static void put(struct request *request)
{
	*last = request;
	last = &request->next;
	pthread_cond_signal(&work);
}

static void __attribute__((noinline)) ask(int ms)
{
	struct request request = { .ms = ms, .done = PTHREAD_COND_INITIALIZER };

	pthread_mutex_lock(&queue);
	put(&request);
	asked++;
	while (!request.is_done)
		pthread_cond_wait(is_shared ? &some_done : &request.done, &queue);
	pthread_mutex_unlock(&queue);
}

static void *run_client(void *arg)
{
	ask(200);
	return arg;
}

/* The main thread asks when 'clients' requests are before its own. */
static void run_pool(int clients, int times)
{
	struct request end[WORKERS] = { { .ms = 0 } };
	pthread_t worker[WORKERS], client[CLIENTS];

	for (int i = 0; i < WORKERS; i++)
		MUST(!pthread_create(&worker[i], NULL, serve, NULL));
	usleep(50000);
	for (int i = 0; i < clients; i++)
		MUST(!pthread_create(&client[i], NULL, run_client, NULL));
	while (asked < clients || begun < (clients ? WORKERS : 0))
		usleep(1000);
	for (int i = 0; i < times; i++)
		ask(30);
	for (int i = 0; i < clients; i++)
		pthread_join(client[i], NULL);
	pthread_mutex_lock(&queue);
	for (int i = 0; i < WORKERS; i++)
		put(&end[i]);
	pthread_mutex_unlock(&queue);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
}

static void pool_own(void)
{
	run_pool(CLIENTS, 1);
}

static void pool_shared(void)
{
	is_shared = true;
	run_pool(CLIENTS, 1);
}

/* Workers are idle: no request waits in the queue. */
static void pool_idle(void)
{
	run_pool(0, 10);
}

/* ------------------------------------------------------------------ queues of the kernel */

struct job {
	int reply;  /* the descriptor for the answer */
	int ms;     /* 0: the worker ends */
};

static int queue_fd[2];

static void *serve_pipe(void *arg)
{
	struct job job;

	pthread_setname_np(pthread_self(), "worker");
	for (;;) {
		MUST(read(queue_fd[0], &job, sizeof(job)) == sizeof(job));
		if (!job.ms)
			return arg;
		begun++;
		work_slowly(job.ms);
		MUST(write(job.reply, "x", 1) == 1);
	}
}

static void __attribute__((noinline)) ask_pipe(int ms)
{
	struct job job = { .ms = ms };
	int fd[2];
	char byte;

	MUST(!pipe(fd));
	job.reply = fd[1];
	MUST(write(queue_fd[1], &job, sizeof(job)) == sizeof(job));
	asked++;
	MUST(read(fd[0], &byte, 1) == 1);
	close(fd[0]);
	close(fd[1]);
}

static void *run_pipe_client(void *arg)
{
	ask_pipe(200);
	return arg;
}

/* The workers read from one pipe. They are busy from their first piece of work to their last. */
static void pool_pipe(void)
{
	const struct job end = { .ms = 0 };
	pthread_t worker[WORKERS], client[CLIENTS];

	MUST(!pipe(queue_fd));
	for (int i = 0; i < CLIENTS; i++)
		MUST(!pthread_create(&client[i], NULL, run_pipe_client, NULL));
	while (asked < CLIENTS)
		usleep(1000);
	for (int i = 0; i < WORKERS; i++)
		MUST(!pthread_create(&worker[i], NULL, serve_pipe, NULL));
	while (begun < WORKERS)
		usleep(1000);
	ask_pipe(30);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(client[i], NULL);
	for (int i = 0; i < WORKERS; i++)
		MUST(write(queue_fd[1], &end, sizeof(end)) == sizeof(end));
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
}

/*
 * A dispatcher gives the work to workers with a pipe each. It takes the next job from the queue
 * when a worker is free, or, with takes_turns, gives the jobs to the workers in turn.
 */
static int own_fd[WORKERS][2], free_fd[2];
static bool takes_turns;

static void *serve_own(void *arg)
{
	const char number = (char)(intptr_t)arg;
	struct job job;

	pthread_setname_np(pthread_self(), "worker");
	for (;;) {
		if (!takes_turns)
			MUST(write(free_fd[1], &number, 1) == 1);
		MUST(read(own_fd[(int)number][0], &job, sizeof(job)) == sizeof(job));
		if (!job.ms)
			return NULL;
		begun++;
		work_slowly(job.ms);
		MUST(write(job.reply, "x", 1) == 1);
	}
}

static void *dispatch(void *arg)
{
	char number = 0;
	struct job job;

	pthread_setname_np(pthread_self(), "dispatcher");
	for (;;) {
		MUST(read(queue_fd[0], &job, sizeof(job)) == sizeof(job));
		if (!job.ms)
			return arg;
		if (takes_turns)
			number = (char)(!number);
		else
			MUST(read(free_fd[0], &number, 1) == 1);
		MUST(write(own_fd[(int)number][1], &job, sizeof(job)) == sizeof(job));
	}
}

static void run_dispatcher(int clients)
{
	const struct job end = { .ms = 0 };
	pthread_t worker[WORKERS], client[CLIENTS], dispatcher;

	MUST(!pipe(queue_fd) && !pipe(free_fd));
	for (int i = 0; i < WORKERS; i++) {
		MUST(!pipe(own_fd[i]));
		MUST(!pthread_create(&worker[i], NULL, serve_own, (void *)(intptr_t)i));
	}
	MUST(!pthread_create(&dispatcher, NULL, dispatch, NULL));
	for (int i = 0; i < clients; i++)
		MUST(!pthread_create(&client[i], NULL, run_pipe_client, NULL));
	while (asked < clients || begun < (takes_turns ? clients : WORKERS))
		usleep(1000);
	/* The idle worker gets this job, so the busy worker gets the next one. */
	if (takes_turns)
		ask_pipe(1);
	ask_pipe(30);
	for (int i = 0; i < clients; i++)
		pthread_join(client[i], NULL);
	MUST(write(queue_fd[1], &end, sizeof(end)) == sizeof(end));
	pthread_join(dispatcher, NULL);
	for (int i = 0; i < WORKERS; i++)
		MUST(write(own_fd[i][1], &end, sizeof(end)) == sizeof(end));
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
}

static void pool_dispatched(void)
{
	run_dispatcher(CLIENTS);
}

/* The dispatcher gives the last job to the busy worker, although the other worker is idle. */
static void pool_turns(void)
{
	takes_turns = true;
	run_dispatcher(1);
}

/*
 * A server writes the answers of all clients, and each client reads them from its own pipe. The
 * main thread waits for the first client: the others could not do its work.
 */
static int answer_fd[CLIENTS][2], done_fd[2];

static void *run_asker(void *arg)
{
	const char number = (char)(intptr_t)arg;
	char byte;

	MUST(write(queue_fd[1], &number, 1) == 1);
	MUST(read(answer_fd[(int)number][0], &byte, 1) == 1);
	work_slowly(number ? 200 : 120);
	if (!number)
		MUST(write(done_fd[1], "x", 1) == 1);
	return NULL;
}

static void *answer_all(void *arg)
{
	char number;

	for (int i = 0; i < CLIENTS; i++) {
		MUST(read(queue_fd[0], &number, 1) == 1);
		MUST(write(answer_fd[(int)number][1], "x", 1) == 1);
	}
	return arg;
}

static void pool_answers(void)
{
	pthread_t client[CLIENTS], server;
	char byte;

	MUST(!pipe(queue_fd) && !pipe(done_fd));
	for (int i = 0; i < CLIENTS; i++)
		MUST(!pipe(answer_fd[i]));
	MUST(!pthread_create(&server, NULL, answer_all, NULL));
	for (int i = 0; i < CLIENTS; i++)
		MUST(!pthread_create(&client[i], NULL, run_asker, (void *)(intptr_t)i));
	MUST(read(done_fd[0], &byte, 1) == 1);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(client[i], NULL);
	pthread_join(server, NULL);
}

static struct sockaddr_in address = { .sin_family = AF_INET };

/* A process of a server that serves one client after the other. */
static void serve_clients(int listener, bool polls)
{
	for (;;) {
		struct pollfd ready = { .fd = listener, .events = POLLIN };
		uint8_t ms;
		int fd;

		if (polls)
			MUST(poll(&ready, 1, -1) == 1);
		fd = accept(listener, NULL, NULL);
		if (fd < 0 && polls)
			continue;
		MUST(fd >= 0);
		if (read(fd, &ms, 1) != 1 || !ms)
			_exit(0);
		work_slowly(ms);
		MUST(write(fd, "x", 1) == 1);
		close(fd);
	}
}

static int connect_server(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	MUST(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)));
	return fd;
}

static void __attribute__((noinline)) ask_server(uint8_t ms)
{
	const int fd = connect_server();
	char byte;

	MUST(write(fd, &ms, 1) == 1);
	asked++;
	MUST(read(fd, &byte, 1) == 1);
	close(fd);
}

static void *run_server_client(void *arg)
{
	ask_server(200);
	return arg;
}

/* Listens, and starts the processes of a server. */
static void start_server(bool polls)
{
	socklen_t len = sizeof(address);
	const int listener = socket(AF_INET, SOCK_STREAM | (polls ? SOCK_NONBLOCK : 0), 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(listener >= 0 && !bind(listener, (struct sockaddr *)&address, len));
	MUST(!listen(listener, 16) && !getsockname(listener, (struct sockaddr *)&address, &len));
	for (int i = 0; i < WORKERS; i++) {
		const pid_t child = fork();

		MUST(child >= 0);
		if (!child)
			serve_clients(listener, polls);
	}
	close(listener);
}

/* The main thread is the last client of a server whose processes are all busy. */
static void run_server(bool polls)
{
	pthread_t client[CLIENTS];

	start_server(polls);
	for (int i = 0; i < CLIENTS; i++)
		MUST(!pthread_create(&client[i], NULL, run_server_client, NULL));
	while (asked < CLIENTS)
		usleep(1000);
	usleep(10000);
	ask_server(30);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(client[i], NULL);
	for (int i = 0; i < WORKERS; i++) {
		const int fd = connect_server();

		MUST(write(fd, "", 1) == 1);
		close(fd);
	}
	while (wait(NULL) > 0)
		;
}

static void server_accept(void)
{
	run_server(false);
}

static void server_poll(void)
{
	run_server(true);
}

/* ------------------------------------------------------------------ readers and a writer */

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int reading;
static atomic_bool is_over;

static void __attribute__((noinline)) read_table(void)
{
	pthread_rwlock_rdlock(&table);
	reading++;
	usleep(20000);
	pthread_rwlock_unlock(&table);
}

/* Each reader begins while another one reads, so that the lock is never free. */
static void *run_reader(void *arg)
{
	pthread_setname_np(pthread_self(), "reader");
	usleep((useconds_t)(uintptr_t)arg * 5000);
	while (!is_over)
		read_table();
	return NULL;
}

static void *end_reading(void *arg)
{
	usleep(400000);
	is_over = true;
	return arg;
}

static void __attribute__((noinline)) write_table(void)
{
	pthread_rwlock_wrlock(&table);
	pthread_rwlock_unlock(&table);
}

static void writer_starved(void)
{
	pthread_t reader[READERS], timer;

	for (uintptr_t i = 0; i < READERS; i++)
		MUST(!pthread_create(&reader[i], NULL, run_reader, (void *)i));
	while (reading < READERS)
		usleep(1000);
	MUST(!pthread_create(&timer, NULL, end_reading, NULL));
	write_table();
	is_over = true;
	for (int i = 0; i < READERS; i++)
		pthread_join(reader[i], NULL);
	pthread_join(timer, NULL);
}

static void *read_long(void *arg)
{
	pthread_setname_np(pthread_self(), "reader");
	pthread_rwlock_rdlock(&table);
	reading++;
	work_slowly(200);
	pthread_rwlock_unlock(&table);
	return arg;
}

/* A single reader holds the lock: its work is the reason. */
static void writer_held(void)
{
	pthread_t reader;

	MUST(!pthread_create(&reader, NULL, read_long, NULL));
	while (!reading)
		usleep(1000);
	write_table();
	pthread_join(reader, NULL);
}

/* ------------------------------------------------------------------ rhythms, and others */

/* The loop sleeps for its whole period after its work. */
static void __attribute__((noinline)) drift(void)
{
	for (int i = 0; i < 20; i++) {
		poll(NULL, 0, 3);
		usleep(40000);
	}
}

/* The time limit of the poll is the period, and no input arrives. */
static void __attribute__((noinline)) drift_poll(void)
{
	struct pollfd ready = { .events = POLLIN };
	int fd[2];

	MUST(!pipe(fd));
	ready.fd = fd[0];
	for (int i = 0; i < 20; i++) {
		MUST(!poll(&ready, 1, 40));
		usleep(3000);
	}
}

/* The poll is the work, whose duration varies. The pause is much shorter, so it is no period. */
static void __attribute__((noinline)) throttle(void)
{
	for (int i = 0; i < 20; i++) {
		poll(NULL, 0, 40 + i % 5);
		usleep(3000);
	}
}

/* The loop computes each moment from the moment before, so it does not drift. */
static void __attribute__((noinline)) keep_time(void)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < 40; i++) {
		poll(NULL, 0, 1);
		next.tv_nsec += 20000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

/* The work takes longer than the interval of the timer. */
static void __attribute__((noinline)) miss_ticks(void)
{
	const struct itimerspec times = { { 0, 10000000 }, { 0, 10000000 } };
	const int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t ticks;

	MUST(fd >= 0 && !timerfd_settime(fd, 0, &times, NULL));
	for (int i = 0; i < 30; i++) {
		MUST(read(fd, &ticks, sizeof(ticks)) == sizeof(ticks));
		poll(NULL, 0, 14);
	}
}

/* Another process writes into the standard input, some time after the file "started" appears. */
static void read_input(void)
{
	FILE *file = fopen("started", "w");
	char byte;

	MUST(file && !fclose(file));
	MUST(read(0, &byte, 1) == 1);
}

/* Wakes the reader, and then lives until the recorder has looked at this process. */
static void write_after(int ms)
{
	while (access("started", F_OK))
		usleep(1000);
	work_slowly(ms);
	MUST(write(1, "x", 1) == 1);
	sleep(1);
}

static void write_late(void)
{
	write_after(1200);
}

static void write_soon(void)
{
	write_after(200);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "pool-own", pool_own }, { "pool-shared", pool_shared }, { "pool-idle", pool_idle },
	{ "pool-pipe", pool_pipe }, { "pool-dispatched", pool_dispatched },
	{ "pool-turns", pool_turns }, { "pool-answers", pool_answers },
	{ "server-accept", server_accept }, { "server-poll", server_poll },
	{ "writer-starved", writer_starved }, { "writer-held", writer_held },
	{ "read-input", read_input }, { "write-late", write_late }, { "write-soon", write_soon },
	{ "drift", drift }, { "drift-poll", drift_poll }, { "throttle", throttle },
	{ "keep-time", keep_time },
	{ "miss-ticks", miss_ticks },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
