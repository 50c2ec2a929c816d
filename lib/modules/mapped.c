/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modules/mapped.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "modules/mapped_set.h"

#define PATIENCE_NS   250000000
#define PROCESSES_MAX 4096u

struct process {
	uint32_t pid;
	uint64_t parent;     /* as the members' table has them */
	int64_t since_ns;
	int64_t told_ns;     /* its last words; 0: it has said nothing */
	bool is_member;      /* or the target; of others only what they tell is known */
	bool is_seen;
	bool is_hopeless;
	struct ptx_mapped_set set;
};

struct ptx_mapped {
	const struct ptx_arena *arena;
	unsigned bit;
	uint32_t target;     /* 0: a process that cannot be looked at */
	bool same_ids;
	pthread_mutex_t looking;
	int64_t looked_ns;   /* at others */
	int64_t ended_ns;    /* the arena's list of notes; 0: not yet */
	unsigned heard;      /* notes of the arena's, all before that one */
	uint64_t was_heard[PTX_MAPS_NOTES / 64];
	struct process *process;
	size_t processes;
	char executable[PTX_MAPPING_PATH_BYTES];

	pthread_mutex_t lock; /* of what follows; held for moments */
	struct ptx_mappings noted;
	bool is_lost;         /* there was no memory for something that was seen then: */
	int64_t lost_ns;
};

static void note(void *to, const struct ptx_mapping *mapping)
{
	struct ptx_mapped *mapped = to;

	pthread_mutex_lock(&mapped->lock);
	if (!mapped->is_lost && ptx_mappings_add(&mapped->noted, mapping)) {
		mapped->is_lost = true;
		mapped->lost_ns = mapping->from_ns;
	}
	pthread_mutex_unlock(&mapped->lock);
}

static void note_all_gone(struct ptx_mapped *mapped, uint32_t pid, int64_t when_ns)
{
	struct ptx_mapping gone = { .kind = PTX_MAPPING_GONE, .pid = pid, .end = UINT64_MAX,
				    .from_ns = when_ns };

	note(mapped, &gone);
}

static void look_at(struct ptx_mapped *mapped, struct process *process)
{
	const struct ptx_mapped_set *old = process->is_seen ? &process->set : NULL;
	struct ptx_mapped_set set = { .count = 0 };
	enum ptx_mapped_found found = PTX_MAPPED_NOTHING;
	const struct ptx_mapped_notes notes = { note, mapped };
	int64_t now = ptx_clock_realtime();

	if (process->is_hopeless)
		return;
	if (process->pid == (uint32_t)getpid() && !ptx_mapped_linker_may_hang())
		found = ptx_mapped_self(old, mapped->executable, &set);
	else if (mapped->same_ids || process->pid == (uint32_t)getpid())
		found = ptx_mapped_other(old, mapped->arena, process->pid, &set);
	switch (found) {
	case PTX_MAPPED_NOTHING:
		break;
	case PTX_MAPPED_SAME:
		process->set.before_ns = now;
		break;
	case PTX_MAPPED_NEW:
		if (old)
			ptx_mapped_compare(&notes, old, &set);
		else
			ptx_mapped_first(&notes, &set,
					 process->parent || process->told_ns ? 0
									     : process->since_ns);
		ptx_mapped_set_fini(&process->set);
		process->set = set;
		process->is_seen = true;
		break;
	case PTX_MAPPED_TOO_MUCH:
		note_all_gone(mapped, process->pid, old ? old->before_ns : ptx_clock_realtime());
		process->is_hopeless = true;
		break;
	}
}

static struct process *know(struct ptx_mapped *mapped, uint32_t pid)
{
	struct process *more;

	for (size_t i = 0; i < mapped->processes; i++)
		if (mapped->process[i].pid == pid)
			return &mapped->process[i];
	if (mapped->processes == PROCESSES_MAX)
		return NULL;
	more = realloc(mapped->process, (mapped->processes + 1) * sizeof *more);
	if (!more)
		return NULL;
	mapped->process = more;
	more += mapped->processes++;
	memset(more, 0, sizeof *more);
	more->pid = pid;
	return more;
}

