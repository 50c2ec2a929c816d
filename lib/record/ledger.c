/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/ledger.c - lines of a ledger by thread, found by a hash table.
 *
 * The thread lines are an array in the order of their first event, so that an index remains valid
 * for posix_trace_get_ledger_thread_np(). A hash table leads from a thread to its index. The line
 * of pid 0 collects all events whose thread is unknown, or has no line because memory is short.
 * Room for this line is always reserved, so that each event has a line.
 *
 * malloc() may set errno, which belongs to the program: each function that allocates restores it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/ledger.h"

/*
 * Makes room for `count` more entries in thread[]. The first four are part of the ledger itself.
 * Returns false if there is no memory; then the array is unchanged.
 */
static bool grow_threads(struct ptx_ledger *ledger, size_t count)
{
	struct ptx_ledger_thread *more;
	size_t room = ledger->room;
	int saved_errno = errno;

	if (ledger->threads + count <= room)
		return true;
	/* Doubling is enough, because `count` is 1 or 2 and the room is at least 4. */
	room *= 2;
	/*
	 * `few` is part of the ledger and not from malloc(), so it must not be passed to realloc().
	 */
	if (ledger->thread == ledger->few) {
		more = malloc(room * sizeof(*more));
		if (more)
			memcpy(more, ledger->few, sizeof(ledger->few));
	} else {
		more = realloc(ledger->thread, room * sizeof(*more));
	}
	errno = saved_errno;
	if (!more)
		return false;
	ledger->thread = more;
	ledger->room = room;
	return true;
}

/*
 * Below this number of threads, a linear search is fast enough. A program may start threads as long
 * as it runs, so the time of a search must not grow with their number.
 */
#define FEW_ENOUGH 8

/*
 * Returns the hash of a thread: the upper bits of the product with 2^64 / golden ratio. These bits
 * differ much even if ids are close to each other.
 */
static size_t hash_thread(uint32_t pid, uint32_t tid, uint64_t thread)
{
	uint64_t h = ((uint64_t)pid << 32 | tid) * UINT64_C(0x9e3779b97f4a7c15) ^ thread;

	h *= UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> 32);
}

/* Enters thread[index] into the table, which has free places, by linear probing. */
static void place_thread(struct ptx_ledger *ledger, size_t index)
{
	const struct ptx_ledger_thread *entry = &ledger->thread[index];
	size_t at = hash_thread(entry->pid, entry->tid, entry->thread);

	while (ledger->place[at & (ledger->places - 1)])
		at++;
	ledger->place[at & (ledger->places - 1)] = (uint32_t)index + 1;
}

/*
 * Keeps the table at most half full, so that a search probes few places. Without memory there is
 * no table, and searches are linear; the ledger remains correct.
 */
static void make_places(struct ptx_ledger *ledger)
{
	int saved_errno = errno;

	if (ledger->threads < FEW_ENOUGH || 2 * ledger->threads < ledger->places)
		return;
	/* The old table is not copied: all indices are entered into the larger table below. */
	free(ledger->place);
	ledger->places = 8 * FEW_ENOUGH;
	while (ledger->places < 4 * ledger->threads)
		ledger->places *= 2;
	ledger->place = calloc(ledger->places, sizeof(*ledger->place));
	errno = saved_errno;
	if (!ledger->place) {
		ledger->places = 0;
		return;
	}
	for (size_t i = 0; i < ledger->threads; i++)
		place_thread(ledger, i);
}

/* Adds a thread without events, and returns its line. The caller has made room. */
static struct ptx_ledger_line *append_thread(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
					     uint64_t thread)
{
	struct ptx_ledger_thread *new = &ledger->thread[ledger->threads++];

	memset(new, 0, sizeof(*new));
	new->pid = pid;
	new->tid = tid;
	new->thread = thread;
	/*
	 * If make_places() keeps the table, the new entry must be in it. If make_places() replaces
	 * the table, it enters all threads.
	 */
	if (ledger->place)
		place_thread(ledger, ledger->threads - 1);
	make_places(ledger);
	return &new->line;
}

