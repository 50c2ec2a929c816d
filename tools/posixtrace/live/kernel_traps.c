/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_traps.c - records functions by uprobes. Attaches breakpoints at the places, matches begins
 * and ends of calls, and keeps the calls as data of events.
 *
 * A traced process may lack the library, which would note where files are mapped. So the recorder
 * computes the mappings from the records: each record has the address of the place in the process.
 */
#include "live/kernel_traps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "live/kernel_part.h"

/* The data of an event func.call, without gaps. Its schema is in weave_events.c. */
#define CALL_BYTES 20

static bool is_module(const void *array, uint32_t index, const void *key)
{
	const struct kernel_module *module = (const struct kernel_module *)array + index;
	const struct kernel_module *wanted = key;

	return module->pid == wanted->pid && module->file == wanted->file &&
	       module->bias == wanted->bias;
}

/*
 * Notes where the file of a place is mapped in the process. If memory is lacking, the log has no
 * names for the functions of this file.
 */
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
					.other = (uint32_t)kernel->period.calls };

	if (!kernel->traps->wants_opens)
		return;
	if (!vec_grow(&kernel->period.call, kernel->period.calls, 1)) {
		kernel->period.lost_calls++;
		return;
	}
	kernel->period.call[kernel->period.calls++] = (struct kernel_call){
		.function = call->function, .depth = call->depth,
		.span_ns = call->end_ns - call->begin_ns,
	};
	kernel_add_monotonic(kernel, record, call->end_ns);
}

/* ------------------------------------------------------------------ values */

/*
 * Describes a value of a place for the kernel. "texts" is the number of texts that the place has so
 * far.
 */
static struct uprobes_value value_of(const struct shim_plan_argument *from, unsigned texts,
				     unsigned room)
{
	const bool is_text = from->bytes == 0;
	struct uprobes_value value = {
		.how = is_text ? UPROBES_TEXT_AT : UPROBES_KNOWN,
		.base = UPROBES_NONE, .index = UPROBES_NONE, .value = from->value,
		.size = is_text ? (uint16_t)room : from->size,
		.at = is_text ? (uint16_t)(texts * room) : 0,
	};

	switch ((enum shim_plan_place)from->place) {
	case SHIM_PLAN_REGISTER:
		value.base = from->base;
		value.value = 0;
		break;
	case SHIM_PLAN_MEMORY:
	case SHIM_PLAN_OBJECT:
		value.how = is_text ? UPROBES_TEXT_BEHIND : UPROBES_NUMBER;
		value.in_file = from->place == SHIM_PLAN_OBJECT;
		if (value.in_file)
			break;
		value.base = from->base;
		value.index = from->index;
		value.shift = from->shift;
		break;
	case SHIM_PLAN_VECTOR: /* the kernel does not pass these registers */
		value.how = UPROBES_KNOWN;
		break;
	case SHIM_PLAN_CONSTANT:
	case SHIM_PLAN_PLACES:
		break;
	}
	return value;
}

/* Describes all values of a place. Its texts share 511 bytes in equal parts. */
static void make_values(const struct traps *from, const struct trap *trap,
			struct uprobes_values *values)
{
	const struct shim_plan_argument *value = from->value + trap->first;
	unsigned texts = 0, count = 0;

	values->address = trap->address;
	for (uint32_t i = 0; i < trap->values; i++)
		texts += value[i].bytes == 0;
	for (uint32_t i = 0; i < trap->values && i < UPROBES_VALUES; i++) {
		values->value[i] = value_of(&value[i], count, texts ? 511 / texts : 0);
		count += value[i].bytes == 0;
	}
}

/*
 * Returns the number with the size and the sign that it has in the program. The bits of number
 * above this size are undefined, so the function replaces them.
 */
static uint64_t number_with_sign(const struct shim_plan_argument *value, uint64_t number)
{
	const unsigned unused = value->size < 8 ? 64 - 8u * value->size : 0;

	number <<= unused;
	return value->is_signed ? (uint64_t)((int64_t)number >> unused) : number >> unused;
}

