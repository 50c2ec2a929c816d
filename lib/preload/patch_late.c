/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_late.c - plans that posixtrace writes into a process that was running already.
 *
 * Other threads execute the code, so that only trampolines and a list of jumps are prepared here.
 * posixtrace writes the jumps while all threads are stopped.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "preload/inject.h"
#include "preload/patch_module.h"
#include "preload/shim.h"

#if defined __x86_64__

#define GIVEN_NS UINT64_C(10000000000) /* a tracer that is slower than that has ended */

/*
 * The interface to posixtrace: memory for a plan, then the plan is carried out up to the jumps.
 * Both return a negative error number if that is impossible. shim_jumps in patch_plan.h has the
 * list of the jumps.
 */
SHIM_WRAPPER long posixtrace_shim_plan(const char *bytes);
SHIM_WRAPPER long posixtrace_shim_patch(const char *tracer);
struct shim_jumps posixtrace_shim_jumps;

/*
 * The last plan. Its list is posixtrace_shim_jumps, to which each plan appends: an element never
 * changes its place, because a tracer may read it meanwhile.
 */
static struct shim_work work = { .is_late = true };

/* The memory for a plan, and whether a thread is here. */
static struct {
	_Atomic int is_busy;
	void *memory;
	size_t bytes;
	/* When a tracer got the memory, into which it may still write; 0: the plan was taken. */
	uint64_t given_ns;
} late;

/*
 * Callback of dl_iterate_phdr(): prepares the jumps of the object if the plan has it. Its code does
 * not change here, because other threads execute it.
 */
static int prepare_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size, (void)arg;
	shim_work_object(&work, object);
	return 0;
}

/*
 * Returns the address of memory into which posixtrace writes a plan. Memory of a former plan that
 * no trampoline refers to is released. While a tracer writes its plan, another one waits. A tracer
 * that was killed meanwhile leaves its memory mapped: it may only have been slow. bytes is the size
 * as text, because the call has a string.
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
 * Prepares what the plan needs in general: slots for functions, and the list of jumps. Returns 0,
 * or a negative error number. Both remain for later plans.
 */
static int begin_late(void)
{
	if (shim_work_has_functions(&work) && shim_has_shadow_stack())
		return -ENOTSUP;
	if (!work.jump && !shim_work_list(&work, SHIM_JUMPS))
		return -ENOMEM;
	posixtrace_shim_jumps.jump = (uint64_t)(uintptr_t)work.jump;
	/*
	 * The slots in use must keep their return addresses, so that they are prepared once. The
	 * library of the unwinder is loaded by the thread that also loads the shim.
	 */
	if (shim_work_has_functions(&work) && !shim_slots_are_used() && !shim_slots_begin())
		return -ENOMEM;
	return 0;
}

/*
 * Enters a tracer, once. If there is no room, it leaves like one that was not entered. The number
 * of a tracer that was killed remains until another tracer removes it. One thread at a time is
 * here, but a tracer may remove itself meanwhile.
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
 * Called by a thread that posixtrace has stopped at a safe place, as posixtrace_shim_attach().
 * tracer is the process id of posixtrace as text, because the call has a string. Returns the number
 * of jumps that are wanted. After an error the former plan is still the one that modules are
 * patched by.
 */
long posixtrace_shim_patch(const char *tracer)
{
	const struct shim_work before = work;
	long wanted = 0;
	int err;

	if (atomic_exchange(&late.is_busy, 1))
		return -EAGAIN;
	late.given_ns = 0;
	if (!late.memory || shim_plan_take(&work.plan, late.memory, late.bytes))
		err = -EINVAL;
	else
		err = begin_late();
	if (!err && !shim_work_types(&work))
		err = -EEXIST;
	if (err) {
		/* The list remains: posixtrace may read it at any time. */
		struct shim_jump *list = work.jump;
		uint32_t room = work.room;

		work = before;
		work.jump = list;
		work.room = room;
	} else {
		enter_tracer((uint32_t)strtoul(tracer, NULL, 10));
		/* The counts are those of this plan. posixtrace gets the number of jumps only. */
		work.patched = work.refused = 0;
		work.why = NULL;
		/* A shim that was preloaded may have chosen other families. */
		if (shim_work_has_functions(&work))
			shim_choose_again("func", true);
		shim_work_forget(&work);
		dl_iterate_phdr(prepare_object, NULL);
		posixtrace_shim_jumps.count = work.jumps;
		for (uint32_t i = 0; i < work.jumps; i++)
			wanted += work.jump[i].is_wanted;
	}
	/* Trampolines of probes refer to the arguments in the plan, which then remains. */
	if (work.batches != before.batches)
		late.memory = NULL;
	atomic_store(&late.is_busy, 0);
	return err ? err : wanted;
}

/*
 * A thread of the parent may have been in one of the two functions. The child has a copy of the
 * list and of the jumps that were written.
 */
void shim_patch_in_child(void)
{
	atomic_store(&late.is_busy, 0);
	late.given_ns = 0;
}

#else

/* Other processors have no trampolines here: the tool refuses the options. */
void shim_patch_in_child(void)
{
}

#endif
