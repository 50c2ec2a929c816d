/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process is suspended at any moment: the traced process, the reader, or the controller that
 * flushes. No other process waits for it, and when it continues, every account is right. A test
 * that hangs ends by its time limit.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faults/suspended.h"
#include "support/ledger.h"
#include "support/log.h"

#define OF_A_CHUNK 256 /* events of 8 bytes, at most */
#define ROUNDS  6
#define MANY    20000

static void __attribute__((noreturn)) trace_until_told(void)
{
	trace_event_id_t id;

	if (posix_trace_eventid_open("n", &id))
		_exit(2);
	while (!atomic_load(&shared->end))
		trace_next(id);
	_exit(0);
}

/* Returns when the process is suspended. */
static void suspend(pid_t pid)
{
	int status;

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
}

/* Checks that the numbers increase. */
struct reading {
	uint64_t events, next;
	bool disorder;
};

static bool take(trace_id_t trid, struct reading *reading)
{
	struct posix_trace_event_info info;
	int unavailable = 1;
	uint64_t number = 0;
	size_t len;

	if (posix_trace_trygetnext_event(trid, &info, &number, sizeof(number), &len,
					 &unavailable) ||
	    unavailable)
		return false;
	if (info.posix_event_id <= POSIX_TRACE_UNNAMED_USEREVENT)
		return true;
	reading->events++;
	reading->disorder |= number < reading->next;
	reading->next = number + 1;
	return true;
}

static uint64_t unread(trace_id_t trid)
{
	struct posix_trace_ledger_np ledger = { .called = 0 };

	posix_trace_get_ledger_np(trid, &ledger);
	return ledger.unread;
}

/*
 * A thread may be suspended inside a trace point; it holds back younger events for a moment only.
 */
static void read_all_there_is(trace_id_t trid, struct reading *reading)
{
	do
		while (take(trid, reading))
			;
	while (unread(trid));
}

/*
 * Returns the number of events called if each is in one column; otherwise more than are possible.
 */
static uint64_t account(trace_id_t trid, const struct reading *reading)
{
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id;

	if (posix_trace_eventid_open("n", &id) ||
	    posix_trace_get_ledger_type_np(trid, id, &ledger) || reading->disorder ||
	    ledger.reported != reading->events || ledger.unread ||
	    ledger.called != ledger.reported + ledger_lost(&ledger))
		return UINT64_MAX;
	return ledger.called;
}

/*
 * If the target is suspended inside an event, this event may be missing, and no other. If it is
 * suspended while it overwrites a chunk, the events of that chunk may be missing until it continues
 * and counts them.
 */
START_TEST(a_suspended_target_is_read_and_controlled)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

	for (int round = 0; round < ROUNDS; round++) {
		struct reading reading = { .events = 0 };
		struct posix_trace_event_info info;
		struct timespec soon;
		uint64_t number, done;
		int unavailable;
		trace_id_t trid;
		pid_t target;
		size_t len;

		memset(shared, 0, sizeof(*shared));
		target = fork();
		if (target == 0) {
			while (!atomic_load(&shared->read))
				usleep(100);
			trace_until_told();
		}
		trid = stream_attach(target, &(struct wish){ .policy = policies[round % 2] });
		start(trid);
		atomic_store(&shared->read, 1);
		while (atomic_load(&shared->done) < 100)
			usleep(100);
		usleep(137 * (unsigned)round);
		suspend(target);
		done = atomic_load(&shared->done);
		read_all_there_is(trid, &reading);
		ck_assert_uint_ge(account(trid, &reading) + (round % 2 ? 0 : OF_A_CHUNK), done);
		ck_assert_uint_le(account(trid, &reading), done + 1);
		clock_gettime(CLOCK_REALTIME, &soon);
		FAILS(ETIMEDOUT,
		      posix_trace_timedgetnext_event(trid, &info, &number, sizeof(number), &len,
						     &unavailable, &soon));
		if (round % 3 == 1) {
			OK(posix_trace_stop(trid));
			OK(posix_trace_start(trid));
		}
		ck_assert_int_eq(kill(target, SIGCONT), 0);
		while (atomic_load(&shared->done) < done + 100)
			usleep(100);
		atomic_store(&shared->end, 1);
		wait_well(target);
		read_all_there_is(trid, &reading);
		/* One event may have been in progress when the stream was stopped. */
		ck_assert_uint_ge(account(trid, &reading) + (round % 3 == 1),
				  atomic_load(&shared->made));
		ck_assert_uint_le(account(trid, &reading), atomic_load(&shared->made));
		shut(trid);
	}
}
END_TEST