/* Returns a number that the kernel has found. */
static uint64_t number_of(const struct shim_plan_argument *value, const struct uprobes_found *found,
			  uint32_t i)
{
	uint64_t number = 0;

	switch ((enum shim_plan_place)value->place) {
	case SHIM_PLAN_CONSTANT:
		number = (uint64_t)value->value;
		break;
	case SHIM_PLAN_REGISTER:
		number = found->reg[value->base & 15] >> value->shift;
		break;
	case SHIM_PLAN_MEMORY:
	case SHIM_PLAN_OBJECT:
		number = found->number[i];
		break;
	case SHIM_PLAN_VECTOR:
	case SHIM_PLAN_PLACES:
		break;
	}
	return number_with_sign(value, number);
}

/* The most bytes that the values of a place have in an event, with the NULs of its texts. */
#define VALUE_BYTES (UPROBES_VALUES * 8 + UPROBES_TEXT_BYTES)

/* Stores a text with its NUL. Returns the number of bytes stored. */
static size_t put_text(const struct uprobes_value *value, const struct uprobes_found *found,
		       uint32_t i, unsigned char *to)
{
	const size_t most = found->length[i] && found->length[i] <= value->size ?
			    found->length[i] - 1 : 0;
	const size_t len = strnlen(found->text + value->at, most);

	memcpy(to, found->text + value->at, len);
	to[len] = '\0';
	return len + 1;
}

/* Stores the values of a place as the fields of an event. Returns the number of bytes stored. */
static size_t put_values(const struct kernel *kernel, uint32_t place,
			 const struct uprobes_found *found, unsigned char data[VALUE_BYTES])
{
	const struct trap *trap = &kernel->plan.traps->trap[place];
	const struct uprobes_values *values = kernel->traps->values[place];
	size_t used = 0;

	for (uint32_t i = 0; i < trap->values && i < UPROBES_VALUES; i++) {
		const struct shim_plan_argument *value =
			&kernel->plan.traps->value[trap->first + i];
		const uint64_t number = number_of(value, found, i);

		if (value->bytes) {
			memcpy(data + used, &number, value->bytes);
			used += value->bytes;
		} else {
			used += put_text(&values->value[i], found, i, data + used);
		}
	}
	return used;
}

/* ------------------------------------------------------------------ probes */

/* Keeps the event of a probe. */
static void take_probe(struct kernel *kernel, const struct syscalls_record *record,
		       const struct uprobes_found *found)
{
	const struct traps *from = kernel->plan.traps;
	const struct trap *trap = &from->trap[record->number];
	struct kernel_event event = { .type = KERNEL_TYPE_PROBE,
				      .address = UPROBES_ADDRESS(record) };
	const struct kernel_record of = { .pid = (pid_t)record->pid, .tid = (pid_t)record->tid };
	unsigned char data[4 + VALUE_BYTES];

	if (!kernel_chooses(&kernel->plan, from->type[trap->type].name))
		return;
	memcpy(data, &trap->type, 4);
	event.bytes = 4 + (uint32_t)put_values(kernel, record->number, found, data + 4);
	kernel_add_event(kernel, of, record->time_ns, event, data);
}

/* ------------------------------------------------------------------ calls */

/* The arguments of a call, as the fields of its event. */
struct arguments_kept {
	size_t bytes;
	unsigned char data[];
};

/*
 * Returns the arguments of a call that begins, in memory of malloc(3). Returns NULL if memory is
 * lacking.
 */
static struct arguments_kept *keep_arguments(const struct kernel *kernel, uint32_t place,
					     const struct uprobes_found *found)
{
	unsigned char data[VALUE_BYTES];
	const size_t bytes = put_values(kernel, place, found, data);
	struct arguments_kept *kept = malloc(sizeof(*kept) + bytes);

	if (kept) {
		kept->bytes = bytes;
		memcpy(kept->data, data, bytes);
	}
	return kept;
}

/*
 * Stores the result of a call as a field of its event. Returns the number of bytes stored, or 0 if
 * the result is not known.
 */
static size_t put_result(const struct shim_plan_argument *value, const struct match_result *result,
			 unsigned char *to)
{
	const uint64_t number = number_with_sign(value, result->number);
	size_t len;

	if (value->bytes) {
		memcpy(to, &number, value->bytes);
		return value->bytes;
	}
	if (!result->text)
		return 0;
	len = strnlen(result->text, UPROBES_TEXT_BYTES / 2);
	memcpy(to, result->text, len);
	to[len] = '\0';
	return len + 1;
}

