/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch.c - carries out the plan of a program that record starts.
 *
 * That happens in the shim's constructor, before main() and only while the process has one thread:
 * no other thread can execute the bytes that change. The pages are writable while they are changed,
 * and executable again after that; no page is both.
 */
#include "preload/patch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include "preload/patch_module.h"
#include "preload/shim.h"
#include "preload/text.h"

#if defined __x86_64__

#define PAGE 4096

/* The list of jumps has those of the module that is being patched. */
static struct shim_work work;
/* Modules of the plan that were found at the last walk. */
static uint32_t found;
/* The plan has modules that the program was not linked with: they may be loaded at any time. */
static bool waits;
/* A call of dlopen() that did not return to the shim may have loaded one. */
static _Atomic bool is_due;
/* Sites that had to be left alone, at the last walk with other threads. */
static uint32_t missing;

/*
 * Makes pages writable and not executable, or as they were. They may be pages of the C library, so
 * that no function of it can be called until they are executable again.
 */
static bool protect(uintptr_t begin, uintptr_t end, int protection)
{
	return shim_raw_call(SYS_mprotect, begin, end - begin, (uintptr_t)protection) == 0;
}

/*
 * Writes the jump and those behind it that are on the same page or the next one. Returns the number
 * of these jumps, at least 1. A semaphore is incremented last: from then on the program computes
 * the values.
 */
static uint32_t write_jumps(const struct dl_phdr_info *object, const struct shim_jump *jump,
			    uint32_t count)
{
	uintptr_t begin = jump->at & ~(uintptr_t)(PAGE - 1), end = begin;
	int protection = shim_protection_at(object, jump->at);
	uint32_t some = 0;

	for (; some < count; some++) {
		uintptr_t at = jump[some].at;

		if (at < begin || (end != begin && at >= end) ||
		    shim_protection_at(object, at) != protection)
			break;
		end = (at + SHIM_PLAN_JUMP + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	}
	if (protection < 0 || !protect(begin, end, PROT_READ | PROT_WRITE)) {
		shim_work_refuse(&work, some, "code cannot be made writable");
		return some;
	}
	for (uint32_t i = 0; i < some; i++) {
		volatile uint8_t *at = (volatile uint8_t *)jump[i].at;

		for (unsigned k = 0; k < jump[i].bytes; k++)
			at[k] = jump[i].jump[k];
	}
	protect(begin, end, protection);
	for (uint32_t i = 0; i < some; i++) {
		work.patched += jump[i].kind == SHIM_SITE_FUNCTION ||
				jump[i].kind == SHIM_SITE_PROBE;
		if (jump[i].semaphore)
			++*(volatile uint16_t *)jump[i].semaphore;
	}
	return some;
}

/* Callback of dl_iterate_phdr(): patches the object if the plan has it. */
static int patch_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size, (void)arg;
	/* Former jumps are written, and not needed any more. */
	work.jumps = 0;
	found += shim_work_object(&work, object);
	for (uint32_t first = 0; first < work.jumps;)
		first += write_jumps(object, &work.jump[first], work.jumps - first);
	return 0;
}

/*
 * Records how many functions and probes were patched, and why others were not. The planner has
 * printed its own refusals; the event has those that only the process can find.
 */
static void report(void)
{
	struct {
		uint32_t patched, refused;
		char why[SHIM_TEXT];
	} data = { .patched = work.patched, .refused = work.refused };

	if (*shim_switch[SHIM_PATCHED])
		shim_put(SHIM_PATCHED, &data,
			 8 + shim_text(data.why, sizeof data.why, work.why ? work.why : ""),
			 shim_caller());
}

