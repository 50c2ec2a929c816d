/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_event() in signal handlers that interrupt any code, including this library. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "support/payload.h"
#include "support/stream.h"

#define PERIOD_US 60

/*
 * The program and the handlers of seven signals. The library has as many nesting levels; the event
 * of a deeper handler is lost and counted (trace_np(3)).
 */
enum { MAIN, HANDLER, MAKERS = 8 };

static trace_event_id_t main_type, handler_type;
static volatile sig_atomic_t handled; /* written only by the thread that receives the signals */
static volatile sig_atomic_t errno_broken;
/*
 * The number of times that handlers may trace before the next read of the stream. The stream must
 * not become full.
 */
static _Atomic int allowance;
#define ALLOWANCE 20000

static void trace_in_handler(int signal)
{
	unsigned char data[PAYLOAD_MIN + 16];
	int before = errno;

	(void)signal;
	if (atomic_fetch_sub(&allowance, 1) <= 0)
		return;
	payload_make(data, PAYLOAD_MIN + handled % 17, HANDLER, handled);
	errno = 4712;
	posix_trace_event(handler_type, data, PAYLOAD_MIN + handled % 17);
	if (errno != 4712)
		errno_broken = 1;
	errno = before;
	handled++;
}

static void timer_on(void (*handler)(int))
{
	struct itimerval often = { { 0, PERIOD_US }, { 0, PERIOD_US } };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	handled = 0;
	allowance = ALLOWANCE;
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
}

static void timer_off(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
}

/* The number of events of each of the two makers that were read. */
struct tally {
	uint64_t next[MAKERS];
	uint64_t others;
};

/* Reads the available events. Each maker's events must be complete, in order and without a gap. */
static void drain(trace_id_t trid, struct tally *tally)
{
	struct posix_trace_event_info info;
	unsigned char data[512];
	int unavailable;
	size_t len;

	for (;;) {
		uint64_t sequence;
		uint32_t who;

		if (posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len,
						 &unavailable))
			ck_abort_msg("reading failed");
		if (unavailable) {
			allowance = ALLOWANCE;
			return;
		}
		if (info.posix_event_id != main_type && info.posix_event_id != handler_type) {
			tally->others++;
			continue;
		}
		if (!payload_read(data, len, &who, &sequence))
			ck_abort_msg("a torn event of type %u", info.posix_event_id);
		if (who >= MAKERS || (who != MAIN) != (info.posix_event_id == handler_type))
			ck_abort_msg("an event of type %u by %u", info.posix_event_id, who);
		if (sequence != tally->next[who])
			ck_abort_msg("%u's event %llu where %llu was due", who,
				     (unsigned long long)sequence,
				     (unsigned long long)tally->next[who]);
		tally->next[who]++;
	}
}

static void open_types(void)
{
	main_type = type_of("main");
	handler_type = type_of("handler");
}

/*
 * EVENT-13, EVENT-14, EVENT-17, EVENT-19: no event is lost or torn, and each maker's order is kept
 */
START_TEST(a_handler_traces_while_it_interrupts_a_trace_point)
{
	trace_id_t trid;
	struct tally tally = { .others = 0 };
	unsigned char data[PAYLOAD_MIN + 100];
	uint64_t n = 0;

	open_types();
	trid = STARTED(.size = 1 << 24, .policy = POSIX_TRACE_UNTIL_FULL);
	timer_on(trace_in_handler);
	while (handled < 3000) {
		for (int i = 0; i < 2000; i++, n++) {
			size_t len = PAYLOAD_MIN + n % 90;

			payload_make(data, len, MAIN, n);
			posix_trace_event(main_type, data, len);
		}
		drain(trid, &tally);
	}
	timer_off();
	drain(trid, &tally);
	ck_assert_uint_eq(tally.next[MAIN], n);
	ck_assert_uint_eq(tally.next[HANDLER], handled);
	ck_assert_uint_eq(tally.others, 1); /* START */
	ck_assert_int_eq(errno_broken, 0);
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	shut(trid);
}
END_TEST

/* The calls that a handler interrupts. They use another stream than the handler. */
static trace_id_t beside;

static void use_create(void) { shut(STARTED()); }
static void use_read(void) { history_free(read_all(beside)); }
static void use_start_stop(void) { stop(beside); start(beside); }
static void use_clear(void) { OK(posix_trace_clear(beside)); }
static void use_status(void) { status_of(beside); }

static void use_attr(void)
{
	trace_attr_t attr;

	OK(posix_trace_get_attr(beside, &attr));
}

static void use_filter(void)
{
	static int add;
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(main_type, &set));
	add = !add;
	OK(posix_trace_set_filter(beside, &set, add ? POSIX_TRACE_ADD_EVENTSET
						    : POSIX_TRACE_SUB_EVENTSET));
	OK(posix_trace_get_filter(beside, &set));
}

static void use_names(void)
{
	static int n;
	char name[32];

	snprintf(name, sizeof(name), "name %d", n++ % 300);
	ck_assert_uint_ne(type_of(name), 0);
}

static void use_list(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int end;

	OK(posix_trace_eventtypelist_getnext_id(beside, &id, &end));
	if (end)
		OK(posix_trace_eventtypelist_rewind(beside));
	else
		OK(posix_trace_eventid_get_name(beside, id, name));
}