/* A child has what its parent had; what it had as that is gone when it executes another program. */
static void take_member(struct ptx_mapped *mapped, const struct ptx_member *member)
{
	uint64_t pid = atomic_load_explicit(&member->pid, memory_order_acquire);
	uint64_t bits = atomic_load_explicit(&member->bits, memory_order_acquire);
	uint64_t parent = atomic_load_explicit(&member->parent, memory_order_acquire);
	int64_t since_ns = atomic_load_explicit(&member->since_ns, memory_order_acquire);
	struct ptx_mapping child = { .kind = PTX_MAPPING_CHILD, .from_ns = since_ns };
	struct process *process;

	/* The place is another's by now, or was while we read it. */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&member->pid, memory_order_relaxed) != pid)
		return;
	if (pid == 0 || pid > INT32_MAX || parent > INT32_MAX || since_ns <= 0 ||
	    !(bits >> mapped->bit & 1) || pid == (uint64_t)getpid())
		return;
	process = know(mapped, (uint32_t)pid);
	if (process)
		process->is_member = true;
	if (!process || (process->since_ns == since_ns && process->parent == parent))
		return;
	if (process->since_ns)
		note_all_gone(mapped, (uint32_t)pid, since_ns);
	ptx_mapped_set_fini(&process->set);
	process->is_seen = process->is_hopeless = false;
	process->parent = parent;
	process->since_ns = since_ns;
	process->told_ns = 0;
	child.pid = (uint32_t)pid;
	child.parent = (uint32_t)parent;
	if (parent)
		note(mapped, &child);
}

/* What a target had before it executed another program is gone. */
static void take_target(struct ptx_mapped *mapped)
{
	const struct ptx_attachment *attachment = &mapped->arena->control->attachment[mapped->bit];
	int64_t since_ns = atomic_load_explicit(&attachment->executed_ns, memory_order_acquire);
	struct process *target = &mapped->process[0];

	if (since_ns <= 0 || since_ns == target->since_ns || target->pid == (uint32_t)getpid())
		return;
	note_all_gone(mapped, target->pid, since_ns);
	ptx_mapped_set_fini(&target->set);
	target->is_seen = target->is_hopeless = false;
	target->since_ns = since_ns;
	target->told_ns = 0;
}

/* Its words go to the log as they are, and count as seen at their time. */
static void take_told(struct ptx_mapped *mapped, const struct ptx_mapping *told)
{
	struct process *process = know(mapped, told->pid);

	note(mapped, told);
	if (!process)
		return;
	if (told->from_ns > process->told_ns)
		process->told_ns = told->from_ns;
	if (told->kind == PTX_MAPPING_CHILD || (told->start == 0 && told->end == UINT64_MAX)) {
		ptx_mapped_set_fini(&process->set);
		process->is_seen = process->is_hopeless = false;
		process->parent = told->parent;
		process->since_ns = told->from_ns;
	} else if (!ptx_mapped_set_report(&process->set, told)) {
		process->is_seen = true;
	}
}

static bool is_of_stream(const struct ptx_mapped *mapped, uint32_t pid)
{
	const struct ptx_attachment *attachment = &mapped->arena->control->attachment[mapped->bit];

	if (pid == (uint32_t)getpid())
		return false; /* this process knows better */
	return pid == mapped->target ||
	       (pid <= INT32_MAX &&
		atomic_load_explicit(&attachment->inherited, memory_order_relaxed));
}

/* What could not be said any more may be that something went: what was said holds up to then. */
static void stop_believing(struct ptx_mapped *mapped, int64_t ended_ns)
{
	mapped->ended_ns = ended_ns;
	for (size_t i = 0; i < mapped->processes; i++) {
		struct process *process = &mapped->process[i];

		if (!process->told_ns)
			continue;
		note_all_gone(mapped, process->pid,
			      ended_ns > process->told_ns ? ended_ns : process->told_ns + 1);
		ptx_mapped_set_fini(&process->set);
		process->is_seen = false;
	}
}

