/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_module.h - the work on a plan: the trampolines of its modules and the jumps to
 * them. patch.c carries out the plan of a program that posixtrace record starts. patch_late.c
 * carries out the plan of a process that was running already.
 *
 * Threads   only one thread at a time may call these functions.
 * Errors    errno may change.
 */
#ifndef PTX_PRELOAD_PATCH_MODULE_H
#define PTX_PRELOAD_PATCH_MODULE_H

#include <link.h>

#include "preload/patch.h"
#include "preload/patch_file.h"

#if defined __x86_64__

/* A plan, and the results. */
struct shim_work {
	struct shim_plan plan;
	uint32_t patched, refused; /* sites */
	const char *why;           /* the reason of the last refusal */
	/* The event types of the plan; 0: not opened. */
	trace_event_id_t type[SHIM_PLAN_TYPES];
	/* The jumps that are prepared, in the order of the plan for each module. */
	struct shim_jump *jump;
	uint32_t jumps, room;
	/* number of batches of trampolines that were made for plans of this work */
	uint32_t batches;
	/*
	 * True in a process that was running already, where other threads may run: posixtrace
	 * writes the jumps, and the list keeps them.
	 */
	bool is_late;
};

/*
 * Allocates the list for `room` jumps. Pages that are not used need no memory. Returns false if
 * there is no memory.
 */
bool shim_work_list(struct shim_work *work, uint32_t room);

/*
 * Opens the event types of the plan, and finds the registers that hooks must save. Returns false if
 * a type is not available: there are too many types, or an earlier plan has given the type other
 * fields. The events of such a type would be counted as lost.
 */
bool shim_work_types(struct shim_work *work);

/*
 * Returns whether the plan has functions. Calls of functions need slots for return addresses;
 * probes and the instructions before them do not.
 */
bool shim_work_has_functions(const struct shim_work *work);

/* Returns whether the plan has functions with arguments, for which slots need more memory. */
bool shim_work_has_values(const struct shim_work *work);

/*
 * Prepares a loaded object if the plan has it, and returns whether the plan has it. The list then
 * has the object's jumps, and the counts include its refused sites.
 */
bool shim_work_object(struct shim_work *work, const struct dl_phdr_info *object);

/*
 * Returns the number of sites that the plan has in a loaded object, or 0 if one of these sites is
 * already patched.
 */
uint32_t shim_work_missing(const struct shim_work *work, const struct dl_phdr_info *object);

/*
 * For late work: marks the jumps of modules that have been unloaded as not wanted any more. Another
 * module may be at their addresses.
 */
void shim_work_forget(struct shim_work *work);

/*
 * Counts sites that are not patched. The event reports only the last reason. The texts are
 * constants.
 */
void shim_work_refuse(struct shim_work *work, uint32_t sites, const char *why);

/*
 * Returns the protection of the module's segment at an address, or -1 if the module has no segment
 * at this address.
 */
int shim_protection_at(const struct dl_phdr_info *object, uintptr_t address);

/*
 * Returns whether the processor compares return addresses with a second stack. The dynamic linker
 * decides that at the start of the program.
 */
bool shim_has_shadow_stack(void);

/*
 * Makes a system call without a function of the C library, because the library's pages may not be
 * executable at that time. Returns the kernel's result, which is a negative error number after an
 * error.
 */
static inline long shim_raw_call6(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
				  uintptr_t e, uintptr_t f)
{
	register uintptr_t r10 __asm__("r10") = d;
	register uintptr_t r8 __asm__("r8") = e;
	register uintptr_t r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return number;
}

static inline long shim_raw_call(long number, uintptr_t a, uintptr_t b, uintptr_t c)
{
	return shim_raw_call6(number, a, b, c, 0, 0, 0);
}

#endif
#endif