/*
 * Keeps a call of a function whose arguments are recorded. If the arguments of the call are
 * lacking, the data of the event end before them. If the call did not return, the data end before
 * the result. A reader of the log sees that the fields behind this end are missing.
 */
static void take_described(struct kernel *kernel, const struct match_call *call,
			   const struct kernel_record *of, const unsigned char head[CALL_BYTES])
{
	const struct traps *from = kernel->plan.traps;
	const struct trap *trap = &from->trap[call->place];
	const struct arguments_kept *kept = call->data;
	struct kernel_event event = { .type = KERNEL_TYPE_PROBE, .address = call->caller };
	unsigned char data[4 + CALL_BYTES + VALUE_BYTES + UPROBES_TEXT_BYTES];
	size_t used = 4 + CALL_BYTES;

	if (!kernel_chooses(&kernel->plan, from->type[trap->type].name))
		return;
	memcpy(data, &trap->type, 4);
	memcpy(data + 4, head, CALL_BYTES);
	if (kept) {
		memcpy(data + used, kept->data, kept->bytes);
		used += kept->bytes;
	}
	if (call->result && trap->has_result && (kept || !trap->values))
		used += put_result(&from->value[trap->first + trap->values], call->result,
				   data + used);
	event.bytes = (uint32_t)used;
	kernel_add_event(kernel, *of, call->end_ns, event, data);
}

/*
 * The callback of match.h, which receives a call that has ended, or that is still open at the end.
 * The address of the event is the address to which the call returns.
 */
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
	memcpy(data, &span_ns, 8);
	memcpy(data + 8, &call->function, 8);
	memcpy(data + 16, &call->depth, 4);
	if (kernel->plan.traps->trap[call->place].has_type)
		take_described(kernel, call, &record, data);
	else if (kernel->traps->wants_calls)
		kernel_add_event(kernel, record, call->end_ns, event, data);
}

/* ------------------------------------------------------------------ the recording */

/*
 * Describes a place for the kernel and for match.h, and describes its values. The arrays have room
 * for the place. Returns false if there is no memory for the values.
 */
static bool make_place(struct kernel *kernel, size_t number, struct uprobes_place *where)
{
	static const uint8_t kinds[] = {
		[TRAP_BEGIN] = MATCH_BEGIN, [TRAP_RETURN] = MATCH_RETURN, [TRAP_JUMP] = MATCH_JUMP,
		[TRAP_PROBE] = MATCH_OTHER,
	};
	const struct trap *trap = &kernel->plan.traps->trap[number];

	*where = (struct uprobes_place){ .file = trap->file, .offset = trap->offset,
					 .semaphore = trap->semaphore, .is_go = trap->is_go };
	if (trap->kind == TRAP_PROBE || trap->values) {
		struct uprobes_values *values = calloc(1, sizeof(*values));

		if (!values)
			return false;
		make_values(kernel->plan.traps, trap, values);
		kernel->traps->values[number] = values;
		where->values = values;
	}
	kernel->traps->place[number] = (struct match_place){
		.kind = kinds[trap->kind], .condition = trap->condition, .is_go = trap->is_go,
		.address = trap->address, .function = trap->function, .target = trap->target,
	};
	return true;
}

/*
 * Makes the lists of the places that are new. Returns false if memory is lacking. match.h then has
 * the earlier places and perhaps some of the new ones. The new places get no breakpoints.
 */
static bool make_places(struct kernel *kernel, struct uprobes_place **where)
{
	const size_t all = kernel->plan.traps->traps, before = kernel->traps->places;

	*where = calloc(all - before + 1, sizeof(**where));
	if (!*where || !vec_grow(&kernel->traps->values, before, all - before) ||
	    !vec_grow(&kernel->traps->place, before, all - before))
		return false;
	while (kernel->traps->places < all) {
		const size_t i = kernel->traps->places;

		if (!make_place(kernel, i, &(*where)[i - before]))
			break;
		kernel->traps->places++;
	}
	/*
	 * The array of places may have moved, even if memory was lacking for some of the new
	 * places.
	 */
	match_extend(&kernel->traps->match, kernel->traps->place, kernel->traps->places);
	return kernel->traps->places == all;
}

