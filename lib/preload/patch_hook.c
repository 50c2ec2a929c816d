/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_hook.c - the usual beginning of a patched function, by general registers only.
 *
 * This file is compiled with -mgeneral-regs-only, because the assembly that calls its function
 * saves no vector register. Saving these registers would take as long as all the work of this file.
 * This file calls no function of another file. patch_call.c does everything unusual: a thread's
 * first call, a nested call for which the thread has no spare slot, a tail call, functions with
 * arguments, hooks of exceptions.
 */
#include "preload/patch_slot.h"

#if defined __x86_64__

#if defined __SSE__ && defined __GNUC__ && !defined __clang__
#error "this file must not use vector registers: -mgeneral-regs-only"
#endif

/*
 * Called by shim_patch_enter. `code` is the address behind the call in the trampoline. Returns
 * false if it has done nothing and shim_function_enters() must be called.
 */
__attribute__((used)) bool shim_function_enters_fast(const unsigned char *code,
						     const void **place);
bool shim_function_enters_fast(const unsigned char *code, const void **place)
{
	const struct shim_trampoline *trampoline =
		(const void *)(code - offsetof(struct shim_trampoline, code));
	const void *caller = *place;
	uint32_t slot = shim_spare;

	if (shim_unlikely(trampoline->kind != SHIM_SITE_FUNCTION || trampoline->probe))
		return false;
	if (!*shim_switch[FUNC_CALL])
		return true;
	/* The type is not recorded now: shim_function_enters() counts the call if it is skipped. */
	if (shim_unlikely(posix_trace_silent_np[shim_id[FUNC_CALL]]))
		return false;
	/* A blind thread must not execute rdtsc, which would raise a signal there. */
	if (shim_unlikely(shim_is_blind || !slot || !shim_has_counter || !shim_tid ||
			  atomic_load_explicit(&shim_is_ready, memory_order_acquire) !=
				  SHIM_READY ||
			  (uintptr_t)caller - (uintptr_t)shim_slots < sizeof shim_slots))
		return false;
	if (shim_unlikely(shim_is_own(caller)))
		return true;
	if (shim_unlikely(!shim_exchange_own(&shim_spare, slot, 0)))
		return false;
	shim_slot_begin(slot, trampoline->function, place, caller, NULL,
			__builtin_ia32_rdtsc());
	return true;
}

#endif