/*
 * Returns whether the entry is that of the thread. Threads that had the same thread id one after
 * the other usually differ in `thread`, their pthread_t.
 */
static bool is_thread(const struct ptx_ledger_thread *entry, uint32_t pid, uint32_t tid,
		      uint64_t thread)
{
	return entry->pid == pid && entry->tid == tid && entry->thread == thread;
}

/*
 * Returns the entry of a thread, or NULL. The search is linear in a ledger without a table: with
 * few threads, or without memory for a table.
 */
static struct ptx_ledger_thread *find_thread(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
					     uint64_t thread)
{
	if (ledger->place) {
		size_t at = hash_thread(pid, tid, thread);
		uint32_t index;

		/* The table is at most half full, so the loop finds an empty place. */
		while ((index = ledger->place[at++ & (ledger->places - 1)]) != 0)
			if (is_thread(&ledger->thread[index - 1], pid, tid, thread))
				return &ledger->thread[index - 1];
		return NULL;
	}
	/* The search is backwards, because the threads that record now were added last. */
	for (size_t i = ledger->threads; i-- > 0;)
		if (is_thread(&ledger->thread[i], pid, tid, thread))
			return &ledger->thread[i];
	return NULL;
}

/* The cast removes const for find_thread(), which changes nothing in the ledger. */
const struct ptx_ledger_line *ptx_ledger_find(const struct ptx_ledger *ledger, uint32_t pid,
					      uint32_t tid, uint64_t thread)
{
	const struct ptx_ledger_thread *entry =
		find_thread((struct ptx_ledger *)(uintptr_t)ledger, pid, tid, thread);

	return entry ? &entry->line : NULL;
}

/*
 * The existing lines are searched before any memory is allocated, so a thread that has a line
 * always gets it.
 */
struct ptx_ledger_line *ptx_ledger_thread(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
					  uint64_t thread)
{
	struct ptx_ledger_thread *entry, *nobody;

	if (ledger->is_summary)
		pid = 0;
	if (!pid)
		/*
		 * All unknown threads share one line, so the tid and thread of their records are
		 * not used.
		 */
		tid = 0, thread = 0;
	entry = find_thread(ledger, pid, tid, thread);
	if (entry)
		return &entry->line;
	if (!pid) /* the room for this entry was reserved below */
		return append_thread(ledger, 0, 0, 0);
	nobody = find_thread(ledger, 0, 0, 0);
	/*
	 * As long as pid 0 has no entry, room for one is reserved, because it is needed when memory
	 * is short.
	 */
	if (grow_threads(ledger, nobody ? 1 : 2))
		return append_thread(ledger, pid, tid, thread);
	return nobody ? &nobody->line : append_thread(ledger, 0, 0, 0);
}

/*
 * If `to` needs a larger array, the array gets from->room and not from->threads entries, so that it
 * also has the reserved entry of pid 0.
 */
int ptx_ledger_copy(struct ptx_ledger *to, const struct ptx_ledger *from)
{
	if (to->is_summary) {
		to->total = from->total;
		memcpy(to->type, from->type, sizeof(to->type));
		return 0;
	}
	if (from->threads >= to->room && from->room > to->room) {
		int saved_errno = errno;
		struct ptx_ledger_thread *more = malloc(from->room * sizeof(*more));

		errno = saved_errno;
		if (!more)
			return ENOMEM;
		if (to->thread != to->few)
			free(to->thread);
		to->thread = more;
		to->room = from->room;
	}
	to->total = from->total;
	memcpy(to->type, from->type, sizeof(to->type));
	memcpy(to->thread, from->thread, from->threads * sizeof(*to->thread));
	to->threads = from->threads;
	/*
	 * The indices of the old content are invalid, so the table is made again from the copied
	 * entries.
	 */
	free(to->place);
	to->place = NULL;
	to->places = 0;
	make_places(to);
	return 0;
}

