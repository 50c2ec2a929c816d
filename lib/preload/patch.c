/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch.c - carries out the plan of a program that posixtrace record starts.
 *
 * The shim's constructor patches the modules that are loaded at the start. The wrappers of dlopen()
 * and pthread_create() patch modules that are loaded later. Modules are patched only while the
 * process has one thread, so no other thread can execute the bytes that change. The pages are
 * writable while they are changed and executable again after that. No page is writable and
 * executable at the same time.
 */
#include "preload/patch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include "preload/patch_module.h"
#include "preload/patch_slot.h"
#include "preload/shim.h"
#include "preload/text.h"

#if defined __x86_64__

#define PAGE 4096

/* The work on the plan. Its list has the jumps of the module that is being patched. */
static struct shim_work work;
/* How often a walk has found a module of the plan. After the first walk: how many were loaded. */
static uint32_t found;
/* True if the plan has modules that were not loaded at the start. They may be loaded later. */
static bool waits;
/* True if a call of dlopen() that did not return to the shim may have loaded such a module. */
static _Atomic bool is_due;
/*
 * The number of sites that were not patched when a library was last loaded while other threads ran.
 */
static uint32_t missing;

/*
 * Gives pages a protection: writable and not executable, or the protection that they had. The pages
 * may have code of the C library, so no function of the C library can be called until they are
 * executable again. Returns false if the kernel refuses the protection.
 */
static bool patch_protect(uintptr_t begin, uintptr_t end, int protection)
{
	return shim_raw_call(SYS_mprotect, begin, end - begin, (uintptr_t)protection) == 0;
}

/*
 * Returns whether the process may make memory executable that was writable before. A process can
 * give up this right (PR_SET_MDWE), and a filter can forbid the system call.
 */
static bool may_execute(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool may;

	if (page == MAP_FAILED)
		return false;
	may = mprotect(page, PAGE, PROT_READ | PROT_EXEC) == 0;
	munmap(page, PAGE);
	return may;
}

/*
 * Replaces pages by a copy with this protection. Called if the kernel refuses to give the pages
 * themselves the protection. A security module can forbid that for pages of a file that were
 * changed (execmod of SELinux), and permit it for other memory. If the copy cannot have the
 * protection either, the pages stay writable and not executable. The pages may have the code of
 * memcpy() and cannot be executed now, so the loop uses volatile, which keeps the compiler from
 * making it a call of memcpy().
 */
static void replace_code(uintptr_t begin, uintptr_t end, int protection)
{
	const size_t bytes = end - begin;
	const long copy = shim_raw_call6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, (uintptr_t)-1, 0);

	if (copy < 0 && copy > -PAGE)
		return;
	for (size_t i = 0; i < bytes; i++)
		((volatile uint8_t *)copy)[i] = ((const volatile uint8_t *)begin)[i];
	if (!patch_protect((uintptr_t)copy, (uintptr_t)copy + bytes, protection) ||
	    shim_raw_call6(SYS_mremap, (uintptr_t)copy, bytes, bytes,
			   MREMAP_MAYMOVE | MREMAP_FIXED, begin, 0) != (long)begin)
		shim_raw_call(SYS_munmap, (uintptr_t)copy, bytes, 0);
}

/* Writes jumps, or the original bytes. */
static void write_bytes(const struct shim_jump *jump, uint32_t count, bool is_original)
{
	for (uint32_t i = 0; i < count; i++) {
		volatile uint8_t *at = (volatile uint8_t *)jump[i].at;
		const uint8_t *from = is_original ? jump[i].original : jump[i].jump;

		for (unsigned k = 0; k < jump[i].bytes; k++)
			at[k] = from[k];
	}
}

/*
 * Writes the first jump and the following jumps that are on the same pages. Returns the number of
 * these jumps, at least 1. If the pages cannot become executable again, the function undoes its
 * work, refuses all `count` jumps, and returns `count`. The semaphores are incremented after the
 * jumps are written, because a semaphore makes the program compute the values of its probe.
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
	if (protection < 0 || !patch_protect(begin, end, PROT_READ | PROT_WRITE)) {
		shim_work_refuse(&work, some, "code cannot be made writable");
		return some;
	}
	write_bytes(jump, some, false);
	if (!patch_protect(begin, end, protection)) {
		write_bytes(jump, some, true);
		replace_code(begin, end, protection);
		shim_work_refuse(&work, count, "code cannot be made executable again");
		return count;
	}
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
	const uint32_t batches = work.batches;

	(void)size, (void)arg;
	/* The list still has the jumps of the previous object, which are written already. */
	work.jumps = 0;
	found += shim_work_object(&work, object);
	/*
	 * If the trampolines of this module are new, the kernel has just made them executable. If
	 * they are those of an earlier load, the process may have lost the right since.
	 */
	if (work.jumps && work.batches == batches && !may_execute()) {
		shim_work_refuse(&work, work.jumps, "memory cannot be made executable");
		return 0;
	}
	for (uint32_t first = 0; first < work.jumps;)
		first += write_jumps(object, &work.jump[first], work.jumps - first);
	return 0;
}

