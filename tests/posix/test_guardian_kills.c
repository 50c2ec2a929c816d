/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* If a writer is killed while its threads trace, its log has all events that they had recorded. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"

#define TRACERS     3
#define KILLS       12
#define STREAM_SIZE (1 << 19)
#define CHUNK_MAX   512 /* more events than a chunk of such a stream has */

/* The children store the numbers of events that they have traced in shared memory. */
struct progress {
	_Alignas(64) _Atomic uint64_t traced;
};
static struct progress *progress;

static void setup_progress(void)
{
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(progress, MAP_FAILED);
}

static void *trace_for_ever(void *argument)
{
	struct progress *mine = argument;
	trace_event_id_t id;

	if (posix_trace_eventid_open("n", &id))
		_exit(3);
	for (uint64_t n = 1;; n++) {
		posix_trace_event(id, &n, sizeof(n));
		atomic_store_explicit(&mine->traced, n, memory_order_release);
	}
}

static pid_t start_writer(int fd, const struct log_wish *wish)
{
	pid_t child;

	setup_progress();
	child = fork();
	if (child == 0) {
		pthread_t thread;

		log_create_started(fd, wish);
		for (int i = 0; i < TRACERS; i++)
			pthread_create(&thread, NULL, trace_for_ever, &progress[i]);
		pause();
		_exit(0);
	}
	ck_assert_int_gt(child, 0);
	return child;
}

/*
 * Asserts that every thread's numbers increase, and that the ledger has the missing numbers. A
 * thread of a LOOP stream may be killed while it counts the events of a chunk that it overwrites.
 * These events are unattributed, because some of them may be counted already (ring/overwrite.c).
 */
static void check_log(int fd, int log_policy)
{
	struct posix_trace_ledger_np ledger;
	trace_id_t trid = log_open(fd);
	uint64_t traced = 0, missing = 0, events = 0, last[TRACERS] = { 0 };
	pthread_t who[TRACERS] = { 0 };
	struct posix_trace_event_info info;
	int unavailable;
	uint64_t n, gone;
	size_t len;

	for (int i = 0; i < TRACERS; i++)
		traced += atomic_load(&progress[i].traced);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_le(ledger.unattributed, TRACERS * CHUNK_MAX);
	gone = ledger_lost(&ledger) + ledger.unattributed;
	for (;;) {
		int i = 0;

		OK(posix_trace_getnext_event(trid, &info, &n, sizeof(n), &len, &unavailable));
		if (unavailable)
			break;
		if (info.posix_event_id < 64)
			continue;
		while (i < TRACERS && who[i] && who[i] != info.posix_thread_id)
			i++;
		ck_assert_int_lt(i, TRACERS);
		who[i] = info.posix_thread_id;
		ck_assert_uint_gt(n, last[i]);
		missing += n - last[i] - 1;
		last[i] = n;
		events++;
	}
	/*
	 * When a log of policy UNTIL_FULL is full, the stream stops, and later events are not
	 * counted (LOG-05).
	 */
	if (log_policy != POSIX_TRACE_UNTIL_FULL)
		ck_assert_uint_ge(events + gone, traced);
	ck_assert_uint_le(missing, gone);
	log_close(trid);
	assert_log_whole(fd);
	munmap(progress, 4096);
}

/* EXIT-01, EXIT-02: all events recorded before the death are in the log, with any policies */
START_TEST(the_log_of_a_killed_writer_is_complete)
{
	static const int policy[] = { POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };
	static const int log_policy[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					  POSIX_TRACE_LOOP };

	for (int i = 0; i < 9; i++) {
		struct log_wish wish = { .policy = policy[i / 3], .log_policy = log_policy[i % 3],
					 .size = STREAM_SIZE, .log_size = 4 << 20 };
		int fd = log_file();
		pid_t child = start_writer(fd, &wish);

		while (!atomic_load(&progress[0].traced))
			usleep(100); /* before that time there is no log */
		usleep(50000);
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		log_wait_for_end(fd);
		check_log(fd, wish.log_policy);
		close(fd);
	}
}
END_TEST

/* EXIT-02: the writer is killed at any moment of a flush */
START_TEST(a_writer_may_be_killed_at_any_moment)
{
	for (int i = 0; i < KILLS; i++) {
		int fd = log_file();
		pid_t child = start_writer(fd, &(struct log_wish){
						       .policy = POSIX_TRACE_FLUSH,
						       .log_policy = i % 2 ? POSIX_TRACE_APPEND :
									     POSIX_TRACE_LOOP,
						       .size = STREAM_SIZE,
						       .log_size = 64 << 20 });

		while (!atomic_load(&progress[0].traced))
			usleep(100);
		usleep(3000 + 1777 * (unsigned)i);
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		log_wait_for_end(fd);
		check_log(fd, POSIX_TRACE_APPEND);
		close(fd);
	}
}
END_TEST

SUITE_NEEDS("exec guardian");

SUITE_MAIN("the guardian of a log: kills",
	   the_log_of_a_killed_writer_is_complete,
	   a_writer_may_be_killed_at_any_moment)
