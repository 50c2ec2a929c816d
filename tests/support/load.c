/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/load.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "support/load_account.h"
#include "support/memory_file.h"
#include "support/payload.h"
#include "support/stream.h"

#define DATA_MAX 200
#define HANDLER_EVENTS 200000 /* the most events of a handler; `before` has a time for each */
#define STRIKE SIGRTMIN

/* Thread i is maker 2 * i, and the signal handler of thread i is maker 2 * i + 1. */
static struct maker maker[2 * LOAD_THREADS];
static trace_event_id_t type_by_maker[2 * LOAD_THREADS];
static _Thread_local uint32_t my_handler;
static _Atomic int at_work;
static pthread_barrier_t together;

static void make_one(uint32_t who)
{
	unsigned char data[DATA_MAX];
	uint64_t n = maker[who].made;
	size_t len = PAYLOAD_MIN + (n * 7 + who) % (DATA_MAX - PAYLOAD_MIN + 1);

	payload_make(data, len, who, n);
	maker[who].before[n] = now_ns();
	posix_trace_event(maker[who].type, data, len);
	maker[who].made = n + 1;
}

static void strike(int signal)
{
	int before = errno;

	(void)signal;
	if (maker[my_handler].made < HANDLER_EVENTS)
		make_one(my_handler);
	errno = before;
}

/* Starts a timer that sends its signals to the calling thread, and returns the timer. */
static timer_t own_timer(long period_ns)
{
	struct itimerspec often = { { 0, period_ns }, { 0, period_ns } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = STRIKE };
	timer_t timer;

#ifdef sigev_notify_thread_id
	event.sigev_notify_thread_id = thread_id();
#else
	event._sigev_un._tid = thread_id();
#endif
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &often, NULL))
		ck_abort_msg("no timer");
	return timer;
}

static void *work(void *arg)
{
	const struct load *load = arg;
	static _Atomic uint32_t next_thread;
	uint32_t me = next_thread++ % load->threads;
	timer_t timer = 0;

	my_handler = 2 * me + 1;
	for (int i = 0; i < 2; i++) {
		maker[2 * me + i].tid = thread_id();
		maker[2 * me + i].thread = pthread_self();
	}
	pthread_barrier_wait(&together);
	if (load->timer_ns)
		timer = own_timer(load->timer_ns);
	for (uint64_t n = 0; n < load->events; n++)
		make_one(2 * me);
	if (load->timer_ns)
		timer_delete(timer);
	at_work--;
	/* A thread waits here for all others before it ends, so that no thread id is used again. */
	pthread_barrier_wait(&together);
	return NULL;
}

static void *times(size_t n)
{
	void *memory = mmap(NULL, n * sizeof(int64_t), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

static void prepare_makers(const struct load *load)
{
	static const char *const names[] = { "red", "green", "blue" };

	memset(maker, 0, sizeof(maker));
	for (int i = 0; i < 2 * load->threads; i++) {
		maker[i].type = type_of(i % 2 ? "handler" : names[i / 2 % 3]);
		maker[i].before = times(i % 2 ? HANDLER_EVENTS : load->events);
		type_by_maker[i] = maker[i].type;
	}
}

static void forget_makers(const struct load *load)
{
	for (int i = 0; i < 2 * load->threads; i++)
		munmap(maker[i].before,
		       (i % 2 ? HANDLER_EVENTS : load->events) * sizeof(int64_t));
}

static trace_id_t create(const struct load *load, int *log)
{
	trace_attr_t attr;
	trace_id_t trid;

	wish_attr(&attr, &(struct wish){ .policy = load->policy, .size = load->size,
					 .max_data = DATA_MAX });
	*log = -1;
	if (load->policy == POSIX_TRACE_FLUSH) {
		*log = memory_file("log", MFD_CLOEXEC);
		OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
		OK(posix_trace_create_withlog(0, &attr, *log, &trid));
	} else {
		OK(posix_trace_create(0, &attr, &trid));
	}
	start(trid);
	return trid;
}

/* Reads as load->reader requires while the threads trace. Reads the rest when they have ended. */
static void read_meanwhile(const struct load *load, trace_id_t trid, struct account *account)
{
	for (;;) {
		int all_done = !at_work;
		int n = 0;

		if (load->reader == READ_LATE && !all_done) {
			usleep(1000);
			continue;
		}
		while (account_read_one(account, trid, posix_trace_trygetnext_event))
			if (++n == 200 && load->reader == READ_SLOW && !all_done)
				break;
		if (all_done && n == 0)
			return;
		if (load->reader == READ_SLOW && !all_done)
			usleep(500);
		else if (!n)
			sched_yield();
	}
}

struct load_sum load_run(const struct load *load)
{
	struct sigaction action = { .sa_handler = strike, .sa_flags = SA_RESTART };
	pthread_t thread[LOAD_THREADS];
	struct load_sum sum = { .made = 0 };
	struct account account;
	trace_id_t trid;
	int log;

	ck_assert_int_eq(sigaction(STRIKE, &action, NULL), 0);
	prepare_makers(load);
	trid = create(load, &log);
	account_init(&account, load->policy, maker, 2 * load->threads);
	at_work = load->threads;
	pthread_barrier_init(&together, NULL, load->threads);
	for (int i = 0; i < load->threads; i++)
		thread[i] = spawn(work, (void *)load);
	if (log < 0)
		read_meanwhile(load, trid, &account);
	for (int i = 0; i < load->threads; i++)
		join(thread[i]);
	pthread_barrier_destroy(&together);
	if (log >= 0) {
		shut(trid);
		OK(posix_trace_open(log, &trid));
		while (account_read_one(&account, trid, posix_trace_getnext_event))
			continue;
	}
	account_assert_closed(&account, trid);
	if (load->policy == POSIX_TRACE_LOOP && load->reader == READ_LATE)
		account_assert_suffix(&account);
	if (log < 0) {
		shut(trid);
	} else {
		OK(posix_trace_close(trid));
		close(log);
	}
	for (int i = 0; i < 2 * load->threads; i++) {
		sum.made += maker[i].made;
		sum.made_by_handlers += i % 2 ? maker[i].made : 0;
		sum.read += account.read[i];
	}
	forget_makers(load);
	return sum;
}