/*
 * Records how many functions and probes were patched, and why others were not. The tool that made
 * the plan has already printed what it refused. The event has the refusals that only the process
 * can find.
 */
static void patch_report(void)
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
	 * A process that records nothing now is patched nevertheless, because a stream may be
	 * attached later.
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
		 (shim_work_has_functions(&work) && !shim_slots_begin()) ||
		 (shim_work_has_values(&work) && !shim_slots_keep_values()))
		shim_work_refuse(&work, work.plan.head->sites, "there is no memory");
	else {
		if (shim_work_has_functions(&work))
			shim_open_begin(path, work.plan.head->open_fd);
		shim_work_types(&work);
		dl_iterate_phdr(patch_object, NULL);
		waits = found < work.plan.head->modules;
	}
	patch_report();
	errno = saved;
}

/*
 * Once true, the result stays true, even when all libraries of the plan are loaded: the program may
 * close a library and load it again. The cost is a search after each dlopen().
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
 * Counts the sites of libraries that this process must not patch: another thread may execute a
 * library as soon as its constructors run. posixtrace reads the member `missed` in the memory of
 * this process and patches the library later.
 */
static void patch_miss(void)
{
	uint32_t sites = 0;

	dl_iterate_phdr(miss_object, &sites);
	/*
	 * A library that remains unpatched is reported only once: after the next dlopen(), the
	 * number of sites is not greater than before. After dlclose() the number is smaller, so the
	 * next library is reported again.
	 */
	if (sites > missing) {
		__atomic_add_fetch(&posixtrace_shim_jumps.missed, sites - missing,
				   __ATOMIC_RELAXED);
		shim_work_refuse(&work, sites - missing,
				 "other threads ran when the library was loaded");
		patch_report();
	}
	missing = sites;
}

/*
 * If the thread that has loaded a module is the only thread, no other thread executes the module
 * now, and this thread has returned from the module's constructors. A function of the module may
 * itself have called dlopen() and be on the stack. It then continues behind the replaced
 * instructions, because only the last of the replaced instructions can be a call. Sites that are
 * patched already do not have the bytes of the plan, and are not changed.
 */
void shim_patch_loaded(void)
{
	int saved = errno;
	uint32_t patched = work.patched;
	const char *why = work.why;

	atomic_store_explicit(&is_due, false, memory_order_relaxed);
	__atomic_add_fetch(&posixtrace_shim_jumps.opened, 1, __ATOMIC_RELAXED);
	/*
	 * In a quiet process nothing is patched: patches need system calls, and the filter could
	 * end the process because of them.
	 */
	if (waits && __libc_single_threaded && !shim_is_quiet())
		dl_iterate_phdr(patch_object, NULL);
	else if (waits)
		patch_miss();
	/* A module that is refused for the same reason each time is reported once. */
	if (work.patched != patched || work.why != why)
		patch_report();
	errno = saved;
}

/*
 * Two threads may call dlopen() at the same time. The counts `opened` and `missed` only grow, so
 * that posixtrace notices a change even if it seldom looks. If no module of the plan is missing,
 * this process patches nothing more, so `missed` does not grow.
 */
void shim_patch_may_load(void)
{
	if (waits) {
		/*
		 * An earlier call of dlopen() has returned by now, so its libraries can be patched
		 * first.
		 */
		shim_patch_before_thread();
		atomic_store_explicit(&is_due, true, memory_order_relaxed);
		__atomic_add_fetch(&posixtrace_shim_jumps.missed, 1, __ATOMIC_RELAXED);
	}
	__atomic_add_fetch(&posixtrace_shim_jumps.opened, 1, __ATOMIC_RELAXED);
}

/*
 * The calling thread is not in the middle of instructions that are replaced here: it could be there
 * only in a signal handler, and a handler must not create a thread.
 */
void shim_patch_before_thread(void)
{
	if (shim_unlikely(atomic_load_explicit(&is_due, memory_order_relaxed)))
		shim_patch_loaded();
}

void shim_patch_process_ends(void)
{
	shim_open_end();
}

#else

/* There are no trampolines for other processors; the tool refuses the option. */
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

void shim_patch_process_ends(void)
{
}

#endif
