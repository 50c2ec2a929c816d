/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch.h - functions of programs that were not compiled for tracing: their begin is
 * patched, and their return address replaced.
 *
 * 	site         jump to the trampoline          written over whole instructions
 * 	trampoline   call shim_patch_enter           records func.enter, chooses a slot
 * 	             the moved instructions
 * 	             jump behind the site
 * 	return       a slot: call shim_patch_return  records func.leave, returns to the caller
 *
 * A slot is an address in the shim's text and the place of one return address. The slot's number
 * follows from the address, so that it does not matter on which stack or thread the function
 * returns: coroutines need no help. Call frame information describes the slots, so that
 * exceptions, cancellation and debuggers find the real caller. A slot whose function was left by
 * an exception or longjmp() is closed when that is seen; until then it is only not in use.
 *
 * A probe of <sys/sdt.h> is a NOP at any place of a function. A jump there leads to a trampoline
 * that saves the flags, calls shim_patch_probe and jumps back: patch_probe.c.
 *
 * Only x86-64 is supported. On other processors nothing is patched.
 */
#ifndef PTX_PRELOAD_PATCH_H
#define PTX_PRELOAD_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#include "preload/patch_plan.h"

#define SHIM_SLOTS 32768

/*
 * Reads the plan that POSIXTRACE_PATCH names and patches the modules that are loaded. To be called
 * once, when the shim has begun. It refuses if the process has several threads.
 */
void shim_patch_begin(void);

/*
 * Called by the wrapper of dlopen(). The first returns whether the plan has modules that the
 * program was not linked with. The second patches those that are loaded now, if the process has one
 * thread. The third is for a call that does not return to the shim. posixtrace reads in the memory
 * of the process that dlopen() was called, and patches what this process could not.
 */
bool shim_patch_waits(void);
void shim_patch_loaded(void);
void shim_patch_may_load(void);

/*
 * Called by the wrapper of pthread_create(): it is the last moment at which a library can be
 * patched here that dlopen() has loaded without returning to the shim.
 */
void shim_patch_before_thread(void);

/* In the child of fork(): a plan that another thread of the parent carried out is given up. */
void shim_patch_in_child(void);

/*
 * At the end of a thread: frames that pthread_exit() or a cancellation has left do not return.
 */
void shim_patch_thread_ends(void);

#if defined __x86_64__

/* Read by posixtrace in the memory of the process: patch_late.c. */
extern __attribute__((visibility("default"))) struct shim_jumps posixtrace_shim_jumps;

/* The slots, 8 bytes each, and behind them the return addresses, 8 bytes each. */
extern const unsigned char shim_slots[SHIM_SLOTS * 8] __attribute__((visibility("hidden")));
extern unsigned char shim_slot_returns[SHIM_SLOTS * 8] __attribute__((visibility("hidden")));

#define SHIM_KEEPS_FLAGS    6 /* bytes of code in front of the call */
#define SHIM_RESTORES_FLAGS 9 /* and behind it */

/*
 * A trampoline, in executable memory. For a function it begins with call: a call through the
 * pointer to shim_patch_enter. code has the moved instructions, then a jump behind the site. For a
 * probe it begins with before, the pointer is that to shim_patch_probe, and code begins with
 * SHIM_RESTORES_FLAGS bytes more. SHIM_SITE_BEFORE begins with code.
 */
struct shim_trampoline {
	uint64_t function;              /* 0: it is not used */
	const struct shim_probe *probe; /* NULL: of a function */
	uint32_t kind;
	uint8_t before[SHIM_KEEPS_FLAGS];
	uint8_t call[6];
	uint8_t code[SHIM_RESTORES_FLAGS + SHIM_PLAN_CODE + SHIM_PLAN_JUMP];
	uint8_t unused[2];
};

/* A place of a probe: its event type, and its values. */
struct shim_probe {
	trace_event_id_t id;
	uint32_t arguments;
	const struct shim_plan_argument *argument;
	uintptr_t base;                 /* of the module */
};

/*
 * The vector registers that a hook must save: those that the kernel has enabled and that code of
 * the patched modules uses.
 */
enum shim_vectors { SHIM_SSE, SHIM_AVX, SHIM_AVX512 };
extern int shim_vectors __attribute__((visibility("hidden")));

/* The instructions of trampolines call them. Not functions of C. */
void shim_patch_enter(void);
void shim_patch_probe(void);

/* Opens an event type and describes its fields. Returns 0 if that is impossible. */
trace_event_id_t shim_probe_open(const char *name, const char *schema);

/* Prepares slots. False: no memory; then nothing may be patched. */
bool shim_slots_begin(void);

/* Returns whether functions were patched. */
bool shim_slots_are_used(void);

#endif
#endif
