/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * life.c - counts the successive processes that had the same number.
 *
 * After the end of a process, the next process with its number begins with process.start or
 * process.child, which only a new process records. Other events after the end do not begin a
 * process. They may still belong to the ended process: events of its other threads, and the last
 * switches that the kernel records.
 */
#include "spans/life.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pidset.h"
#include "base/vec.h"
#include "log/field.h"

#define LIVES_MOST 65536 /* a limit for hostile logs */

struct life {
	uint32_t earlier;
	bool is_over;
};

struct lives {
	struct pidset pids; /* of the processes that have ended */
	struct life *life;  /* an element for each of them */
	size_t count;
};

static struct life *find_life(const struct lives *lives, pid_t pid)
{
	const uint32_t index = pidset_find(&lives->pids, pid);

	return index < lives->count ? &lives->life[index] : NULL;
}

/* Notes that a process has ended. Returns false if memory is lacking. */
static bool end_life(struct pairing *pairing, pid_t pid)
{
	struct lives *lives = pairing->lives;
	uint32_t index;

	if (!lives)
		lives = pairing->lives = calloc(1, sizeof(*lives));
	if (!lives)
		return false;
	if (lives->count == LIVES_MOST && !find_life(lives, pid))
		return true;
	index = pidset_index(&lives->pids, pid);
	if (index == TABLE_NONE || !vec_reach(&lives->life, &lives->count, index))
		return false;
	lives->life[index].is_over = true;
	return true;
}

void life_note(struct pairing *pairing, const struct log_type *type,
	       const struct posix_trace_event_np *event)
{
	static const char *const ends[] = { "process.end", "process.exit", "posixtrace_ended" };
	struct life *life;
	int64_t pid;

	if (*type->name != 'p')
		return;
	if (!strcmp(type->name, "process.start") || !strcmp(type->name, "process.child")) {
		life = pairing->lives ? find_life(pairing->lives, event->info.posix_pid) : NULL;
		if (life && life->is_over) {
			life->is_over = false;
			life->earlier++;
		}
		return;
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (strcmp(type->name, ends[i]) != 0)
			continue;
		/*
		 * The recorder or the parent may have recorded the event, so the field names the
		 * process.
		 */
		pid = field_integer(type->schema, "pid", event, -1);
		if (pid >= 0)
			pairing->err = end_life(pairing, (pid_t)pid) ? 0 : ENOMEM;
	}
}

uint32_t life_of(const struct pairing *pairing, pid_t pid)
{
	const struct life *life = pairing->lives ? find_life(pairing->lives, pid) : NULL;

	return life ? life->earlier : 0;
}

void life_fini(struct pairing *pairing)
{
	if (!pairing->lives)
		return;
	free(pairing->lives->life);
	pidset_fini(&pairing->lives->pids);
	free(pairing->lives);
	pairing->lives = NULL;
}
