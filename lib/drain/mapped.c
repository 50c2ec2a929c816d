/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain/mapped.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "drain/mapped_set.h"

#define PATIENCE_NS   250000000
#define PROCESSES_MAX 4096u

struct process {
	uint32_t pid;
	uint64_t parent;     /* as the members' table has them */
	int64_t since_ns;
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
	struct process *process;
	size_t processes;
	char executable[PTX_MAPPING_PATH_BYTES];

	pthread_mutex_t lock; /* of what follows; held for moments */
	struct ptx_mappings noted;
	bool is_lost;         /* there was no memory for something that was seen then: */
	int64_t lost_ns;
};

void ptx_mapped_set_fini(struct ptx_mapped_set *set)
{
	free(set->range);
	free(set->text);
	set->range = NULL;
	set->text = NULL;
	set->count = 0;
}

static bool is_twin(const struct ptx_mapped_range *a, const struct ptx_mapped_range *b)
{
	const struct ptx_mapping *x = &a->mapping, *y = &b->mapping;

	return x->start == y->start && x->end == y->end && x->offset == y->offset &&
	       a->device == b->device && a->inode == b->inode && !strcmp(x->path, y->path);
}

const struct ptx_mapped_range *ptx_mapped_twin(const struct ptx_mapped_set *set,
					       const struct ptx_mapped_range *range)
{
	for (size_t i = 0; i < set->count; i++)
		if (is_twin(&set->range[i], range))
			return &set->range[i];
	return NULL;
}

static bool is_free(const struct ptx_mapped_set *set, const struct ptx_mapping *mapping)
{
	for (size_t i = 0; i < set->count; i++)
		if (mapping->start < set->range[i].mapping.end &&
		    set->range[i].mapping.start < mapping->end)
			return false;
	return true;
}

static void note(struct ptx_mapped *mapped, const struct ptx_mapping *mapping)
{
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

/*
 * The linker puts what it loads at the end of its list. What stands there may have come since the old
 * look, even if it was in the same place then: it may have gone and come again. Not so what stands before
 * something that stays.
 */
static bool may_be_new(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set,
		       const struct ptx_mapped_range *range)
{
	return range->object > set->pinned &&
	       set->adds - old->adds >= set->objects - range->object;
}

/* Of two looks, the new one's range that was there in the old one, and the other way. */
static const struct ptx_mapped_range *stayed(const struct ptx_mapped_set *old,
					     const struct ptx_mapped_set *set,
					     const struct ptx_mapped_range *range)
{
	if (set->adds && may_be_new(old, set, range))
		return NULL;
	return ptx_mapped_twin(old, range);
}

static bool stays(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set,
		  const struct ptx_mapped_range *range)
{
	const struct ptx_mapped_range *twin = ptx_mapped_twin(set, range);

	return twin && !(set->adds && may_be_new(old, set, twin));
}

/* Nothing came and went between the looks but what they show: of this process that can be told. */
static bool is_exact(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set)
{
	uint64_t came = 0, went = 0;

	if (!set->adds)
		return false;
	for (size_t i = 0; i < set->count; i++)
		came += set->range[i].heads && !ptx_mapped_twin(old, &set->range[i]);
	for (size_t i = 0; i < old->count; i++)
		went += old->range[i].heads && !ptx_mapped_twin(set, &old->range[i]);
	return set->adds - old->adds == came && set->subs - old->subs == went;
}

/* Never before it came: a file that was seen once was there for a moment. */
static void note_gone(struct ptx_mapped *mapped, const struct ptx_mapping *mapping, int64_t when_ns)
{
	struct ptx_mapping gone = *mapping;

	gone.kind = PTX_MAPPING_GONE;
	gone.path = NULL;
	gone.from_ns = when_ns > mapping->from_ns ? when_ns : mapping->from_ns + 1;
	note(mapped, &gone);
}

static void compare(struct ptx_mapped *mapped, const struct ptx_mapped_set *old,
		    struct ptx_mapped_set *set)
{
	bool exact = is_exact(old, set);

	for (size_t i = 0; i < old->count; i++) {
		const struct ptx_mapping *gone = &old->range[i].mapping;

		if (!stays(old, set, &old->range[i]))
			note_gone(mapped, gone, exact && is_free(set, gone) ? set->before_ns :
									       old->before_ns);
	}
	for (size_t i = 0; i < set->count; i++) {
		const struct ptx_mapped_range *twin = stayed(old, set, &set->range[i]);
		struct ptx_mapping *came = &set->range[i].mapping;

		if (twin) {
			came->from_ns = twin->mapping.from_ns;
			continue;
		}
		came->from_ns = exact && is_free(old, came) ? old->before_ns : set->after_ns;
		note(mapped, came);
	}
}

/* All that a process has: there since it runs this program, if that is known. */
static void note_first(struct ptx_mapped *mapped, const struct process *process,
		       struct ptx_mapped_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		struct ptx_mapping *came = &set->range[i].mapping;

		came->from_ns = !process->parent && process->since_ns ? process->since_ns :
									set->after_ns;
		note(mapped, came);
	}
}

static void look_at(struct ptx_mapped *mapped, struct process *process)
{
	const struct ptx_mapped_set *old = process->is_seen ? &process->set : NULL;
	struct ptx_mapped_set set = { .count = 0 };
	enum ptx_mapped_found found = PTX_MAPPED_NOTHING;
	int64_t now = ptx_clock_realtime();

	if (process->is_hopeless)
		return;
	if (process->pid == (uint32_t)getpid())
		found = ptx_mapped_self(old, mapped->executable, &set);
	else if (mapped->same_ids)
		found = ptx_mapped_other(old, mapped->arena, process->pid, &set);
	switch (found) {
	case PTX_MAPPED_NOTHING:
		break;
	case PTX_MAPPED_SAME:
		process->set.before_ns = now;
		break;
	case PTX_MAPPED_NEW:
		if (old)
			compare(mapped, old, &set);
		else
			note_first(mapped, process, &set);
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
	uint64_t bits = atomic_load_explicit(&member->bits, memory_order_acquire);
	uint64_t pid = atomic_load_explicit(&member->pid, memory_order_acquire);
	uint64_t parent = atomic_load_explicit(&member->parent, memory_order_acquire);
	int64_t since_ns = atomic_load_explicit(&member->since_ns, memory_order_acquire);
	struct ptx_mapping child = { .kind = PTX_MAPPING_CHILD, .from_ns = since_ns };
	struct process *process;

	if (pid == 0 || pid > INT32_MAX || parent > INT32_MAX || since_ns <= 0 ||
	    !(bits >> mapped->bit & 1) || pid == (uint64_t)getpid())
		return;
	process = know(mapped, (uint32_t)pid);
	if (!process || (process->since_ns == since_ns && process->parent == parent))
		return;
	if (process->since_ns)
		note_all_gone(mapped, (uint32_t)pid, since_ns);
	ptx_mapped_set_fini(&process->set);
	process->is_seen = process->is_hopeless = false;
	process->parent = parent;
	process->since_ns = since_ns;
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
	for (size_t i = 0; i < mapped->processes; i++)
		if (mapped->process[i].pid != (uint32_t)getpid())
			look_at(mapped, &mapped->process[i]);
}

void ptx_mapped_look(struct ptx_mapped *mapped, bool patient)
{
	int saved = errno;

	if (!mapped || pthread_mutex_trylock(&mapped->looking) != 0)
		return;
	if (mapped->target == (uint32_t)getpid())
		look_at(mapped, &mapped->process[0]);
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
	if (!know(mapped, pid)) {
		free(mapped);
		return NULL;
	}
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
