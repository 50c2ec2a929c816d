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

#include "base/table.h"
#include "base/vec.h"
#include "log/field.h"

#define LIVES_MOST 65536 /* a limit for hostile logs */

struct life {
	pid_t pid;
	uint32_t earlier;
	bool is_over;
};

struct lives {
	struct life *life;
	size_t count;
	struct table of_pid;
};

static bool is_process(const void *array, uint32_t index, const void *key)
{
	return ((const struct life *)array)[index].pid == *(const pid_t *)key;
}

static uint64_t hash_of(pid_t pid)
{
	return hash_number(HASH_BEGIN, (uint64_t)(unsigned)pid);
}

static struct life *find_life(const struct lives *lives, pid_t pid)
{
	const uint32_t index = table_find(&lives->of_pid, hash_of(pid), is_process, lives->life,
					  &pid);

	return index == TABLE_NONE ? NULL : &lives->life[index];
}

/* Notes that a process has ended. Returns false if memory is lacking. */
static bool end_life(struct pairing *pairing, pid_t pid)
{
	struct lives *lives = pairing->lives;
	struct life *life;

	if (!lives)
		lives = pairing->lives = calloc(1, sizeof(*lives));
	if (!lives)
		return false;
	life = find_life(lives, pid);
	if (life)
		life->is_over = true;
	if (life || lives->count == LIVES_MOST)
		return true;
	if (!vec_grow(&lives->life, lives->count, 1) ||
	    !table_add(&lives->of_pid, hash_of(pid), (uint32_t)lives->count))
		return false;
	lives->life[lives->count++] = (struct life){ .pid = pid, .is_over = true };
	return true;
}

void life_note(struct pairing *pairing, const struct log_type *type,
	       const struct posix_trace_event_np *event)
{
	static const char *const ends[] = { "process.end", "process.exit", "posixtrace_ended" };
	struct posix_trace_value_np value;
	struct life *life;
	int field;

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
		field = field_index(type->schema, "pid");
		if (field >= 0 &&
		    posix_trace_field_get_np(type->schema, (unsigned)field, 0, event->data,
					     event->data_len, 0, &value))
			pairing->err = end_life(pairing, (pid_t)value.u64) ? 0 : ENOMEM;
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
	table_fini(&pairing->lives->of_pid);
	free(pairing->lives);
	pairing->lives = NULL;
}
