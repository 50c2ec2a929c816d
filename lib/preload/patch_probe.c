/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_probe.c - records the event of a probe of <sys/sdt.h> when the program reaches the
 * probe.
 *
 * The note of the probe shows where the compiler keeps each value at this place: in a register, in
 * memory, or nowhere because it is constant. The tool has translated the note for the plan. Memory
 * is checked before it is read: the value is for tracers only, so the program itself may never have
 * read it.
 */
#include <errno.h>

#include "preload/patch.h"
#include "preload/patch_value.h"
#include "preload/shim.h"
#include "preload/text.h"

#if defined __x86_64__

/*
 * The stack pointer of the program, in bytes from the frame pointer: the saved rbp, the return
 * address into the trampoline, the flags, and the red zone.
 */
#define STACK_BEHIND 152 /* 3 words and 128 bytes */

/* Records the event of a probe, with its values in the order of the schema and without gaps. */
static void patch_probe_record(const struct shim_probe *probe,
			       const struct shim_registers *registers, const void *address)
{
	unsigned char data[SHIM_VALUE_BYTES(SHIM_TEXT)];
	size_t len = shim_values_put(data, SHIM_TEXT, probe->argument, probe->arguments, registers,
				     probe->base, false);

	if (shim_unlikely(atomic_load_explicit(&shim_unreported, memory_order_relaxed)))
		shim_report_lost();
	posix_trace_event_at_np(probe->id, data, len, address);
}

/*
 * Called by shim_patch_probe. `at` is the address of the trampoline's member `code`. `frame` has
 * the general registers, `vectors` has the vector registers. If the event type is not open, the
 * event is counted as lost. The address of the event is the address of the probe. The probe may be
 * anywhere in the program, also in a signal handler that has interrupted the recording of an event.
 */
__attribute__((used)) void shim_probe_is_reached(const unsigned char *at, const uint64_t *frame,
						 const unsigned char *vectors);
void shim_probe_is_reached(const unsigned char *at, const uint64_t *frame,
			   const unsigned char *vectors)
{
	const struct shim_trampoline *trampoline =
		(const void *)(at - offsetof(struct shim_trampoline, code));
	const struct shim_registers registers = {
		frame, vectors, (uint64_t)(uintptr_t)frame + STACK_BEHIND
	};
	const struct shim_probe *probe = trampoline->probe;
	const void *address = (const void *)(uintptr_t)trampoline->function;
	int saved = errno;

	/*
	 * If there is no stream, nothing is recorded. This is common in a process that was traced
	 * before.
	 */
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
 * If the type already has another schema, that schema cannot be replaced. Readers would then
 * misread the values of this plan, so the result is 0. A probe without values has an empty text as
 * schema; its type is not described, and its events have no data.
 */
trace_event_id_t shim_probe_open(const char *name, const char *schema)
{
	trace_event_id_t id;

	if (posix_trace_eventid_open(name, &id) || id == POSIX_TRACE_UNNAMED_USEREVENT)
		return 0;
	return *schema && posix_trace_eventid_describe_np(id, schema) ? 0 : id;
}

#endif
