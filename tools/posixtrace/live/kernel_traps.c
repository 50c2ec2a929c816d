/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_traps.c - records functions by uprobes: attaches the places, matches begins and ends, and
 * keeps the calls as data of events.
 *
 * The processes have no memory that the library shares with this one. So it is this process that
 * notes where their files are mapped: a record has the address of the place in the process.
 */
#include "live/kernel_traps.h"

#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "live/kernel_part.h"

/* The data of func.call, without gaps: its schema is in weave_events.c. */
#define CALL_BYTES 20

static bool is_module(const void *array, uint32_t index, const void *key)
{
	const struct kernel_module *module = (const struct kernel_module *)array + index;
	const struct kernel_module *wanted = key;

	return module->pid == wanted->pid && module->file == wanted->file &&
	       module->bias == wanted->bias;
}

/* Notes where the file of a place is mapped in the process. Without memory, names are missing. */
static void note_module(struct kernel *kernel, const struct syscalls_record *record)
{
	const struct trap *trap = &kernel->plan.traps->trap[record->number];
	struct kernel_traps *traps = kernel->traps;
	struct kernel_module module = {
		.pid = (pid_t)record->pid, .file = trap->file,
		.bias = UPROBES_ADDRESS(record) - trap->address,
		.from_ns = (int64_t)record->time_ns + kernel->now.realtime_ns -
			   kernel->now.monotonic_ns,
	};
	const uint64_t hash = hash_number(hash_number(hash_number(HASH_BEGIN, record->pid),
						      module.file), module.bias);

	if (table_find(&traps->of_module, hash, is_module, traps->module, &module) != TABLE_NONE ||
	    !vec_grow(&traps->module, traps->modules, 1) ||
	    !table_add(&traps->of_module, hash, (uint32_t)traps->modules))
		return;
	traps->module[traps->modules++] = module;
}

/* Keeps a call that has not ended. */
static void keep_open(struct kernel *kernel, const struct match_call *call)
{
	struct kernel_record record = { .pid = call->pid, .tid = call->tid, .kind = KERNEL_CALL,
					.other = (uint32_t)kernel->calls };

	if (!kernel->traps->wants_opens)
		return;
	if (!vec_grow(&kernel->call, kernel->calls, 1)) {
		kernel->lost_memory++;
		return;
	}
	kernel->call[kernel->calls++] = (struct kernel_call){
		.function = call->function, .depth = call->depth,
		.span_ns = call->end_ns - call->begin_ns,
	};
	kernel_add_monotonic(kernel, record, call->end_ns);
}

/* The callback of match.h. The address of the event is that to which the call returns. */
static void take_call(void *arg, const struct match_call *call)
{
	struct kernel *kernel = arg;
	const uint64_t span_ns = call->end_ns - call->begin_ns;
	struct kernel_event event = { .type = KERNEL_TYPE_TRAP, .address = call->caller,
				      .bytes = CALL_BYTES };
	const struct kernel_record record = { .pid = call->pid, .tid = call->tid };
	unsigned char data[CALL_BYTES];

	if (call->is_open) {
		keep_open(kernel, call);
		return;
	}
	if (!kernel->traps->wants_calls)
		return;
	memcpy(data, &span_ns, 8);
	memcpy(data + 8, &call->function, 8);
	memcpy(data + 16, &call->depth, 4);
	kernel_add_event(kernel, record, call->end_ns, event, data);
}

static bool is_chosen(const struct kernel_plan *plan, const char *type)
{
	return !plan->choose || choose_type(plan->choose, type);
}

/* Makes the lists of places for the two users. Returns false without memory. */
static bool make_places(struct kernel *kernel, struct uprobes_place **where)
{
	static const uint8_t kinds[] = {
		[TRAP_BEGIN] = MATCH_BEGIN, [TRAP_RETURN] = MATCH_RETURN, [TRAP_JUMP] = MATCH_JUMP,
	};
	const struct traps *from = kernel->plan.traps;

	*where = calloc(from->traps, sizeof(**where));
	kernel->traps->place = calloc(from->traps, sizeof(*kernel->traps->place));
	if (!*where || !kernel->traps->place)
		return false;
	for (size_t i = 0; i < from->traps; i++) {
		const struct trap *trap = &from->trap[i];

		(*where)[i] = (struct uprobes_place){ .file = trap->file, .offset = trap->offset,
						      .is_go = trap->is_go };
		kernel->traps->place[i] = (struct match_place){
			.kind = kinds[trap->kind], .condition = trap->condition,
			.is_go = trap->is_go, .address = trap->address,
			.function = trap->function, .target = trap->target,
		};
	}
	return true;
}

/* Says that the kernel has refused some of the places. */
static void say_refusals(const struct uprobes *uprobes)
{
	if (uprobes->refusals)
		say("the kernel refuses %zu breakpoint%s: %s; calls of their functions may be "
		    "missing, or seem to go on", uprobes->refusals,
		    uprobes->refusals == 1 ? "" : "s", uprobes->refused);
}

int kernel_traps_begin(struct kernel *kernel)
{
	const struct traps *from = kernel->plan.traps;
	struct uprobes_place *where = NULL;
	const char **path = calloc(from->files + 1, sizeof(*path));
	const char *why = "out of memory";

	kernel->traps = calloc(1, sizeof(*kernel->traps));
	if (kernel->traps && path && make_places(kernel, &where)) {
		for (size_t i = 0; i < from->files; i++)
			path[i] = from->file[i].path;
		kernel->traps->wants_calls = is_chosen(&kernel->plan, "func.call");
		kernel->traps->wants_opens = is_chosen(&kernel->plan, "func.open");
		match_begin(&kernel->traps->match, kernel->traps->place, from->traps, take_call,
			    kernel);
		why = uprobes_begin(&kernel->traps->uprobes, kernel->syscalls, path, where,
				    from->traps);
		say_refusals(&kernel->traps->uprobes);
	}
	free(where);
	free(path);
	if (!why)
		return TOOL_OK;
	say("the kernel does not record functions: %s", why);
	return TOOL_FAILURE;
}

void kernel_traps_take(struct kernel *kernel, const struct syscalls_record *record)
{
	if (record->kind == SYSCALLS_TRAP && record->number < kernel->plan.traps->traps)
		note_module(kernel, record);
	match_record(&kernel->traps->match, record);
}

void kernel_traps_stop(struct kernel *kernel)
{
	uprobes_end(&kernel->traps->uprobes);
}

void kernel_traps_complete(struct kernel *kernel)
{
	if (!kernel->traps)
		return;
	kernel->lost_memory += kernel->traps->match.lost;
	match_end(&kernel->traps->match, (uint64_t)kernel->now.monotonic_ns);
}

void kernel_traps_fini(struct kernel *kernel)
{
	uprobes_end(&kernel->traps->uprobes);
	/* After kernel_traps_complete() nothing is left. */
	if (kernel->traps->match.take)
		match_end(&kernel->traps->match, (uint64_t)kernel->now.monotonic_ns);
	free(kernel->traps->place);
	free(kernel->traps->module);
	table_fini(&kernel->traps->of_module);
	free(kernel->traps);
	kernel->traps = NULL;
}
