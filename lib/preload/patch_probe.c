/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_probe.c - records the event of a probe of <sys/sdt.h> when the program reaches the
 * probe.
 *
 * The note of the probe says where the compiler keeps each value at this place: in a register, in
 * memory, or nowhere because it is constant. The tool has translated the note for the plan. Memory
 * is checked before it is read: a value is offered to tracers only, so the program itself may never
 * have read it.
 */
#include <errno.h>
#include <string.h>

#include "preload/patch.h"
#include "preload/patch_pad.h"
#include "preload/shim.h"
#include "preload/text.h"

#if defined __x86_64__

#define REGISTERS 16
#define RSP       4
#define PAGE      4096

/*
 * Where shim_patch_probe has saved the registers, in words from the frame pointer. The stack
 * pointer is not saved. Its value is the frame pointer plus STACK_BEHIND bytes: the saved rbp, the
 * return address into the trampoline, the flags, and the red zone.
 */
static const signed char saved_at[REGISTERS] = {
	-1, -2, -3, -10, 0, 0, -4, -5, -6, -7, -8, -9, -11, -12, -13, -14,
};
#define STACK_BEHIND 152 /* 3 words and 128 bytes */

/* The registers of the program when the probe was reached. */
struct registers {
	const uint64_t *frame;
	const unsigned char *vectors; /* 64 bytes for each register */
};

/* Returns the value of a register of the program, or 0 if there is no register with this number. */
static uint64_t register_of(const struct registers *registers, unsigned number)
{
	if (number >= REGISTERS)
		return 0;
	return number == RSP ? (uint64_t)(uintptr_t)registers->frame + STACK_BEHIND :
			       registers->frame[saved_at[number]];
}

/*
 * Copies a value that may cross a page; shim_copy() checks one page only. If any byte cannot be
 * read, *value stays as it is.
 */
static void copy_value(uint64_t *value, uintptr_t from, unsigned bytes)
{
	unsigned first = (unsigned)(PAGE - from % PAGE);
	uint64_t copy = 0;

	first = first < bytes ? first : bytes;
	if (shim_copy(&copy, (const void *)from, first) &&
	    (first == bytes || shim_copy((char *)&copy + first, (const void *)(from + first),
					 bytes - first)))
		*value = copy;
}

/*
 * Returns a value of the program, with its sign in all 64 bits. A value that is shorter than 8
 * bytes is shifted up and down again. That removes the other bits that a register has above the
 * value.
 */
static uint64_t value_of(const struct shim_plan_argument *argument,
			 const struct registers *registers, uintptr_t base)
{
	unsigned unused_bits = 64 - 8 * argument->size;
	uint64_t value = 0;
	uintptr_t at;

	/* If the place is unknown, the value stays 0. */
	switch (argument->place) {
	case SHIM_PLAN_CONSTANT:
		value = (uint64_t)argument->value;
		break;
	case SHIM_PLAN_REGISTER:
		value = register_of(registers, argument->base) >> argument->shift;
		break;
	case SHIM_PLAN_VECTOR:
		memcpy(&value, registers->vectors + 64 * (argument->base % REGISTERS),
		       sizeof value);
		break;
	case SHIM_PLAN_MEMORY:
		/* register_of() returns 0 for a register that is not used. */
		at = register_of(registers, argument->base) +
		     (register_of(registers, argument->index) << argument->shift) +
		     (uint64_t)argument->value;
		copy_value(&value, at, argument->size);
		break;
	case SHIM_PLAN_OBJECT:
		copy_value(&value, base + (uint64_t)argument->value, argument->size);
		break;
	}
	value <<= unused_bits;
	return argument->is_signed ? (uint64_t)((int64_t)value >> unused_bits) :
				     value >> unused_bits;
}

/*
 * Records the event of a probe, with its values in the order of the schema and without gaps. Each
 * number is copied with all its 8 bytes, and the next value overwrites the unused bytes. data has
 * room for 8 bytes of each value and for SHIM_TEXT bytes of texts, so the last copy fits, too.
 */
static void patch_probe_record(const struct shim_probe *probe, const struct registers *registers,
			       const void *address)
{
	unsigned char data[8 * SHIM_PLAN_OF_SITE + SHIM_TEXT];
	unsigned texts = 0;
	/*
	 * len is the number of bytes of the event so far, room the number of bytes that texts may
	 * still have.
	 */
	size_t len = 0, room = SHIM_TEXT;

	/* Counts the texts, because they share the room. */
	for (uint32_t i = 0; i < probe->arguments; i++)
		texts += !probe->argument[i].bytes;
	for (uint32_t i = 0; i < probe->arguments; i++) {
		const struct shim_plan_argument *argument = &probe->argument[i];
		uint64_t value = value_of(argument, registers, probe->base);

		if (argument->bytes) {
			memcpy(data + len, &value, sizeof value);
			len += argument->bytes;
		} else {
			/*
			 * Each text may have an equal part of the room that the texts before it
			 * have left.
			 */
			size_t used = shim_text_before((char *)data + len, room / texts--,
						       (const char *)(uintptr_t)value);

			room -= used;
			len += used;
		}
	}
	if (shim_unlikely(atomic_load_explicit(&shim_untold, memory_order_relaxed)))
		shim_tell_lost();
	posix_trace_event_at_np(probe->id, data, len, address);
}

/*
 * Called by shim_patch_probe. at is the address of the trampoline's member code. frame has the
 * general registers, vectors has the vector registers. If the event type is not open, the event is
 * counted as lost. The address of the event is the address of the probe. The probe may be anywhere
 * in the program, also in a signal handler that has interrupted the recording of an event.
 */
__attribute__((used)) void shim_probe_is_reached(const unsigned char *at, const uint64_t *frame,
						 const unsigned char *vectors);
void shim_probe_is_reached(const unsigned char *at, const uint64_t *frame,
			   const unsigned char *vectors)
{
	const struct shim_trampoline *trampoline =
		(const void *)(at - offsetof(struct shim_trampoline, code));
	const struct registers registers = { frame, vectors };
	const struct shim_probe *probe = trampoline->probe;
	const void *address = (const void *)(uintptr_t)trampoline->function;
	int saved = errno;

	/* There is no stream. This is common in a process that was traced before. */
	if (shim_likely(!*posix_trace_active_np))
		return;
	if (shim_unlikely(!probe->id))
		shim_lose_unnamed();
	else if (shim_unlikely(shim_is_blind)) /* the library counts the loss */
		posix_trace_event_at_np(probe->id, NULL, 0, address);
	else
		patch_probe_record(probe, &registers, address);
	errno = saved;
}

/*
 * If the type already has another schema, it keeps that one. Values of this plan would then be
 * misread, so the result is 0. A probe without values has an empty text as schema; its type is not
 * described, and its events have no data.
 */
trace_event_id_t shim_probe_open(const char *name, const char *schema)
{
	trace_event_id_t id;

	if (posix_trace_eventid_open(name, &id) || id == POSIX_TRACE_UNNAMED_USEREVENT)
		return 0;
	return *schema && posix_trace_eventid_describe_np(id, schema) ? 0 : id;
}

#endif
