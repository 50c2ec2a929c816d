/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_late.c - plans that posixtrace writes into a process that was running already.
 *
 * Other threads may be executing the code, so this file does not change it. It prepares only the
 * trampolines and a list of jumps. posixtrace writes the jumps while all threads are stopped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "preload/inject.h"
#include "preload/patch_module.h"
#include "preload/patch_slot.h"
#include "preload/shim.h"

#if defined __x86_64__

#define GIVEN_NS UINT64_C(10000000000) /* a tracer that writes a plan for longer counts as ended */

/*
 * The interface to posixtrace. posixtrace_shim_plan() provides memory for a plan.
 * posixtrace_shim_patch() carries out the plan, but writes no jumps. Both return a negative error
 * number after a failure. struct shim_jumps in patch_plan.h has the list of the jumps.
 */
SHIM_WRAPPER long posixtrace_shim_plan(const char *bytes);
SHIM_WRAPPER long posixtrace_shim_patch(const char *tracer);
struct shim_jumps posixtrace_shim_jumps;

/*
 * The last plan. Its list is posixtrace_shim_jumps, to which each plan appends: an element never
 * changes its place, because a tracer may read it meanwhile.
 */
static struct shim_work work;

/*
 * The memory for a plan, and whether a thread is in posixtrace_shim_plan() or
 * posixtrace_shim_patch().
 */
static struct {
	_Atomic int is_busy;
	void *memory;
	size_t bytes;
	/*
	 * The time at which a tracer got the memory. The tracer may still be writing its plan. 0:
	 * no tracer is writing a plan.
	 */
	uint64_t given_ns;
} late;

/*
 * Callback of dl_iterate_phdr(): prepares the jumps of the object if the plan has it. The object's
 * code does not change here, because other threads execute it.
 */
static int prepare_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size, (void)arg;
	shim_work_object(&work, object);
	return 0;
}

/*
 * Returns the address of memory into which posixtrace writes a plan. Memory of an earlier plan is
 * released if no trampoline refers to it. While a tracer writes its plan, another tracer gets
 * -EAGAIN. A tracer that exceeds GIVEN_NS may be slow and not dead, so its memory stays mapped.
 * `bytes` is the size as text, because posixtrace can pass a string only.
 */
long posixtrace_shim_plan(const char *bytes)
{
	void *memory;

	if (atomic_exchange(&late.is_busy, 1))
		return -EAGAIN;
	if (late.given_ns && shim_now() - late.given_ns < GIVEN_NS) {
		atomic_store(&late.is_busy, 0);
		return -EAGAIN;
	}
	if (late.memory && !late.given_ns)
		munmap(late.memory, late.bytes);
	late.bytes = (size_t)strtoul(bytes, NULL, 10);
	memory = mmap(NULL, late.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	late.memory = memory == MAP_FAILED ? NULL : memory;
	late.given_ns = late.memory ? shim_now() : 0;
	atomic_store(&late.is_busy, 0);
	return late.memory ? (long)late.memory : -ENOMEM;
}

/*
 * Prepares the parts that all plans share: slots for functions, and the list of jumps. Returns 0,
 * or a negative error number. The slots and the list remain for later plans.
 */
static int begin_late(void)
{
	if (shim_work_has_functions(&work) && shim_has_shadow_stack())
		return -ENOTSUP;
	if (!work.jump && !shim_work_list(&work, SHIM_JUMPS))
		return -ENOMEM;
	posixtrace_shim_jumps.jump = (uint64_t)(uintptr_t)work.jump;
	/*
	 * Slots in use must keep their return addresses, so the slots are prepared only once. The
	 * library of the unwinder is loaded by the thread that also loads the shim.
	 */
	if (shim_work_has_functions(&work) && !shim_slots_are_used() && !shim_slots_begin())
		return -ENOMEM;
	if (shim_work_has_values(&work) && !shim_slots_keep_values())
		return -ENOMEM;
	return 0;
}

/*
 * Adds a tracer to the array of tracers, unless it is there already. If the array is full, the
 * tracer is not added. The process id of a tracer that was killed remains until another tracer
 * removes it. Only one thread at a time runs this function, but a tracer may remove itself
 * meanwhile.
 */
static void enter_tracer(uint32_t pid)
{
	uint32_t *tracer = posixtrace_shim_jumps.tracer, free = SHIM_TRACERS;

	for (uint32_t i = 0; i < SHIM_TRACERS; i++) {
		uint32_t is = __atomic_load_n(&tracer[i], __ATOMIC_RELAXED);

		if (is == pid)
			return;
		if (!is && free == SHIM_TRACERS)
			free = i;
	}
	if (free < SHIM_TRACERS)
		__atomic_store_n(&tracer[free], pid, __ATOMIC_RELAXED);
}

/*
 * posixtrace stops a thread at a safe place and lets the thread call this function, as it does with
 * posixtrace_shim_attach(). `tracer` is the process id of posixtrace as text, because posixtrace
 * can pass a string only. Returns the number of jumps that are wanted. After an error the shim
 * continues to use the previous plan.
 */
long posixtrace_shim_patch(const char *tracer)
{
	const struct shim_work before = work;
	char path[32];
	long wanted = 0;
	int err;

	if (atomic_exchange(&late.is_busy, 1))
		return -EAGAIN;
	late.given_ns = 0;
	/* Not an initializer: initialized data would be between variables that each start uses. */
	work.is_late = true;
	if (!late.memory || shim_plan_take(&work.plan, late.memory, late.bytes))
		err = -EINVAL;
	else
		err = begin_late();
	if (!err && !shim_work_types(&work))
		err = -EEXIST;
	if (err) {
		/* The list is kept, because posixtrace may read it at any time. */
		struct shim_jump *list = work.jump;
		uint32_t room = work.room;

		work = before;
		work.jump = list;
		work.room = room;
	} else {
		if (shim_work_has_functions(&work)) {
			snprintf(path, sizeof path, "/proc/%lu/fd/", strtoul(tracer, NULL, 10));
			shim_open_begin(path, work.plan.head->open_fd);
		}
		enter_tracer((uint32_t)strtoul(tracer, NULL, 10));
		/* These results are for one plan only. posixtrace does not read them. */
		work.patched = work.refused = 0;
		work.why = NULL;
		/* If the shim was preloaded, it may have been started without the family func. */
		if (shim_work_has_functions(&work))
			shim_choose_again("func", true);
		shim_work_forget(&work);
		dl_iterate_phdr(prepare_object, NULL);
		posixtrace_shim_jumps.count = work.jumps;
		for (uint32_t i = 0; i < work.jumps; i++)
			wanted += work.jump[i].is_wanted;
	}
	/*
	 * If new trampolines were made, the plan's memory is kept: trampolines of probes refer to
	 * arguments in it.
	 */
	if (work.batches != before.batches)
		late.memory = NULL;
	atomic_store(&late.is_busy, 0);
	return err ? err : wanted;
}

/*
 * A thread of the parent may have been in posixtrace_shim_plan() or posixtrace_shim_patch(). This
 * thread does not exist in the child. The child has a copy of the list and of the jumps that were
 * written.
 */
void shim_patch_in_child(void)
{
	atomic_store(&late.is_busy, 0);
	late.given_ns = 0;
	shim_open_in_child();
}

#else

/*
 * There are no trampolines for other processors; there the tool refuses the options that need them.
 */
void shim_patch_in_child(void)
{
}

#endif
