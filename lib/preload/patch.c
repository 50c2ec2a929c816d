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
#include <signal.h>
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
 * Jumps of one module that follow each other in the list and are on the same pages, from `begin` to
 * `end`. `protection` is that of all these pages; -1: the module has no segment there.
 */
struct group {
	const struct shim_jump *jump;
	uint32_t count;
	uintptr_t begin, end;
	int protection;
};

/* Returns the group that begins with the first of `count` jumps, of which there is at least 1. */
static struct group group_of(const struct dl_phdr_info *object, const struct shim_jump *jump,
			     uint32_t count)
{
	struct group group = { .jump = jump };

	group.begin = group.end = jump->at & ~(uintptr_t)(PAGE - 1);
	group.protection = shim_protection_at(object, jump->at);
	for (; group.count < count; group.count++) {
		const uintptr_t at = jump[group.count].at;
		const uintptr_t end = (at + SHIM_PLAN_JUMP + PAGE - 1) & ~(uintptr_t)(PAGE - 1);

		if (at < group.begin || (group.count && at >= group.end) ||
		    shim_protection_at(object, at) != group.protection)
			break;
		if (end > group.end)
			group.end = end;
	}
	return group;
}

/*
 * Gives pages a protection: writable and not executable, or the protection that they had. The pages
 * may have code of the C library, so no function of the C library can be called until they are
 * executable again. Returns false if the kernel refuses the protection.
 */
static bool patch_protect(uintptr_t begin, uintptr_t end, int protection)
{
	return shim_raw_call(SYS_mprotect, begin, end - begin, (uintptr_t)protection) == 0;
}

/* Maps writable memory. Returns its address, or 0 if there is no memory. */
static uintptr_t patch_map(size_t bytes)
{
	const long at = shim_raw_call6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, (uintptr_t)-1, 0);

	return at < 0 && at > -PAGE ? 0 : (uintptr_t)at;
}

static void patch_unmap(uintptr_t at, size_t bytes)
{
	shim_raw_call(SYS_munmap, at, bytes, 0);
}

/* Puts memory in the place of other memory of the same size. Returns false if that is refused. */
static bool patch_move(uintptr_t from, uintptr_t to, size_t bytes)
{
	return shim_raw_call6(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to,
			      0) == (long)to;
}

/*
 * Writes the jumps of a group, or the original bytes, into its pages or into a copy of them: `to`
 * is the address of the first page or of its copy.
 */
static void write_bytes(const struct group *group, uintptr_t to, bool is_original)
{
	for (uint32_t i = 0; i < group->count; i++) {
		const struct shim_jump *jump = &group->jump[i];
		volatile uint8_t *at = (volatile uint8_t *)(jump->at - group->begin + to);
		const uint8_t *from = is_original ? jump->original : jump->jump;

		for (unsigned k = 0; k < jump->bytes; k++)
			at[k] = from[k];
	}
}

/*
 * Replaces the pages of a group by a copy with the original bytes, which is made in the writable
 * memory at `copy`. A security module can forbid that pages of a file become executable again after
 * they were changed (execmod of SELinux), and permit it for other memory. At each moment of this
 * function the program has either the pages or the finished copy. Returns false if the kernel
 * refuses the copy; the pages are then unchanged. The pages may have the code of memcpy() and may
 * not be executable now, so the loop uses volatile, which keeps the compiler from making it a call
 * of memcpy().
 */
static bool replace_code(const struct group *group, uintptr_t copy)
{
	const size_t bytes = group->end - group->begin;

	for (size_t i = 0; i < bytes; i++)
		((volatile uint8_t *)copy)[i] = ((const volatile uint8_t *)group->begin)[i];
	write_bytes(group, copy, true);
	return patch_protect(copy, copy + bytes, group->protection) &&
	       patch_move(copy, group->begin, bytes);
}

/* Memory for a copy of the largest group of a module. */
struct reserve {
	uintptr_t copy;
	size_t bytes;
};

/*
 * Reserves the memory that replace_code() needs, before any code changes. The reserve has two more
 * pages, with which the function tries the calls of replace_code(): the process may have given up
 * the right to make memory executable that was writable before (PR_SET_MDWE), and a filter or a
 * limit may forbid one of the calls. If these calls succeed, they are expected to succeed later,
 * too: then replace_code() can replace code that cannot become executable again. Returns NULL, or
 * the reason of the failure.
 */
