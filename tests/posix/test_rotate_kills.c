/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix_trace_rotate_log_np(): the creator is killed at any moment of its rotations. Each event is
 * in one log, and the ledgers have all events that are missing.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"

#define TRACERS     2
#define KILLS       16
#define FILES       64
#define STREAM_SIZE (1 << 19)
#define CHUNK_MAX   512 /* more events than a chunk of such a stream has */
#define STREAM_MAX  (2 * STREAM_SIZE / 24) /* more events of 24 bytes than the stream has */

/* The child stores its progress in shared memory. */
struct progress {
	struct {
		_Alignas(64) _Atomic uint64_t traced;
	} tracer[TRACERS];
	_Atomic int begun; /* the number of the file of the last rotation that has begun */
	_Atomic int ended;
};
static struct progress *progress;

/* The sums over all logs. */
struct found {
	uint64_t last[TRACERS];
	pthread_t who[TRACERS];
	uint64_t events, missing, gone, called, reported, lost, unattributed;
};

static void *trace_for_ever(void *argument)
{
	_Atomic uint64_t *traced = argument;
	trace_event_id_t id;

	if (posix_trace_eventid_open("n", &id))
		_exit(3);
	for (uint64_t n = 1;; n++) {
		posix_trace_event(id, &n, sizeof(n));
		atomic_store_explicit(traced, n, memory_order_release);
	}
}

static void rotate_for_ever(const int *fd, const struct log_wish *wish)
{
	trace_id_t trid = log_create_started(fd[0], wish);
	pthread_t thread;

	for (int i = 0; i < TRACERS; i++)
		pthread_create(&thread, NULL, trace_for_ever, &progress->tracer[i].traced);
	for (int i = 1; i < FILES; i++) {
		atomic_store(&progress->begun, i);
		if (posix_trace_rotate_log_np(trid, fd[i]))
			_exit(4);
		atomic_store(&progress->ended, i);
		usleep(500);
	}
	pause();
	_exit(0);
}

/* Reads the events of one log. The numbers of each thread increase over all logs. */
static void add_one_log(struct found *found, int fd)
{
	trace_id_t trid = log_open(fd);
	struct posix_trace_ledger_np ledger = ledger_total(trid);
	struct posix_trace_event_info info;
	int unavailable;
	uint64_t n, events = 0;
	size_t len;

	for (;;) {
		int i = 0;

		OK(posix_trace_getnext_event(trid, &info, &n, sizeof(n), &len, &unavailable));
		if (unavailable)
			break;
		events++;
		if (info.posix_event_id < 64)
			continue;
		while (i < TRACERS && found->who[i] && found->who[i] != info.posix_thread_id)
			i++;
		ck_assert_int_lt(i, TRACERS);
		found->who[i] = info.posix_thread_id;
		ck_assert_uint_gt(n, found->last[i]);
		found->missing += n - found->last[i] - 1;
		found->last[i] = n;
		found->events++;
	}
	ck_assert_uint_eq(events, ledger.reported);
	ck_assert_uint_eq(ledger.called, ledger.reported + ledger_lost(&ledger) +
						 ledger.unattributed);
	found->called += ledger.called;
	found->reported += ledger.reported;
	found->lost += ledger_lost(&ledger);
	found->unattributed += ledger.unattributed;
	log_close(trid);
	assert_log_whole(fd);
}

/*
 * Returns whether the child was killed before this log had a guardian. Such a log has no events
 * and stays incomplete. A log with a guardian cannot be opened before it is complete.
 */
static bool is_unused(int fd)
{
	struct posix_trace_loginfo_np info;
	struct posix_trace_ledger_np ledger;
	trace_id_t trid;
	int err;

	if (log_stat(fd).st_size < 4096) /* the header is not complete */
		return true;
	while ((err = posix_trace_open(fd, &trid)) == EBUSY)
		usleep(1000);
	OK(err);
	OK(posix_trace_get_loginfo_np(trid, &info));
	ledger = ledger_total(trid);
	log_close(trid);
	return !info.complete && !ledger.reported;
}

/* Kills a child after this time, and checks all of its logs. */
static void kill_after(useconds_t time, const struct log_wish *wish)
{
	struct found found = { .events = 0 };
	uint64_t traced = 0;
	int fd[FILES], last;
	pid_t child;

	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(progress, MAP_FAILED);
	for (int i = 0; i < FILES; i++)
		fd[i] = log_file();
	child = fork();
	if (child == 0)
		rotate_for_ever(fd, wish);
	ck_assert_int_gt(child, 0);
	wait_until(atomic_load(&progress->begun));
	usleep(time);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	last = atomic_load(&progress->begun);
	ck_assert_int_ge(last, atomic_load(&progress->ended));
	for (int i = 0; i <= last; i++) {
		if (i == last && i > atomic_load(&progress->ended) && is_unused(fd[i]))
			break;
		log_wait_for_end(fd[i]);
		add_one_log(&found, fd[i]);
	}
	for (int i = 0; i < TRACERS; i++)
		traced += atomic_load(&progress->tracer[i].traced);
	/* Each thread may have recorded one more event than it has counted. */
	ck_assert_uint_ge(found.events + found.lost + found.unattributed, traced);
	ck_assert_uint_le(found.missing, found.lost + found.unattributed);
	ck_assert_uint_eq(found.called, found.reported + found.lost + found.unattributed);
	if (wish->policy != POSIX_TRACE_LOOP) {
		ck_assert_uint_eq(found.unattributed, 0);
		ck_assert_uint_le(found.events + found.lost, traced + TRACERS);
	} else {
		/*
		 * The reader of a LOOP stream removes events before it writes them or counts them
		 * as overwritten. If it is killed before the next checkpoint, their number is not
		 * known (flush/checkpoint.h). A flush ends when it has passed the events that the
		 * stream had at its beginning, which are at most half of STREAM_MAX. The other half
		 * is a reserve. A killed writer may leave one chunk that it was overwriting and had
		 * not counted.
		 */
		ck_assert_uint_le(found.unattributed, STREAM_MAX + TRACERS * CHUNK_MAX);
	}
	for (int i = 0; i < FILES; i++)
		close(fd[i]);
	munmap(progress, sizeof(*progress));
}

START_TEST(a_creator_may_be_killed_at_any_moment_of_a_rotation)
{
	for (int i = 0; i < KILLS; i++)
		kill_after(731u * (unsigned)i, &(struct log_wish){
			.policy = POSIX_TRACE_FLUSH,
			.log_policy = i % 3 == 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND,
			.size = STREAM_SIZE, .log_size = 64 << 20 });
}
END_TEST

START_TEST(the_creator_of_a_loop_stream_may_be_killed)
{
	for (int i = 0; i < KILLS / 2; i++)
		kill_after(1117u * (unsigned)i, &(struct log_wish){
			.policy = POSIX_TRACE_LOOP, .size = STREAM_SIZE });
}
END_TEST

SUITE_NEEDS("exec guardian");

SUITE_MAIN("posix_trace_rotate_log_np(): kills",
	   a_creator_may_be_killed_at_any_moment_of_a_rotation,
	   the_creator_of_a_loop_stream_may_be_killed)
