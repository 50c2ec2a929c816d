/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream of many threads: its memory, its promise and its account, for small to large sizes of
 * streams and events.
 *
 * The threads live at the same time and record one after the other, so each run does the same. The
 * memory is the memory in the process's memory file. The limit is twice the size of the attributes,
 * one largest event for each thread, and 256 KiB. From TABLES_FROM threads on, the limit also has
 * TABLE bytes for the ring, the slot and the header of the chunk of each thread. From LOOP_FROM
 * threads on, a LOOP stream has TABLE_LOOP bytes instead, because the hints of closed chunks need
 * memory for four times as many threads. The limit may be a quarter higher where small and largest
 * events alternate, because chunks then have the fewest bytes of events.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/stream.h"

#define KIB         ((size_t)1024)
#define SLACK       (256 * KIB)
#define TABLE       256u
#define TABLES_FROM 1000u
#define TABLE_LOOP  432u
#define LOOP_FROM   4081u
#define MOST        4090u

static const size_t sizes[] = { 64 * KIB, 1024 * KIB };
static const size_t data_sizes[] = { 16, 64, 1024, 8192, 100000 };
static const unsigned thread_counts[] = { 1, 8, 64, 65, 100, 300, 1000, 3000, MOST };
static const int policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };

/*
 * The division of the events of a stream's size: the sizes of the events, and the threads that
 * record them.
 */
enum pattern {
	SMALL_IN_TURN,  /* small events, the same number in each thread */
	SMALL_IN_FEW,   /* small events, most of them in the first tenth of the threads */
	MIXED_IN_TURN,  /* small and largest in turn: chunks have the fewest bytes */
	PATTERNS
};
enum { COUNTS = 9, CASES = 2 * 5 * COUNTS * 2 * PATTERNS };

/*
 * Whether the case runs. Each case starts its own threads. All cases together need a quarter of a
 * million thread ids, more than many systems have. With PTX_THREADS_ALL all cases run. Otherwise,
 * cases of 1,000 threads and more run only with data of 64 and 1,024 bytes, in the smaller stream,
 * and without the middle pattern.
 */
static bool is_wanted(size_t size, size_t max_data, unsigned threads, enum pattern pattern)
{
	if (threads < TABLES_FROM || getenv("PTX_THREADS_ALL"))
		return true;
	return size == sizes[0] && pattern != SMALL_IN_FEW &&
	       (max_data == 1024 || (max_data == 64 && threads == TABLES_FROM));
}

static struct worker {
	pthread_t thread;
	sem_t go;
	size_t len[4]; /* lengths of the data of the events to record now */
	unsigned count;
} workers[MOST];
static sem_t done;
static bool has_ended;
static trace_event_id_t u;
static char *data;

static size_t memory(void)
{
	size_t bytes = 0;
	struct stat file;

	for (int fd = 200; fd < 208; fd++)
		if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 0)
			bytes += (size_t)file.st_blocks * 512;
	return bytes;
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	for (;;) {
		while (sem_wait(&worker->go) != 0)
			;
		if (has_ended)
			return NULL;
		for (unsigned i = 0; i < worker->count; i++)
			posix_trace_event(u, data, worker->len[i % 4]);
		sem_post(&done);
	}
}

/* Makes the thread record events whose lengths alternate between a and b. */
static void record(struct worker *worker, unsigned count, size_t a, size_t b)
{
	worker->len[0] = worker->len[2] = a;
	worker->len[1] = worker->len[3] = b;
	worker->count = count;
	sem_post(&worker->go);
	while (sem_wait(&done) != 0)
		;
}

static void begin_threads(unsigned threads)
{
	/* Other processors than x86 need more: 128 KiB on arm64. */
	const size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
	pthread_attr_t small;

	OK(pthread_attr_init(&small));
	OK(pthread_attr_setstacksize(&small, least > 64 * KIB ? least : 64 * KIB));
	ck_assert_int_eq(sem_init(&done, 0, 0), 0);
	has_ended = false;
	for (unsigned i = 0; i < threads; i++) {
		ck_assert_int_eq(sem_init(&workers[i].go, 0, 0), 0);
		ck_assert_int_eq(pthread_create(&workers[i].thread, &small, work, &workers[i]), 0);
	}
	pthread_attr_destroy(&small);
}

static void end_threads(unsigned threads)
{
	has_ended = true;
	for (unsigned i = 0; i < threads; i++) {
		sem_post(&workers[i].go);
		pthread_join(workers[i].thread, NULL);
	}
}

