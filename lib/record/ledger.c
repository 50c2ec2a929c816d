/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/ledger.h"

/*
 * Grows thread[] so that count more entries fit. malloc may set errno, which belongs to the
 * program.
 */
static bool make_room(struct ptx_ledger *ledger, size_t count)
{
	struct ptx_ledger_thread *more;
	size_t room = ledger->room;
	int saved_errno = errno;

	if (ledger->threads + count <= room)
		return true;
	room *= 2;
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

/* A program may have as many threads as it lives long: looking must not cost by their number. */
#define FEW_ENOUGH 8

static size_t hash(uint32_t pid, uint32_t tid, uint64_t thread)
{
	uint64_t h = ((uint64_t)pid << 32 | tid) * UINT64_C(0x9e3779b97f4a7c15) ^ thread;

	h *= UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> 32);
}

static void place_thread(struct ptx_ledger *ledger, size_t index)
{
	const struct ptx_ledger_thread *entry = &ledger->thread[index];
	size_t at = hash(entry->pid, entry->tid, entry->thread);

	while (ledger->place[at & (ledger->places - 1)])
		at++;
	ledger->place[at & (ledger->places - 1)] = (uint32_t)index + 1;
}

/* Keeps the table at most half full; without memory there is none, and looking is slow. */
static void make_places(struct ptx_ledger *ledger)
{
	int saved_errno = errno;

	if (ledger->threads < FEW_ENOUGH || 2 * ledger->threads < ledger->places)
		return;
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

static struct ptx_ledger_line *append(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
				      uint64_t thread)
{
	struct ptx_ledger_thread *new = &ledger->thread[ledger->threads++];

	memset(new, 0, sizeof(*new));
	new->pid = pid;
	new->tid = tid;
	new->thread = thread;
	if (ledger->place)
		place_thread(ledger, ledger->threads - 1);
	make_places(ledger);
	return &new->line;
}

static bool is_thread(const struct ptx_ledger_thread *entry, uint32_t pid, uint32_t tid,
		      uint64_t thread)
{
	return entry->pid == pid && entry->tid == tid && entry->thread == thread;
}

static struct ptx_ledger_thread *find(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
				      uint64_t thread)
{
	if (ledger->place) {
		size_t at = hash(pid, tid, thread);
		uint32_t index;

		while ((index = ledger->place[at++ & (ledger->places - 1)]) != 0)
			if (is_thread(&ledger->thread[index - 1], pid, tid, thread))
				return &ledger->thread[index - 1];
		return NULL;
	}
	/* Backwards: the threads that are active now came last. */
	for (size_t i = ledger->threads; i-- > 0;)
		if (is_thread(&ledger->thread[i], pid, tid, thread))
			return &ledger->thread[i];
	return NULL;
}

struct ptx_ledger_line *ptx_ledger_thread(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
					  uint64_t thread)
{
	struct ptx_ledger_thread *entry, *nobody;

	if (!pid)
		tid = 0, thread = 0;
	entry = find(ledger, pid, tid, thread);
	if (entry)
		return &entry->line;
	if (!pid) /* its place was kept free below */
		return append(ledger, 0, 0, 0);
	nobody = find(ledger, 0, 0, 0);
	/* Room for nobody is kept as long as it has no entry: it must be there in need. */
	if (make_room(ledger, nobody ? 1 : 2))
		return append(ledger, pid, tid, thread);
	return nobody ? &nobody->line : append(ledger, 0, 0, 0);
}

int ptx_ledger_copy(struct ptx_ledger *to, const struct ptx_ledger *from)
{
	/* Also the room for nobody. */
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
	free(to->place);
	to->place = NULL;
	to->places = 0;
	make_places(to);
	return 0;
}

void ptx_ledger_export(const struct ptx_ledger_line *from, struct posix_trace_ledger_np *to)
{
	_Static_assert((int)PTX_LOST_CAUSES <= POSIX_TRACE_LOST_MAX_NP, "room for each cause");
	memset(to, 0, sizeof(*to));
	to->called = from->called;
	to->reported = from->reported;
	to->unread = from->unread;
	memcpy(to->lost, from->lost, sizeof(from->lost));
}

uint64_t ptx_ledger_sum(const struct ptx_ledger_line *line)
{
	uint64_t sum = line->reported + line->unread;

	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		sum += line->lost[cause];
	return sum;
}

/*
 * A few lines have nearly all losses. Where it is otherwise, which what was read can make so, the
 * rest is taken off in order, so that the time does not grow with the square of the lines.
 */
#define MOST_LOOKS 16

static struct ptx_ledger_line *line_at(struct ptx_ledger_line *first, size_t stride, size_t index)
{
	return (struct ptx_ledger_line *)(void *)((char *)first + index * stride);
}

static struct ptx_ledger_line *largest(struct ptx_ledger_line *first, size_t stride, size_t count,
				       enum ptx_lost cause)
{
	struct ptx_ledger_line *found = first;

	for (size_t i = 1; i < count; i++)
		if (line_at(first, stride, i)->lost[cause] > found->lost[cause])
			found = line_at(first, stride, i);
	return found;
}

void ptx_ledger_take_off(struct ptx_ledger_line *first, size_t stride, size_t count,
			 enum ptx_lost cause, uint64_t more)
{
	for (size_t i = 0; more && count && i < MOST_LOOKS + count; i++) {
		struct ptx_ledger_line *line = i < MOST_LOOKS ?
						       largest(first, stride, count, cause) :
						       line_at(first, stride, i - MOST_LOOKS);
		uint64_t less = line->lost[cause] < more ? line->lost[cause] : more;

		line->lost[cause] -= less;
		more -= less;
	}
}

void ptx_ledger_init(struct ptx_ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->thread = ledger->few;
	ledger->room = sizeof(ledger->few) / sizeof(ledger->few[0]);
}

void ptx_ledger_fini(struct ptx_ledger *ledger)
{
	if (ledger->thread != ledger->few)
		free(ledger->thread);
	free(ledger->place);
	ptx_ledger_init(ledger);
}