/* The indices of the lines change, so the table is made again. */
void ptx_ledger_drop_empty(struct ptx_ledger *ledger)
{
	size_t kept = 0;

	for (size_t i = 0; i < ledger->threads; i++)
		if (ledger->thread[i].line.called || ptx_ledger_sum(&ledger->thread[i].line))
			ledger->thread[kept++] = ledger->thread[i];
	ledger->threads = kept;
	free(ledger->place);
	ledger->place = NULL;
	ledger->places = 0;
	make_places(ledger);
}

/* A later version may add causes to the public struct, so causes that the line lacks are 0. */
void ptx_ledger_export(const struct ptx_ledger_line *from, struct posix_trace_ledger_np *to)
{
	_Static_assert((int)PTX_LOST_CAUSES <= POSIX_TRACE_LOST_MAX_NP, "room for each cause");
	memset(to, 0, sizeof(*to));
	to->called = from->called;
	to->reported = from->reported;
	to->unread = from->unread;
	to->unattributed = ptx_ledger_unattributed(from);
	memcpy(to->lost, from->lost, sizeof(from->lost));
}

/* If the ledger comes from a hostile log, the sum may wrap. */
uint64_t ptx_ledger_sum(const struct ptx_ledger_line *line)
{
	uint64_t sum = line->reported + line->unread;

	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		sum += line->lost[cause];
	return sum;
}

uint64_t ptx_ledger_unattributed(const struct ptx_ledger_line *line)
{
	const uint64_t sum = ptx_ledger_sum(line);

	return line->called > sum ? line->called - sum : 0;
}

static void add_losses(struct ptx_ledger_line *sum, const struct ptx_ledger_line *line)
{
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		sum->lost[cause] += line->lost[cause];
}

/* Adds to `rest` the losses of the total that are in none of the lines whose sum is `sum`. */
static void take_rest(struct ptx_ledger_line *rest, const struct ptx_ledger_line *total,
		      const struct ptx_ledger_line *sum)
{
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		if (total->lost[cause] > sum->lost[cause])
			rest->lost[cause] += total->lost[cause] - sum->lost[cause];
}

void ptx_ledger_close(struct ptx_ledger *ledger)
{
	const uint64_t unattributed = ptx_ledger_unattributed(&ledger->total);
	struct ptx_ledger_line types = { 0 }, threads = { 0 }, rest = { 0 };

	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		add_losses(&types, &ledger->type[type]);
	for (size_t i = 0; i < ledger->threads; i++)
		add_losses(&threads, &ledger->thread[i].line);
	take_rest(&ledger->type[0], &ledger->total, &types);
	take_rest(&rest, &ledger->total, &threads);
	/* A line of pid 0 is made only if it gets events. */
	if (unattributed || ptx_ledger_sum(&rest))
		add_losses(ptx_ledger_thread(ledger, 0, 0, 0), &rest);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		ledger->type[type].called = ptx_ledger_sum(&ledger->type[type]);
	for (size_t i = 0; i < ledger->threads; i++)
		ledger->thread[i].line.called = ptx_ledger_sum(&ledger->thread[i].line);
	ledger->type[0].called += unattributed;
	if (unattributed)
		ptx_ledger_thread(ledger, 0, 0, 0)->called += unattributed;
}

/* `thread` points into the ledger itself, which is why a ledger must not be assigned. */
void ptx_ledger_init(struct ptx_ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->thread = ledger->few;
	ledger->room = sizeof(ledger->few) / sizeof(ledger->few[0]);
}

void ptx_ledger_init_summary(struct ptx_ledger *ledger)
{
	ptx_ledger_init(ledger);
	ledger->is_summary = true;
}

/* The ledger is usable again afterwards, and empty. */
void ptx_ledger_fini(struct ptx_ledger *ledger)
{
	if (ledger->thread != ledger->few)
		free(ledger->thread);
	free(ledger->place);
	ptx_ledger_init(ledger);
}