void shim_patch_begin(void)
{
	const char *path = secure_getenv(SHIM_PLAN_VARIABLE);
	int saved = errno;

	/*
	 * In a process that records nothing now, everything is patched nevertheless: a stream may
	 * be attached later.
	 */
	if (!path)
		return;
	work.why = shim_plan_map(&work.plan, path);
	if (work.why)
		work.refused = 0;
	else if (!__libc_single_threaded)
		shim_work_refuse(&work, work.plan.head->sites, "the process has threads already");
	else if (shim_work_has_functions(&work) && shim_has_shadow_stack())
		shim_work_refuse(&work, work.plan.head->sites, "the process has a shadow stack");
	else if (!shim_work_list(&work, work.plan.head->sites) ||
		 (shim_work_has_functions(&work) && !shim_slots_begin()))
		shim_work_refuse(&work, work.plan.head->sites, "there is no memory");
	else {
		shim_work_types(&work);
		dl_iterate_phdr(patch_object, NULL);
		waits = found < work.plan.head->modules;
	}
	report();
	errno = saved;
}

/*
 * A library of the plan may also never be loaded, and may be loaded again after dlclose(). The cost
 * is a search after each dlopen().
 */
bool shim_patch_waits(void)
{
	return waits;
}

/* Callback of dl_iterate_phdr(): counts the sites of the object if the plan has it. */
static int miss_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	uint32_t *sites = arg;

	(void)size;
	*sites += shim_work_missing(&work, object);
	return 0;
}

/*
 * Another thread may execute a library as soon as its constructors run, so that its code must not
 * change here. posixtrace finds the number in its memory and patches the library later.
 */
static void miss(void)
{
	uint32_t sites = 0;

	dl_iterate_phdr(miss_object, &sites);
	/*
	 * A library that remains unpatched is reported once. After dlclose() the number is smaller,
	 * and the next library is reported again.
	 */
	if (sites > missing) {
		__atomic_add_fetch(&posixtrace_shim_jumps.missed, sites - missing,
				   __ATOMIC_RELAXED);
		shim_work_refuse(&work, sites - missing,
				 "other threads ran when the library was loaded");
		report();
	}
	missing = sites;
}

/*
 * The thread that has loaded a module may be the only one: then nothing else executes it now. The
 * thread itself has returned from the constructors. It may be deeper in a function of the module
 * that has called dlopen(), but then behind the replaced instructions: a call among them is always
 * the last one. Sites that are patched already do not have the bytes of the plan, and are left
 * alone.
 */
void shim_patch_loaded(void)
{
	int saved = errno;
	uint32_t patched = work.patched;

	atomic_store_explicit(&is_due, false, memory_order_relaxed);
	__atomic_add_fetch(&posixtrace_shim_jumps.opened, 1, __ATOMIC_RELAXED);
	/* The system calls of a patch could end a process that restricts them. */
	if (waits && __libc_single_threaded && !shim_is_quiet())
		dl_iterate_phdr(patch_object, NULL);
	else if (waits)
		miss();
	if (work.patched != patched)
		report();
	errno = saved;
}

/*
 * Two threads may call dlopen() at once. Both counts only grow, so that posixtrace notices a change
 * even if it looks seldom. A process whose plan does not wait is patched by posixtrace alone, which
 * needs no second count.
 */
void shim_patch_may_load(void)
{
	if (waits) {
		/* A former one has returned by now. */
		shim_patch_before_thread();
		atomic_store_explicit(&is_due, true, memory_order_relaxed);
		__atomic_add_fetch(&posixtrace_shim_jumps.missed, 1, __ATOMIC_RELAXED);
	}
	__atomic_add_fetch(&posixtrace_shim_jumps.opened, 1, __ATOMIC_RELAXED);
}

/*
 * A handler of a signal that interrupts a new library may not create a thread, so that the caller
 * is not among the instructions that change.
 */
void shim_patch_before_thread(void)
{
	if (shim_unlikely(atomic_load_explicit(&is_due, memory_order_relaxed)))
		shim_patch_loaded();
}

#else

/* Other processors have no trampolines here: the tool refuses the option. */
void shim_patch_begin(void)
{
}

bool shim_patch_waits(void)
{
	return false;
}

void shim_patch_loaded(void)
{
}

void shim_patch_may_load(void)
{
}

void shim_patch_before_thread(void)
{
}

void shim_patch_thread_ends(void)
{
}

#endif
