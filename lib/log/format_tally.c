/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_tally.c - a count for each type, and a hash table of threads.
 *
 * The guardian and the readers count events of hostile logs, so a hostile log may choose the number
 * of threads and their identities. The hash therefore depends on a value that the author of the log
 * cannot predict. If the table cannot grow, this is no error: the events are then counted without
 * their thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format_tally.h"

/* No memory is allocated before the first thread, so an unused tally needs no fini. */
void ptx_log_tally_init(struct ptx_log_tally *tally)
{
	memset(tally, 0, sizeof(*tally));
}

/* The tally is empty again afterwards and can be used once more. */
void ptx_log_tally_fini(struct ptx_log_tally *tally)
{
	free(tally->thread);
	/* Both arrays may be NULL. */
	free(tally->hash);
	ptx_log_tally_init(tally);
}

/* Returns the place in the hash table at which the search for a thread begins. */
static size_t first_place(const struct ptx_log_tally *tally, const struct ptx_log_source *source)
{
	/*
	 * In a product with a large odd number, every bit of the other factor has an effect on the
	 * upper half.
	 */
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t mix = (source->thread ^ (uintptr_t)tally) * odd;

	/*
	 * The address of the tally is the secret value, so a hostile log cannot choose threads that
	 * collide.
	 */
	mix = (mix ^ mix >> 32 ^ source->tid ^ (uint64_t)source->pid << 32 ^ (uintptr_t)tally) *
	      odd;
	return (size_t)(mix ^ mix >> 32) & (tally->hash_size - 1);
}

/*
 * Returns the thread's count. If there is none, returns NULL and stores the free place in *place.
 * The table must not be full.
 */
static struct ptx_log_count *format_tally_find(const struct ptx_log_tally *tally,
					       const struct ptx_log_source *source, size_t *place)
{
	size_t i;

	/*
	 * Linear probing: after a collision the next place is tried. Entries are never removed, so
	 * an empty place ends the search.
	 */
	for (i = first_place(tally, source); tally->hash[i]; i = (i + 1) & (tally->hash_size - 1)) {
		struct ptx_log_count *count = &tally->thread[tally->hash[i] - 1];

		if (count->source.pid == source->pid && count->source.tid == source->tid &&
		    count->source.thread == source->thread)
			return count;
	}
	/* The caller can enter the thread here. */
	*place = i;
	return NULL;
}

/*
 * Doubles the table, so that it is at most half full and format_tally_find() always ends. After a
 * failure the old table is intact; thread[] may then be larger than needed. Returns false after a
 * failure.
 */
static bool format_tally_grow(struct ptx_log_tally *tally)
{
	size_t size = tally->hash_size ? 2 * tally->hash_size : 64, place = 0;
	struct ptx_log_count *thread;
	uint32_t *hash;

	/* The hash table stores indices into thread[] with 32 bits. */
	if (size > UINT32_MAX)
		return false;
	/* The array of threads has half as many entries as the table has places. */
	thread = realloc(tally->thread, size / 2 * sizeof(*thread));
	if (!thread)
		return false;
	tally->thread = thread;
	/* The old table cannot be enlarged, because places in a table depend on its size. */
	hash = calloc(size, sizeof(*hash));
	if (!hash)
		return false;
	free(tally->hash);
	tally->hash = hash;
	tally->hash_size = size;
	/* All threads are entered again: their places depend on the size of the table. */
	for (size_t i = 0; i < tally->threads; i++) {
		format_tally_find(tally, &thread[i].source, &place);
		hash[place] = (uint32_t)i + 1;
	}
	return true;
}

/*
 * format_tally_grow() is called only for a new thread, so counting a known thread needs no memory.
 * errno is restored, because for the caller a failed allocation is no error.
 */
void ptx_log_tally_thread(struct ptx_log_tally *tally, const struct ptx_log_source *source,
			  uint64_t events)
{
	struct ptx_log_count *count = NULL;
	/* Only format_tally_grow() may change errno. */
	int saved = errno;
	size_t place = 0;

	if (tally->hash_size)
		count = format_tally_find(tally, source, &place);
	if (!count) {
		if (2 * tally->threads >= tally->hash_size) {
			if (!format_tally_grow(tally)) {
				tally->unattributed += events;
				errno = saved;
				return;
			}
			/* The table has moved, so the free place must be searched again. */
			format_tally_find(tally, source, &place);
		}
		/* There is room: the table is at most half full. */
		count = &tally->thread[tally->threads++];
		count->source = *source;
		count->events = 0;
		tally->hash[place] = (uint32_t)tally->threads;
	}
	count->events += events;
}