/*
 * A controller that reads, or whose stream flushes, until the test ends it. Then it checks the
 * account.
 */
static void __attribute__((noreturn)) control(pid_t target, int policy, int fd)
{
	struct reading reading = { .events = 0 };
	trace_attr_t attr;
	trace_id_t trid;

	log_wish_attr(&attr, &(struct log_wish){ .policy = policy });
	if (fd < 0 ? posix_trace_create(target, &attr, &trid) :
		     posix_trace_create_withlog(target, &attr, fd, &trid))
		_exit(3);
	posix_trace_attr_destroy(&attr);
	if (posix_trace_start(trid))
		_exit(4);
	atomic_store(&shared->read, 1);
	while (!atomic_load(&shared->end)) {
		if (fd >= 0)
			posix_trace_flush(trid);
		else if (!take(trid, &reading))
			usleep(100);
		atomic_fetch_add(&shared->read, 1);
	}
	if (fd < 0) {
		read_all_there_is(trid, &reading);
		if (account(trid, &reading) != atomic_load(&shared->made))
			_exit(6);
	}
	_exit(posix_trace_shutdown(trid) ? 5 : 0);
}

static void suspend_a_controller(int policy, int fd)
{
	trace_event_id_t id = type_of("n");

	for (int round = 0; round < ROUNDS; round++) {
		pid_t controller, self = getpid();
		uint64_t before;

		memset(shared, 0, sizeof(*shared));
		if (fd >= 0)
			ck_assert_int_eq(ftruncate(fd, 0), 0);
		controller = fork();
		if (controller == 0)
			control(self, policy, fd);
		while (!atomic_load(&shared->read))
			usleep(100);
		for (int n = 0; n < 300 * round; n++)
			trace_next(id);
		suspend(controller);
		before = atomic_load(&shared->read);
		for (int n = 0; n < MANY; n++)
			trace_next(id); /* it must not wait, although the streams are full by now */
		ck_assert_uint_eq(atomic_load(&shared->read), before);
		ck_assert_int_eq(kill(controller, SIGCONT), 0);
		while (atomic_load(&shared->read) < before + 10)
			trace_next(id);
		atomic_store(&shared->end, 1);
		wait_well(controller);
		if (fd >= 0) {
			struct posix_trace_ledger_np ledger;
			trace_id_t trid;

			assert_log_whole(fd);
			trid = log_open(fd);
			OK(posix_trace_get_ledger_type_np(trid, id, &ledger));
			ck_assert_uint_eq(ledger.called, atomic_load(&shared->made));
			ck_assert_uint_eq(ledger.called, ledger.reported + ledger_lost(&ledger));
			log_close(trid);
		}
	}
}

START_TEST(the_target_of_a_suspended_reader_goes_on)
{
	suspend_a_controller(POSIX_TRACE_LOOP, -1);
	suspend_a_controller(POSIX_TRACE_UNTIL_FULL, -1);
}
END_TEST

START_TEST(the_target_of_a_suspended_flush_goes_on)
{
	int fd = log_file();

	suspend_a_controller(POSIX_TRACE_FLUSH, fd);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("suspended", &tc);

	tcase_set_timeout(tc, 1800);
	tcase_add_checked_fixture(tc, suspended_begin, suspended_end);
	tcase_add_test(tc, a_suspended_target_is_read_and_controlled);
	tcase_add_test(tc, the_target_of_a_suspended_reader_goes_on);
	tcase_add_test(tc, the_target_of_a_suspended_flush_goes_on);
	return suite;
}

SUITE_MAIN_OF(build)