/* Prints that the kernel has refused some of the places. */
static void say_refusals(const struct uprobes *uprobes)
{
	if (uprobes->refusals)
		say("the kernel refuses %zu breakpoint%s: %s; calls of their functions may be "
		    "missing, or seem not to end", uprobes->refusals,
		    uprobes->refusals == 1 ? "" : "s", uprobes->refused);
}

/*
 * The kernel sets the breakpoints only after all lists have the new places. So the first record of
 * a new place can already be processed.
 */
const char *kernel_traps_extend(struct kernel *kernel)
{
	const struct traps *from = kernel->plan.traps;
	struct kernel_traps *traps = kernel->traps;
	const size_t before = traps->places;
	const char **path = calloc(from->files + 1, sizeof(*path));
	struct uprobes_place *where = NULL;
	const struct syscalls_why *why = syscalls_reason(ENOMEM);

	if (path && vec_grow(&traps->uprobes, traps->uprobeses, 1) && make_places(kernel, &where)) {
		struct uprobes *uprobes = &traps->uprobes[traps->uprobeses++];

		for (size_t i = 0; i < from->files; i++)
			path[i] = from->file[i].path;
		why = uprobes_begin(uprobes, kernel->syscalls, path, where, traps->places - before,
				    before);
		say_refusals(uprobes);
	}
	free(where);
	free(path);
	return why ? why->text : NULL;
}

int kernel_traps_begin(struct kernel *kernel)
{
	const char *why = "out of memory";

	kernel->traps = calloc(1, sizeof(*kernel->traps));
	if (kernel->traps) {
		kernel->traps->wants_calls = kernel_chooses(&kernel->plan, "func.call");
		kernel->traps->wants_opens = kernel_chooses(&kernel->plan, "func.open");
		match_begin(&kernel->traps->match, NULL, 0, take_call, kernel);
		why = kernel_traps_extend(kernel);
	}
	if (!why)
		return TOOL_OK;
	say("the kernel does not record functions: %s", why);
	return TOOL_FAILURE;
}

/*
 * Returns the text that a function has returned, or an empty text if the kernel could not read it.
 * Returns NULL if the place is not the end of a function.
 */
static const char *text_of_result(const struct trap *trap, const struct uprobes_found *found)
{
	if (trap->kind != TRAP_RETURN)
		return NULL;
	return found->length[0] ? found->text : "";
}

void kernel_traps_take(struct kernel *kernel, const struct syscalls_record *record,
		       const unsigned char *piece, size_t bytes)
{
	struct arguments_kept *kept = NULL;
	const char *text = NULL;
	struct uprobes_found found;

	if (record->kind == SYSCALLS_TRAP && record->number < kernel->traps->places) {
		const struct trap *trap = &kernel->plan.traps->trap[record->number];

		note_module(kernel, record);
		if (bytes >= sizeof(found)) {
			memcpy(&found, piece, sizeof(found));
			found.text[UPROBES_TEXT_BYTES - 1] = '\0';
			text = text_of_result(trap, &found);
			if (trap->kind == TRAP_PROBE)
				take_probe(kernel, record, &found);
			else if (trap->kind == TRAP_BEGIN)
				kept = keep_arguments(kernel, record->number, &found);
		}
	}
	match_record(&kernel->traps->match, record, kept, text);
}

void kernel_traps_stop(struct kernel *kernel)
{
	for (size_t i = 0; i < kernel->traps->uprobeses; i++)
		uprobes_end(&kernel->traps->uprobes[i]);
}

void kernel_traps_complete(struct kernel *kernel)
{
	if (!kernel->traps)
		return;
	match_end(&kernel->traps->match, (uint64_t)kernel->now.monotonic_ns);
}

void kernel_traps_fini(struct kernel *kernel)
{
	kernel_traps_stop(kernel);
	/* If kernel_traps_complete() was called, no call is open any more. */
	if (kernel->traps->match.take)
		match_end(&kernel->traps->match, (uint64_t)kernel->now.monotonic_ns);
	free(kernel->traps->uprobes);
	free(kernel->traps->place);
	for (size_t i = 0; i < kernel->traps->places; i++)
		free(kernel->traps->values[i]);
	free(kernel->traps->values);
	free(kernel->traps->module);
	table_fini(&kernel->traps->of_module);
	free(kernel->traps);
	kernel->traps = NULL;
}