/*
 * The records were checked: types are in range, sources are in the table, and the last record ends
 * at the end of the bytes. So the loop checks nothing inside a record.
 */
void ptx_log_tally_records(struct ptx_log_tally *tally, const void *records, size_t bytes,
			   const struct ptx_log_source *table)
{
	/*
	 * Consecutive records are often of one thread, so one search in the table is enough for all
	 * of them.
	 */
	const uint8_t *at = records, *end = at + bytes;
	uint32_t source = UINT32_MAX;
	uint64_t run = 0;

	while (at < end) {
		const struct ptx_record *record = (const void *)at;

		/*
		 * If the source changes, the run of the former source ends and is counted for its
		 * thread.
		 */
		if (record->source != source) {
			if (run)
				ptx_log_tally_thread(tally, &table[source], run);
			source = record->source;
			run = 0;
		}
		run++;
		tally->events++;
		tally->type[record->type]++;
		at += ptx_record_size(ptx_record_len(record->len_flags));
	}
	if (run)
		ptx_log_tally_thread(tally, &table[source], run);
}

/*
 * Moves `events` events from reported to lost, or all reported events if the line has fewer.
 * Returns the number of events that were not moved. The sum of the columns stays the same (FORMAT
 * L1).
 */
static uint64_t format_tally_move(struct ptx_ledger_line *line, uint64_t events,
				  enum ptx_lost cause)
{
	const uint64_t moved = events < line->reported ? events : line->reported;

	line->reported -= moved;
	line->lost[cause] += moved;
	return events - moved;
}

/*
 * The ledger has every event of the tally as reported, because the drain counted each event when it
 * was appended. If memory was short, the tally or the ledger has counted events without their
 * thread. The line of a thread may then have fewer events than the tally moves. The rest is moved
 * in the line of pid 0, and then in any lines, so that no column becomes negative and the columns
 * of the lines add up to the total (FORMAT L2).
 */
void ptx_log_tally_move(const struct ptx_log_tally *tally, struct ptx_ledger *ledger,
			enum ptx_lost cause)
{
	uint64_t rest = tally->unattributed;

	format_tally_move(&ledger->total, tally->events, cause);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		format_tally_move(&ledger->type[type], tally->type[type], cause);
	for (size_t i = 0; i < tally->threads; i++) {
		const struct ptx_log_source *source = &tally->thread[i].source;

		rest += format_tally_move(
			ptx_ledger_thread(ledger, source->pid, source->tid, source->thread),
			tally->thread[i].events, cause);
	}
	if (rest)
		rest = format_tally_move(ptx_ledger_thread(ledger, 0, 0, 0), rest, cause);
	for (size_t i = 0; i < ledger->threads && rest; i++)
		rest = format_tally_move(&ledger->thread[i].line, rest, cause);
}

/*
 * This is for a log without ledger. The losses of such a log are unknown, so in each line called
 * equals reported (FORMAT L1). The lines of threads are copied directly, without a search for each
 * line.
 */
int ptx_log_tally_report(const struct ptx_log_tally *tally, struct ptx_ledger *ledger)
{
	struct ptx_ledger_thread *thread = calloc(tally->threads + 1, sizeof(*thread));

	if (!thread)
		return ENOMEM;
	/*
	 * From here on no step can fail. So the function replaces the whole ledger, or returns an
	 * error and leaves it unchanged.
	 */
	ptx_ledger_fini(ledger);
	ledger->total.called = ledger->total.reported = tally->events;
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		ledger->type[type].called = ledger->type[type].reported = tally->type[type];
	for (size_t i = 0; i < tally->threads; i++) {
		/* The line's other columns are zero since calloc(). */
		thread[i].pid = tally->thread[i].source.pid;
		thread[i].tid = tally->thread[i].source.tid;
		thread[i].thread = tally->thread[i].source.thread;
		thread[i].line.called = thread[i].line.reported = tally->thread[i].events;
	}
	ledger->thread = thread;
	ledger->room = tally->threads + 1;
	ledger->threads = tally->threads;
	/* Events of no thread need one more line, for which calloc() above has made room. */
	if (tally->unattributed) {
		struct ptx_ledger_line *line = ptx_ledger_thread(ledger, 0, 0, 0);

		line->called += tally->unattributed;
		line->reported += tally->unattributed;
	}
	return 0;
}
