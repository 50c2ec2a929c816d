/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave_jit.c - adds the functions that a program compiled while it ran, so that readers find the
 * names of their addresses.
 *
 * A program may have compiled some ten thousand functions. The log gets only the functions that
 * occur in stacks, or that called a function that was recorded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "live/jit_dump.h"
#include "live/jit_map.h"
#include "live/weave.h"
#include "log/jit.h"
#include "log/stacks.h"

/*
 * A log has at most 16384 mappings, with at most 4 MiB of paths. If a log reaches a limit, readers
 * know no later mapping. So the functions use at most half of each limit.
 */
#define FUNCTIONS_MAX 8000
#define NAMES_MAX     (2u << 20)

/* An event in the log may follow events that are later by less than this time. */
#define EARLY_NS 10000000

/* An address, or the number of a stack, that was examined for a process. */
struct seen {
	pid_t pid;
	uint64_t what;
};

struct weave_jit {
	struct jit_maps *maps;
	struct seen *seen;
	size_t count;
	struct table table;
	size_t functions, bytes; /* that were added */
};

int weave_jit_begin(struct weave *weave)
{
	const struct kernel *kernel = weave->kernel;

	weave->jit = calloc(1, sizeof(*weave->jit));
	if (weave->jit)
		weave->jit->maps = jit_maps_begin(&kernel->jit_place);
	if (!weave->jit || !weave->jit->maps)
		return ENOMEM;
	for (size_t i = 0; i < weave->mappings; i++)
		if (jit_dump_is_path(weave->mapping[i].path))
			jit_maps_add_dump(weave->jit->maps, weave->mapping[i].pid,
					  weave->mapping[i].path);
	for (size_t i = 0; i < weave->notes.maps; i++)
		if (jit_dump_is_path(weave->notes.map[i].path))
			jit_maps_add_dump(weave->jit->maps, weave->notes.map[i].pid,
					  weave->notes.map[i].path);
	return 0;
}

void weave_jit_end(struct weave *weave)
{
	if (!weave->jit)
		return;
	jit_maps_end(weave->jit->maps);
	free(weave->jit->seen);
	table_fini(&weave->jit->table);
	free(weave->jit);
}

static bool is_same(const void *array, uint32_t index, const void *key)
{
	const struct seen *seen = (const struct seen *)array + index, *wanted = key;

	return seen->what == wanted->what && seen->pid == wanted->pid;
}

/* Returns whether the address or stack was examined before, and notes that it is examined. */
static bool was_seen(struct weave_jit *jit, pid_t pid, uint64_t what)
{
	struct seen wanted = { pid, what };
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, what), (uint64_t)(unsigned)pid);

	if (table_find(&jit->table, hash, is_same, jit->seen, &wanted) != TABLE_NONE)
		return true;
	/* If memory is lacking, the address or stack is examined again each time. */
	if (jit->count < TABLE_NONE - 1 && vec_grow(&jit->seen, jit->count, 1) &&
	    table_add(&jit->table, hash, (uint32_t)jit->count))
		jit->seen[jit->count++] = wanted;
	return false;
}

/* Adds a function, unless a limit is reached. */
static int add_function(struct weave *weave, pid_t pid, struct jit_function *function,
			int64_t time_ns)
{
	struct posix_trace_mapping_np mapping = {
		.pid = pid, .start = function->start, .end = function->end,
		.base = function->start, .from_ns = time_ns - EARLY_NS,
		.until_ns = function->until_ns,
	};
	char path[sizeof(JIT_PREFIX) + JIT_NAME_MAX];
	int len;

	function->is_written = true;
	/* Before function->from_ns, the addresses may have been those of another function. */
	if (function->from_ns != INT64_MIN)
		mapping.from_ns = function->from_ns < time_ns ? function->from_ns : time_ns;
	len = snprintf(path, sizeof(path), JIT_PREFIX "%s", function->name);
	if (weave->jit->functions == FUNCTIONS_MAX || (size_t)len >= NAMES_MAX - weave->jit->bytes)
		return 0;
	mapping.path = path;
	weave->jit->functions++;
	weave->jit->bytes += (size_t)len + 1;
	return weave_compose_mapping(weave, &mapping);
}

int weave_jit_address(struct weave *weave, pid_t pid, uint64_t address, int64_t time_ns,
		      bool is_exact)
{
	struct posix_trace_mapping_np mapping;
	struct jit_function *function;
	bool has_times;

	if (!address || stacks_is_kernel(address) ||
	    !jit_maps_has(weave->jit->maps, pid, &has_times))
		return 0;
	/* A return address may be the first address behind its function. */
	address -= !is_exact;
	/* If the map has times, the address may be in another function than before. */
	if (!has_times && was_seen(weave->jit, pid, address))
		return 0;
	function = jit_maps_find(weave->jit->maps, pid, address, time_ns);
	if (!function || function->is_written ||
	    !posix_trace_mapping_find_np(weave->from, pid, address, time_ns, &mapping))
		return 0;
	return add_function(weave, pid, function, time_ns);
}

int weave_jit_stack(struct weave *weave, uint32_t number, pid_t pid, int64_t time_ns)
{
	const struct stack_store *stacks = &weave->period->stacks;
	bool has_times;
	int err = 0;

	if (number >= stacks->stacks || !jit_maps_has(weave->jit->maps, pid, &has_times) ||
	    (!has_times && was_seen(weave->jit, pid, STACKS_KERNEL | number)))
		return 0;
	/*
	 * In a sample, the first address is the address of an instruction. In the stack of an
	 * event, it is a return address. So the loop examines the first address in both ways.
	 */
	for (uint32_t i = 0; !err && i < stacks->stack[number].count; i++) {
		uint64_t address = stacks->frame[stacks->stack[number].first + i];

		err = weave_jit_address(weave, pid, address, time_ns, false);
		if (!err && !i)
			err = weave_jit_address(weave, pid, address, time_ns, true);
	}
	return err;
}
