/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch.h - patches functions of programs that were not compiled for tracing. The shim
 * replaces the first instructions of a function by a jump, and the return address in each call.
 *
 * 	site         jump to the trampoline          written over whole instructions
 * 	trampoline   call shim_patch_enter           reads the clock, chooses a slot
 * 	             the moved instructions
 * 	             jump behind the site
 * 	return       a slot: call shim_patch_return  records func.call, returns to the caller
 *
 * A slot is an address in the shim's text together with memory for one return address. The address
 * gives the slot's number. So the function may return on any stack and in any thread, and programs
 * with coroutines need no special treatment. Call frame information describes the slots, so that
 * exceptions, cancellation and debuggers find the real caller. If an exception or longjmp() has
 * left a function, the shim closes the slot when it notices that. Until then the slot is in use,
 * but no function returns to it.
 *
 * A probe of <sys/sdt.h> is a NOP at any place of a function. A jump there leads to a trampoline
 * that saves the flags, calls shim_patch_probe and jumps back (see patch_probe.c).
 *
 * Only x86-64 is supported. On other processors nothing is patched.
 *
 * Threads   any thread, except shim_patch_begin(), which the shim's start calls.
 */
#ifndef PTX_PRELOAD_PATCH_H
#define PTX_PRELOAD_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#include "preload/patch_plan.h"

/*
 * Reads the plan that POSIXTRACE_PATCH names and patches the modules that are loaded. The shim
 * calls this function once, at the end of its start. Nothing is patched if the process has several
 * threads.
 */
void shim_patch_begin(void);

/*
 * Called by the wrapper of dlopen(). shim_patch_waits() returns whether the plan has modules that
 * the program was not linked with. shim_patch_loaded() patches the modules that are loaded now, if
 * the process has one thread. The wrapper calls shim_patch_may_load() instead if it jumps to the
 * real dlopen(), which then does not return to the shim. The tool posixtrace learns of calls of
 * dlopen() by posixtrace_shim_jumps, and patches the modules that this process could not patch.
 */
bool shim_patch_waits(void);
void shim_patch_loaded(void);
void shim_patch_may_load(void);

/*
 * Called by the wrapper of pthread_create(): if dlopen() has loaded a library without returning to
 * the shim, this is the last moment at which the process itself can patch the library.
 */
void shim_patch_before_thread(void);

/* Called at the end of the process, by exit(): records the calls that are still active. */
void shim_patch_process_ends(void);

/*
 * Called in the child of fork(). If another thread of the parent was carrying out a plan at the
 * fork, the child does not continue it.
 */
void shim_patch_in_child(void);

/*
 * Called at the end of a thread. It closes the slots of frames that pthread_exit() or a
 * cancellation has left, because these frames do not return.
 */
void shim_patch_thread_ends(void);

#if defined __x86_64__

/* posixtrace reads this variable in the memory of the process; patch_late.c fills it. */
extern __attribute__((visibility("default"))) struct shim_jumps posixtrace_shim_jumps;

/*
 * The slots are code of SHIM_SLOT_BYTES bytes each. The elements of the second array, the return
 * addresses, have the same size. So a slot and its return address have the same offset.
 */
#define SHIM_SLOT_BYTES 16
extern const unsigned char shim_slots[SHIM_SLOTS * SHIM_SLOT_BYTES]
	__attribute__((visibility("hidden")));
extern unsigned char shim_slot_returns[SHIM_SLOTS * SHIM_SLOT_BYTES]
	__attribute__((visibility("hidden")));

#define SHIM_KEEPS_FLAGS    6 /* bytes of the code in front of the call, which saves the flags */
#define SHIM_RESTORES_FLAGS 9 /* bytes of the code behind the call, which restores the flags */

/*
 * A trampoline, in executable memory. The member `code` has the moved instructions, then a jump
 * behind the site. The entry depends on the kind:
 *
 * 	a function or hook `call`, a call through the pointer to shim_patch_enter
 * 	a probe            `before` saves the flags, `call` calls through the pointer to
 * 	                   shim_patch_probe, and the beginning of `code` restores the
 * 	                   flags
 * 	SHIM_SITE_BEFORE   `code`
 */
struct shim_trampoline {
	uint64_t function;              /* 0: the trampoline is not used */
	/* The values that are recorded; NULL: a function without arguments. */
	const struct shim_probe *probe;
	uint32_t kind;
	uint8_t before[SHIM_KEEPS_FLAGS];
	uint8_t call[6];
	uint8_t code[SHIM_RESTORES_FLAGS + SHIM_PLAN_CODE + SHIM_PLAN_JUMP];
	uint8_t unused[2];
};

/* The event type and the values of a place of a probe, or of a function with arguments. */
struct shim_probe {
	trace_event_id_t id;
	uint32_t arguments;
	uint32_t results;               /* number of results behind the arguments: 1 or 0 */
	const struct shim_plan_argument *argument;
	uintptr_t base;                 /* of the module */
};

/*
 * The vector registers that a hook must save: those that the kernel has enabled and that code of
 * the patched modules uses.
 */
enum shim_vectors { SHIM_SSE, SHIM_AVX, SHIM_AVX512 };
extern int shim_vectors __attribute__((visibility("hidden")));

/*
 * Trampolines call shim_patch_enter() and shim_patch_probe(), which do not obey the calling
 * conventions of C.
 */
void shim_patch_enter(void);
void shim_patch_probe(void);

/* Opens an event type and describes its fields. Returns 0 if that is impossible. */
trace_event_id_t shim_probe_open(const char *name, const char *schema);

/* Prepares the slots. Returns false if there is no memory; nothing may be patched then. */
bool shim_slots_begin(void);

/*
 * Prepares the memory for the values of arguments. Returns false if there is no memory. Further
 * calls do nothing.
 */
bool shim_slots_keep_values(void);

/* Returns whether the slots are prepared. Without them no function is patched. */
bool shim_slots_are_used(void);

#endif
#endif