static const char *make_reserve(struct reserve *reserve, const struct dl_phdr_info *object,
				const struct shim_jump *jump, uint32_t count)
{
	struct group group;
	uintptr_t spare;
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i += group.count) {
		group = group_of(object, &jump[i], count - i);
		if (group.protection < 0)
			return "code cannot be made writable";
		if (group.end - group.begin > bytes)
			bytes = group.end - group.begin;
	}
	reserve->bytes = bytes + 2 * PAGE;
	reserve->copy = patch_map(reserve->bytes);
	if (!reserve->copy)
		return "there is no memory";
	spare = reserve->copy + bytes;
	if (patch_protect(spare, spare + PAGE, group.protection) &&
	    patch_move(spare, spare + PAGE, PAGE))
		return NULL;
	patch_unmap(reserve->copy, reserve->bytes);
	return "memory cannot be made executable";
}

/*
 * Writes the jumps of a group. Returns NULL, or the reason why that is not possible. In that case
 * the pages have their original bytes and their protection again, unless replace_code() has failed,
 * too.
 */
static const char *write_group(const struct group *group, uintptr_t copy)
{
	const char *why = "code cannot be made writable";

	if (patch_protect(group->begin, group->end, PROT_READ | PROT_WRITE)) {
		write_bytes(group, group->begin, false);
		if (patch_protect(group->begin, group->end, group->protection))
			return NULL;
		write_bytes(group, group->begin, true);
		why = "code cannot be made executable again";
	} else if (patch_protect(group->begin, group->end, group->protection)) {
		/* If a part of the pages has become writable, it is executable again by now. */
		return why;
	}
	replace_code(group, copy);
	return why;
}

/*
 * Gives the pages of a group their original bytes after the jumps of a later group were refused.
 * The pages are replaced by a copy and do not become writable, because the kernel might refuse to
 * make them executable again. If the copy fails, the function returns false. The jumps then remain
 * and count as written, because their trampolines are complete.
 */
static bool restore_group(const struct group *group)
{
	const size_t bytes = group->end - group->begin;
	const uintptr_t copy = patch_map(bytes);

	if (copy && replace_code(group, copy))
		return true;
	if (copy)
		patch_unmap(copy, bytes);
	return false;
}

/*
 * Returns whether the report counts the jump. It counts functions and probes, which the user has
 * selected. The other kinds of jumps belong to one of these functions or probes.
 */
static bool is_counted(const struct shim_jump *jump)
{
	return jump->kind == SHIM_SITE_FUNCTION || jump->kind == SHIM_SITE_PROBE;
}

/*
 * Counts jumps that were written. The semaphores are incremented after the jumps are written,
 * because a semaphore makes the program compute the values of its probe.
 */
static void count_written(const struct shim_jump *jump, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		work.patched += is_counted(&jump[i]);
		if (jump[i].semaphore)
			++*(volatile uint16_t *)jump[i].semaphore;
	}
}

/* Counts jumps that were not written. */
static void count_refused(const struct shim_jump *jump, uint32_t count, const char *why)
{
	uint32_t sites = 0;

	for (uint32_t i = 0; i < count; i++)
		sites += is_counted(&jump[i]);
	shim_work_refuse(&work, sites, why);
}

/*
 * Writes all jumps of a module. If the kernel refuses the protection of any of their pages, the
 * function writes none, or restores those that it has written; restore_group() may leave some.
 * Signals are blocked meanwhile, because a handler may be in code that is not executable now.
 */
static void write_jumps(const struct dl_phdr_info *object, const struct shim_jump *jump,
			uint32_t count)
{
	const uint64_t all = UINT64_MAX;
	struct reserve reserve;
	const char *why = make_reserve(&reserve, object, jump, count);
	uint32_t written = 0;
	struct group group;
	uint64_t mask;

	if (why) {
		count_refused(jump, count, why);
		return;
	}
	shim_raw_call6(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&all, (uintptr_t)&mask,
		       sizeof mask, 0, 0);
	while (!why && written < count) {
		group = group_of(object, &jump[written], count - written);
		why = write_group(&group, reserve.copy);
		written += why ? 0 : group.count;
	}
	if (!why)
		count_written(jump, count);
	else
		count_refused(&jump[written], count - written, why);
	for (uint32_t i = 0; why && i < written; i += group.count) {
		group = group_of(object, &jump[i], written - i);
		if (restore_group(&group))
			count_refused(group.jump, group.count, why);
		else
			count_written(group.jump, group.count);
	}
	patch_unmap(reserve.copy, reserve.bytes);
	shim_raw_call6(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&mask, 0, sizeof mask, 0, 0);
}

/* Callback of dl_iterate_phdr(): patches the object if the plan has it. */
static int patch_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size, (void)arg;
	/* The list still has the jumps of the previous object, which are written already. */
	work.jumps = 0;
	found += shim_work_object(&work, object);
	if (work.jumps)
		write_jumps(object, work.jump, work.jumps);
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