/* A note may be ready later than those behind it, or never. */
static void hear(struct ptx_mapped *mapped)
{
	const struct ptx_maps *maps = mapped->arena->lists ? &mapped->arena->lists->maps : NULL;
	unsigned count = maps ? ptx_maps_count(maps) : 0;
	char path[PTX_MAPPING_PATH_BYTES];
	struct ptx_mapping told;

	for (unsigned i = mapped->heard; i < count; i++) {
		uint64_t *heard = &mapped->was_heard[i / 64], bit = UINT64_C(1) << i % 64;

		if (!(*heard & bit) && ptx_maps_get(maps, i, &told, path)) {
			*heard |= bit;
			if (is_of_stream(mapped, told.pid))
				take_told(mapped, &told);
		}
		if (*heard & bit && i == mapped->heard)
			mapped->heard++;
	}
	if (maps && ptx_maps_ended(maps) != mapped->ended_ns)
		stop_believing(mapped, ptx_maps_ended(maps));
}

static void look_at_others(struct ptx_mapped *mapped, bool patient)
{
	const struct ptx_control *control = mapped->arena->control;
	int64_t now = ptx_clock_realtime();

	if (patient && now >= mapped->looked_ns && now - mapped->looked_ns < PATIENCE_NS)
		return;
	mapped->looked_ns = now;
	take_target(mapped);
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		take_member(mapped, &control->member[i]);
	hear(mapped);
	for (size_t i = 0; i < mapped->processes; i++)
		if (mapped->process[i].is_member && mapped->process[i].pid != (uint32_t)getpid())
			look_at(mapped, &mapped->process[i]);
}

/* The target, or who traces it: some events are its own. */
static void look_at_self(struct ptx_mapped *mapped)
{
	if (mapped->target != (uint32_t)getpid() && !mapped->same_ids)
		return;
	for (size_t i = 0; i < mapped->processes; i++)
		if (mapped->process[i].pid == (uint32_t)getpid())
			look_at(mapped, &mapped->process[i]);
}

void ptx_mapped_look(struct ptx_mapped *mapped, bool patient)
{
	int saved = errno;

	if (!mapped || pthread_mutex_trylock(&mapped->looking) != 0)
		return;
	look_at_self(mapped);
	look_at_others(mapped, patient);
	pthread_mutex_unlock(&mapped->looking);
	errno = saved;
}

void ptx_mapped_give(struct ptx_mapped *mapped, struct ptx_log *log)
{
	struct ptx_mapping end = { .kind = PTX_MAPPING_GONE, .end = UINT64_MAX };

	if (!mapped)
		return;
	pthread_mutex_lock(&mapped->lock);
	for (size_t i = 0; i < mapped->noted.count; i++)
		ptx_log_mapping(log, &mapped->noted.mapping[i]);
	if (mapped->is_lost) {
		end.from_ns = mapped->lost_ns;
		ptx_log_mapping(log, &end);
	}
	ptx_mappings_fini(&mapped->noted);
	pthread_mutex_unlock(&mapped->lock);
}

struct ptx_mapped *ptx_mapped_create(const struct ptx_arena *arena, unsigned bit, uint32_t pid,
				     bool same_ids)
{
	struct ptx_mapped *mapped = calloc(1, sizeof *mapped);
	ssize_t len;

	if (!mapped)
		return NULL;
	mapped->arena = arena;
	mapped->bit = bit;
	mapped->target = pid;
	mapped->same_ids = same_ids;
	len = readlink("/proc/self/exe", mapped->executable, sizeof mapped->executable - 1);
	if (len <= 0)
		strcpy(mapped->executable, "[program]");
	if (!know(mapped, pid) || !know(mapped, (uint32_t)getpid())) {
		free(mapped->process);
		free(mapped);
		return NULL;
	}
	mapped->process[0].is_member = true;
	pthread_mutex_init(&mapped->looking, NULL);
	pthread_mutex_init(&mapped->lock, NULL);
	return mapped;
}

void ptx_mapped_destroy(struct ptx_mapped *mapped)
{
	if (!mapped)
		return;
	for (size_t i = 0; i < mapped->processes; i++)
		ptx_mapped_set_fini(&mapped->process[i].set);
	free(mapped->process);
	ptx_mappings_fini(&mapped->noted);
	pthread_mutex_destroy(&mapped->looking);
	pthread_mutex_destroy(&mapped->lock);
	free(mapped);
}