/* Records as many events as fit into the stream's size, and returns their number. */
static unsigned fill_by(enum pattern pattern, unsigned threads, size_t promised, size_t small,
			size_t large, const trace_attr_t *attr)
{
	const size_t a = user_event_size(attr, small), b = user_event_size(attr, large);
	const bool mixed = pattern == MIXED_IN_TURN;
	/* Each thread records pairs, so that the sum is the same for each pattern. */
	const size_t pair = mixed ? a + b : 2 * a;
	size_t pairs = promised / pair;
	unsigned busy = pattern == SMALL_IN_FEW ? threads / 10 + 1 : threads;
	size_t each = pairs / busy, rest = pairs % busy;

	for (unsigned i = 0; i < busy; i++)
		if (each + (i < rest))
			record(&workers[i], 2 * (unsigned)(each + (i < rest)), small,
			       mixed ? large : small);
	return 2 * (unsigned)pairs;
}

static unsigned count_read(trace_id_t trid)
{
	struct history *history = read_all(trid);
	unsigned count = history_count(history, u);

	history_free(history);
	return count;
}

static uint64_t lost_of(trace_id_t trid)
{
	struct posix_trace_ledger_np ledger;
	uint64_t lost = 0;

	OK(posix_trace_get_ledger_np(trid, &ledger));
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		lost += ledger.lost[cause];
	ck_assert_uint_eq(ledger.called, ledger.reported + ledger.unread + lost);
	return lost;
}

/* SIZE-10 */
START_TEST(many_threads_have_what_is_promised_within_the_memory_that_is_asked_for)
{
	const enum pattern pattern = _i % PATTERNS;
	const int policy = policies[_i / PATTERNS % 2];
	const size_t max_data = data_sizes[_i / PATTERNS / 2 / COUNTS % 5];
	/* With such large events, a stream has 1,024 rings. */
	const unsigned wanted = thread_counts[_i / PATTERNS / 2 % COUNTS],
		       threads = wanted > 1000 && max_data > 8192 ? 1000 : wanted;
	const size_t before = memory(), small = 8;
	size_t asked = sizes[_i / PATTERNS / 2 / COUNTS / 5], largest, limit;
	unsigned sent;
	trace_attr_t attr;
	trace_id_t trid;

	if (!is_wanted(asked, max_data, wanted, pattern))
		return;
	data = calloc(1, max_data);
	u = type_of("u");
	wish_attr(&attr, &(struct wish){ .policy = policy, .size = asked, .max_data = max_data });
	largest = user_event_size(&attr, max_data);
	if (largest < system_event_size(&attr))
		largest = system_event_size(&attr);
	asked = asked < 2 * largest ? 2 * largest : asked;
	limit = 2 * asked + SLACK + threads * largest;
	if (policy == POSIX_TRACE_LOOP && threads >= LOOP_FROM)
		limit += threads * TABLE_LOOP;
	else if (threads >= TABLES_FROM)
		limit += threads * TABLE;
	if (policy == POSIX_TRACE_LOOP && pattern == MIXED_IN_TURN)
		limit += limit / 4;
	begin_threads(threads);
	OK(posix_trace_create(0, &attr, &trid));
	start(trid);
	count_read(trid); /* The stream has room for START, too. */
	/* Each thread records, and a reader reads so often that the stream is never full. */
	for (unsigned i = 0; i < threads; i++) {
		record(&workers[i], 1, i % 7 == 3 ? max_data : small, 0);
		/* Between two reads, the threads record less than the stream's size. */
		if (i % (max_data > 8192 ? 7 : 35) == 6)
			ck_assert_uint_gt(count_read(trid), 0);
	}
	count_read(trid);
	ck_assert_uint_eq(lost_of(trid), 0);
	/* Without a read, the threads record as many events as the stream's size permits. */
	sent = fill_by(pattern, threads, asked, small, max_data, &attr);
	ck_assert_uint_eq(lost_of(trid), 0);
	if (policy == POSIX_TRACE_LOOP) {
		/* The threads record twice as many events; the younger half remains. */
		fill_by(pattern, threads, asked, small, max_data, &attr);
		ck_assert_uint_ge(count_read(trid), sent);
	} else {
		ck_assert_uint_eq(count_read(trid), sent);
	}
	(void)lost_of(trid);
	ck_assert_msg(memory() - before <= limit,
		      "size %zu max-data %zu threads %u policy %d pattern %d: "
		      "%zu KiB, and %zu KiB is the limit", asked, max_data, threads, policy,
		      pattern, (memory() - before) / KIB, limit / KIB);
	end_threads(threads);
	shut(trid);
	free(data);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("memory of a stream of many threads", &tc);

	tcase_add_loop_test(tc,
			    many_threads_have_what_is_promised_within_the_memory_that_is_asked_for,
			    0, CASES);
	return s;
}

SUITE_MAIN_OF(suite)
