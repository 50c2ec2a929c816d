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

static struct ptx_ledger_line *append(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
				      uint64_t thread)
{
	struct ptx_ledger_thread *new = &ledger->thread[ledger->threads++];

	memset(new, 0, sizeof(*new));
	new->pid = pid;
	new->tid = tid;
	new->thread = thread;
	return &new->line;
}

struct ptx_ledger_line *ptx_ledger_thread(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
					  uint64_t thread)
{
	struct ptx_ledger_thread *nobody = NULL;

	/* Backwards: the threads that are active now came last. */
	for (size_t i = ledger->threads; i-- > 0;) {
		struct ptx_ledger_thread *entry = &ledger->thread[i];

		if (entry->pid == pid && entry->tid == tid && entry->thread == thread)
			return &entry->line;
		if (!entry->pid && !entry->tid && !entry->thread)
			nobody = entry;
	}
	if (!pid) {
		if (nobody)
			return &nobody->line;
		/* Its place was kept free below. */
		return append(ledger, 0, 0, 0);
	}
	/* Room for nobody is kept as long as it has no entry: it must be there in need. */
	if (make_room(ledger, nobody ? 1 : 2))
		return append(ledger, pid, tid, thread);
	return nobody ? &nobody->line : append(ledger, 0, 0, 0);
}

uint64_t ptx_ledger_sum(const struct ptx_ledger_line *line)
{
	uint64_t sum = line->reported + line->unread;

	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		sum += line->lost[cause];
	return sum;
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
	ptx_ledger_init(ledger);
}