static void use_wait(void)
{
	struct posix_trace_event_info info;
	struct timespec past = { 0, 0 };
	int unavailable, err;
	size_t len;

	err = posix_trace_timedgetnext_event(beside, &info, NULL, 0, &len, &unavailable, &past);
	ck_assert(err == 0 || err == ETIMEDOUT || err == EINTR);
}

static void use_event(void) { trace_number(main_type, 1); }

/* EVENT-13, EVENT-14: the handler interrupts every kind of call in turn */
START_TEST(a_handler_traces_while_it_interrupts_any_call)
{
	void (*const use[])(void) = { use_create, use_read, use_start_stop, use_clear, use_status,
				      use_attr, use_filter, use_names, use_list, use_wait,
				      use_event };
	trace_event_set_t main_only;
	trace_id_t trid;

	open_types();
	beside = STARTED();
	trid = STREAM(.size = 1 << 22, .policy = POSIX_TRACE_UNTIL_FULL);
	OK(posix_trace_eventset_empty(&main_only));
	OK(posix_trace_eventset_add(main_type, &main_only));
	OK(posix_trace_set_filter(trid, &main_only, POSIX_TRACE_SET_EVENTSET));
	start(trid);
	for (size_t i = 0; i < sizeof(use) / sizeof(use[0]); i++) {
		struct tally tally = { .others = 0 };

		timer_on(trace_in_handler);
		while (handled < 400)
			use[i]();
		timer_off();
		drain(trid, &tally);
		ck_assert_uint_eq(tally.next[HANDLER], handled);
	}
	ck_assert_int_eq(errno_broken, 0);
	shut(trid);
	shut(beside);
}
END_TEST

/*
 * Each of seven signals has a handler and a counter of its own. The signals interrupt one another.
 */
static volatile sig_atomic_t handled_by[MAKERS];
static volatile sig_atomic_t has_fired[MAKERS];
static volatile sig_atomic_t depth, deepest;

#ifdef __SANITIZE_THREAD__
enum { DEPTH = 1 }; /* the runtime of ThreadSanitizer delivers one signal at a time */
#else
enum { DEPTH = 2 };
#endif

/*
 * If a signal arrives while ThreadSanitizer's runtime delivers another, the runtime may leave all
 * signals blocked.
 */
static void allow_all(void)
{
	sigset_t none;

	sigemptyset(&none);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &none, NULL), 0);
}

static void trace_in_nested_handler(int signal)
{
	int maker = HANDLER + signal - SIGRTMIN;
	unsigned char data[PAYLOAD_MIN + 200];

	if (++depth > deepest)
		deepest = depth;
	for (int i = 0; i < 4 && atomic_fetch_sub(&allowance, 1) > 0; i++) {
		payload_make(data, sizeof(data), maker, handled_by[maker]);
		posix_trace_event(handler_type, data, sizeof(data));
		handled_by[maker]++;
	}
	has_fired[maker] = 1;
	depth--;
}

/* EVENT-13, EVENT-14, EVENT-19 */
START_TEST(handlers_of_seven_signals_nest_in_one_another)
{
	struct sigaction action = { .sa_handler = trace_in_nested_handler };
	struct tally tally = { .others = 0 };
	unsigned char data[PAYLOAD_MIN];
	timer_t timer[MAKERS];
	trace_id_t trid;
	uint64_t n = 0;

	open_types();
	allowance = ALLOWANCE;
	trid = STARTED(.size = 1 << 24, .policy = POSIX_TRACE_UNTIL_FULL);
	for (int i = 0; i < MAKERS - 1; i++) {
		struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
					  .sigev_signo = SIGRTMIN + i };

		ck_assert_int_eq(sigaction(SIGRTMIN + i, &action, NULL), 0);
		ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer[i]), 0);
		has_fired[HANDLER + i] = 1;
	}
	while (handled_by[MAKERS - 1] < 2000 || deepest < DEPTH) {
		allow_all();
		/*
		 * Sends each signal once in a round, so that the rounds continue even if handlers
		 * are slow.
		 */
		for (int i = 0; i < MAKERS - 1; i++) {
			struct itimerspec soon = { { 0, 0 }, { 0, 70000 + 7919 * i } };

			if (!has_fired[HANDLER + i])
				continue;
			has_fired[HANDLER + i] = 0;
			ck_assert_int_eq(timer_settime(timer[i], 0, &soon, NULL), 0);
		}
		for (int i = 0; i < 1000; i++, n++) {
			payload_make(data, sizeof(data), MAIN, n);
			posix_trace_event(main_type, data, sizeof(data));
		}
		drain(trid, &tally);
	}
	for (int i = 0; i < MAKERS - 1; i++)
		ck_assert_int_eq(timer_delete(timer[i]), 0);
	drain(trid, &tally);
	ck_assert_uint_eq(tally.next[MAIN], n);
	for (int i = HANDLER; i < MAKERS; i++)
		ck_assert_uint_eq(tally.next[i], handled_by[i]);
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_event: signals",
	   a_handler_traces_while_it_interrupts_a_trace_point,
	   a_handler_traces_while_it_interrupts_any_call,
	   handlers_of_seven_signals_nest_in_one_another)
