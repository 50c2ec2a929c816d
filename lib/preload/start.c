/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/start.c - starts the shim, opens the event types, and counts calls before the start.
 *
 * The first call of a wrapper starts the shim, because constructors of other libraries may run
 * before the shim's own. Two kinds of calls cannot start the shim: calls of the family alloc, which
 * the dynamic linker makes even before the C library is initialized, and calls in a program for
 * which may_begin() is false. The wrapper then only makes the real call, and counts the call as
 * lost. Calls are also not traced while another thread, or the code that a signal handler has
 * interrupted, is starting the shim.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "preload/call.h"
#include "preload/choose.h"
#include "preload/content.h"
#include "preload/environment.h"
#include "preload/inject.h"
#include "preload/known.h"
#include "preload/msan.h"
#include "preload/options.h"
#include "preload/patch.h"
#include "preload/scope.h"
#include "preload/session.h"
#include "preload/shim.h"
#include "preload/stack.h"
#include "preload/start.h"

/* The targets of shim_switch before the shim has started, and for types that are not chosen. */
static const volatile unsigned char not_known_yet = 1, never;

const volatile unsigned char *shim_switch[SHIM_TYPE_COUNT] = {
	[0 ... SHIM_TYPE_COUNT - 1] = &not_known_yet
};
shim_start_data trace_event_id_t shim_id[SHIM_TYPE_COUNT];
shim_start_data struct shim_range shim_own[2];
shim_start_data _Atomic int shim_is_ready;
shim_start_data _Atomic unsigned shim_unreported;

/*
 * True if the program has functions that run before all constructors (DT_PREINIT_ARRAY).
 * AddressSanitizer and other sanitizers start their run-times by such functions. The sanitizers
 * also define mmap(), strcat() and other functions, which must not be called before the run-time
 * has started. The run-time calls wrappers while it starts. When the shim's constructor runs, the
 * run-times of sanitizers have started.
 */
static shim_start_data bool has_preinit;

/*
 * Returns whether the shim may start before its constructor runs. It may not start early with
 * MemorySanitizer. MemorySanitizer starts at the first call of a function that it defines, and the
 * shim may call such a function.
 */
static bool may_begin(void)
{
	return !has_preinit && !__msan_init;
}

/*
 * If AddressSanitizer is a shared library, it checks that it was loaded before every other library.
 * With a preloaded library this check fails. AddressSanitizer calls this function for its options,
 * unless the program defines the function, too. The option in the result turns off the check.
 */
SHIM_WRAPPER const char *__asan_default_options(void);
SHIM_WRAPPER const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* ThreadSanitizer defines this function, in the program or in a library. */
extern __attribute__((weak, visibility("default"))) void __tsan_init(void);

/* LeakSanitizer and AddressSanitizer define this function, in the program or in a library. */
extern __attribute__((weak, visibility("default"))) void __lsan_do_leak_check(void);

/*
 * Returns whether the family alloc cannot be traced. If a program defines mmap(), as sanitizers do,
 * the calls of mmap() by libposixtrace reach that definition, too. These calls would be traced, and
 * recording them would call mmap() again. There are two more reasons. LeakSanitizer recognizes the
 * dynamic linker's memory by the address of the caller, and the caller would be the wrapper. And
 * LeakSanitizer would find the address of leaked memory in the event, and so not report the leak.
 */
static bool has_own_memory(void)
{
	return __lsan_do_leak_check || !shim_is_own((const void *)mmap);
}

/*
 * Returns whether a sanitizer defines a function of this type. If the library called the function,
 * the sanitizer would call the wrapper. The wrapper would trace the call as a call of the program,
 * and this could recurse without end. A statically linked sanitizer may export no function with a
 * name of its own. But it defines fstat() and other functions that the library calls. So the first
 * check also examines these functions.
 */
static bool is_sanitized(enum shim_type type)
{
	if (!__msan_init && !__lsan_do_leak_check && shim_is_own((const void *)fstat) &&
	    shim_is_own((const void *)fcntl) && shim_is_own((const void *)sigaction))
		return false;
	for (const struct shim_wrapped *at = __start_shim_wrapped; at < __stop_shim_wrapped; at++)
		if (at->type == (int)type && !shim_is_own(dlsym(RTLD_DEFAULT, at->name)))
			return true;
	return false;
}

/* 1 as soon as a thread has begun to start the shim. */
static shim_start_data _Atomic int has_begun;
/*
 * Losses since the last report. lost_early counts, for each type, the calls before the shim had
 * started. The types are chosen at the start, and the report includes only the counts of chosen
 * types. lost_unnamed counts events of types without an id, and calls without a free slot.
 * lost_holds counts holds for which there was no free entry.
 */
static shim_start_data _Atomic uint64_t lost_unnamed, lost_holds;
static shim_start_zeros _Atomic uint64_t lost_early[SHIM_TYPE_COUNT];
/*
 * The callers of functions of the family alloc before the shim knows the ranges of addresses of the
 * two libraries (shim_own), with the numbers of their calls. The constructor of libposixtrace makes
 * some of these calls, which are no losses. Callers for which there is no entry count as callers
 * outside the libraries.
 */
#define EARLY_CALLERS 32u
#define EARLY_TYPE    52 /* the type is in the bits above all addresses of a process */
static shim_start_zeros struct {
	_Atomic uintptr_t key; /* the caller and the type; 0: the entry is free */
	_Atomic uint64_t calls;
} early_callers[EARLY_CALLERS];
/* The options are read once, when the types are chosen. The session uses them later. */
static shim_start_data struct shim_options options;

/* Returns whether the dynamic section has an array of functions that run before constructors. */
static bool has_preinit_array(const ElfW(Dyn) *entry)
{
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_PREINIT_ARRAYSZ)
			return entry->d_un.d_val;
	return false;
}

/*
 * Callback of dl_iterate_phdr(): finds the executable segments that contain a function of
 * libposixtrace and of the shim. Returns 1 when both are known.
 */
static int note_range(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	const uintptr_t here[2] = { (uintptr_t)posix_trace_eventid_open, (uintptr_t)note_range };
	int *found = arg;

	(void)bytes;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_DYNAMIC && has_preinit_array((const ElfW(Dyn) *)begin))
			/* only the program, which is the first object, can have such an array */
			has_preinit = true;
		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		for (int k = 0; k < 2; k++)
			if (here[k] - begin < header->p_memsz) {
				shim_own[k].begin = begin;
				shim_own[k].bytes = header->p_memsz;
				shim_own_path[k] = object->dlpi_name;
				++*found;
			}
	}
	return *found == 2;
}

/*
 * Notes the ranges of addresses of libposixtrace and the shim, and the objects of scope.c. After
 * that, scope.c finds functions without the dynamic linker. Two threads may call this function at
 * the same time: they find the same values.
 */
static void note_ranges(void)
{
	int found = 0;

	if (shim_own[1].bytes)
		return;
	dl_iterate_phdr(note_range, &found);
	shim_scope_begin();
}

static trace_event_id_t id_of(enum shim_type type)
{
	return shim_id[type] ? shim_id[type] : shim_stack_id[type];
}

/*
 * Stores the id of a type in one of two arrays: one is for types whose events have a stack, and the
 * other array is for all other types. Other threads may record events of the type meanwhile, so one
 * of the arrays always has the id.
 */
static void store_id(enum shim_type type, trace_event_id_t id)
{
	trace_event_id_t *of[2] = { &shim_id[type], &shim_stack_id[type] };
	const bool has_stack = shim_stack_is_chosen(type);

	__atomic_store_n(of[has_stack], id, __ATOMIC_RELEASE);
	__atomic_store_n(of[!has_stack], 0, __ATOMIC_RELEASE);
}

/*
 * Opens the type and describes its fields. The names are registered in every program that loads
 * the shim, so that a stream can be attached later.
 */
static void open_type(enum shim_type type)
{
	trace_event_id_t id;

	if (posix_trace_eventid_open(shim_name_of(type), &id) ||
	    id == POSIX_TRACE_UNNAMED_USEREVENT)
		return; /* shim_put() counts events that have no type */
	posix_trace_eventid_describe_np(id, shim_schema_of(type));
	store_id(type, id);
}

/*
 * Returns whether the environment turns the shim off. A program with more rights than its caller
 * must not obey the caller's environment, so the shim is always off in such a program.
 */
static bool is_off(void)
{
	const char *word = secure_getenv("POSIXTRACE");

	return getauxval(AT_SECURE) || (word && !strcmp(word, "off"));
}

/* Subtracts early calls of the family alloc that the libraries made. Their ranges are known now. */
static void discount_own_calls(void)
{
	for (unsigned i = 0; i < EARLY_CALLERS; i++) {
		const uintptr_t key = atomic_load_explicit(&early_callers[i].key,
							   memory_order_relaxed);
		const uintptr_t caller = key & (((uintptr_t)1 << EARLY_TYPE) - 1);

		if (shim_is_own((const void *)caller))
			atomic_fetch_sub_explicit(&lost_early[key >> EARLY_TYPE],
						  atomic_load_explicit(&early_callers[i].calls,
								       memory_order_relaxed),
						  memory_order_relaxed);
	}
}

/* Chooses the types by the environment. */
static void choose_types(void)
{
	const char *list = secure_getenv("POSIXTRACE_TRACE");
	bool off = is_off();
	unsigned families;

	shim_options_read(&options, off ? NULL : secure_getenv("POSIXTRACE_OPTIONS"));
	if (options.families)
		list = options.families;
	families = shim_families(list);
	shim_content_begin(shim_content_of(list));
	shim_stack_choose(list);
	if (has_own_memory())
		families &= ~(1u << FAMILY_ALLOC);
	for (enum shim_type type = 0; type < SHIM_TYPE_COUNT; type++) {
		bool wanted = !off &&
			      shim_is_chosen(type, families, options.glob, options.globs) &&
			      !is_sanitized(type);

		if (wanted)
			open_type(type);
		shim_switch[type] = wanted ? posix_trace_active_np : &never;
	}
}

/*
 * Starts the shim, once. Returns whether the shim has started. Returns false while another thread,
 * or the code that a signal handler has interrupted, is starting the shim.
 */
static bool begin_shim(void)
{
	int no = 0, saved = errno;

	if (!atomic_compare_exchange_strong_explicit(&has_begun, &no, 1, memory_order_acq_rel,
						     memory_order_relaxed))
		return atomic_load_explicit(&shim_is_ready, memory_order_acquire);
	discount_own_calls();
	choose_types();
	/* The store is a release, because the switches and ids must be visible before it. */
	atomic_store_explicit(&shim_is_ready, SHIM_READY, memory_order_release);
	errno = saved;
	return true;
}

/*
 * The switches may be read by threads that are in a wrapper, so each switch is stored by one atomic
 * store. Types that were opened for an earlier tracer keep their numbers.
 */
void shim_choose_again(const char *families, bool adds)
{
	unsigned chosen = families ? shim_families(families) : 0;

	if (!adds) {
		atomic_store_explicit(&posixtrace_shim_content, shim_content_of(families),
				      memory_order_relaxed);
		shim_stack_choose(families);
	}
	for (enum shim_type type = 0; type < SHIM_TYPE_COUNT; type++) {
		bool wanted = families && shim_is_chosen(type, chosen, NULL, 0);

		if (adds && shim_switch[type] == posix_trace_active_np)
			continue;
		if (wanted && !id_of(type))
			open_type(type);
		else if (wanted)
			store_id(type, id_of(type));
		__atomic_store_n(&shim_switch[type], wanted ? posix_trace_active_np : &never,
				 __ATOMIC_RELEASE);
	}
}

/* Returns a count and makes it 0. Nothing is stored in a count of 0, so its page stays shared. */
static uint64_t take_lost(_Atomic uint64_t *count)
{
	if (!atomic_load_explicit(count, memory_order_relaxed))
		return 0;
	return atomic_exchange_explicit(count, 0, memory_order_relaxed);
}

static void count_lost(_Atomic uint64_t *count)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	/* The store is a release, so that a thread that sees the flag also sees the count. */
	atomic_store_explicit(&shim_unreported, 1, memory_order_release);
}

/*
 * After this call, every wrapper checks whether its thread is blind. The state never returns to
 * SHIM_READY.
 */
void shim_some_are_blind(void)
{
	int ready = SHIM_READY;

	atomic_compare_exchange_strong_explicit(&shim_is_ready, &ready, SHIM_SOME_ARE_BLIND,
						memory_order_release, memory_order_relaxed);
}

/*
 * Returns whether ThreadSanitizer or the program replaces dl_iterate_phdr(). A sanitizer in a
 * library is behind the shim, where dlsym() finds its function. One in the program may export no
 * name of its own.
 */
static bool has_own_objects(void)
{
	return __tsan_init ||
	       dlsym(RTLD_NEXT, "dl_iterate_phdr") != (void *)dl_iterate_phdr;
}

/* Counts a call for discount_own_calls(). A program has few such callers. */
static void note_early_caller(enum shim_type type, const void *caller)
{
	const uintptr_t key = (uintptr_t)caller | (uintptr_t)type << EARLY_TYPE;

	for (unsigned i = 0; i < EARLY_CALLERS; i++) {
		uintptr_t there = 0;

		if (!atomic_compare_exchange_strong_explicit(&early_callers[i].key, &there, key,
							     memory_order_relaxed,
							     memory_order_relaxed) &&
		    there != key)
			continue;
		atomic_fetch_add_explicit(&early_callers[i].calls, 1, memory_order_relaxed);
		return;
	}
}

/*
 * Handles a call before the shim has started. Returns whether to trace the call. libposixtrace's
 * own constructor calls wrappers, too; these calls do not belong to the program.
 */
static bool early_call(enum shim_type type, const void *caller)
{
	/*
	 * A call of the family alloc must not start the shim, because the start would call
	 * functions of this family again. Neither must a call of ThreadSanitizer, which calls
	 * getrlimit() before it can handle calls of the functions that it replaces, such as
	 * dl_iterate_phdr().
	 */
	if (shim_family_of(type) == FAMILY_ALLOC || has_own_objects()) {
		if (shim_is_own(caller))
			return false;
		if (!shim_own[1].bytes)
			note_early_caller(type, caller);
	} else {
		note_ranges();
		if (shim_is_own(caller))
			return false;
		if (may_begin() && begin_shim())
			return *shim_switch[type];
	}
	count_lost(&lost_early[type]);
	return false;
}

bool shim_unusual_call(enum shim_type type, const void *caller)
{
	if (atomic_load_explicit(&shim_is_ready, memory_order_acquire) == SHIM_NOT_READY)
		return early_call(type, caller);
	if (!shim_is_blind && !shim_is_guest())
		return true;
	/* The library counts the event as lost by its type, and reads no clock. */
	if (!shim_is_own(caller) && id_of(type))
		posix_trace_event_at_np(id_of(type), NULL, 0, caller);
	return false;
}

void shim_lose_unnamed(void)
{
	count_lost(&lost_unnamed);
}

void shim_put_unusual(enum shim_type type, const void *data, size_t len, const void *caller)
{
	if (__atomic_load_n(&shim_stack_id[type], __ATOMIC_ACQUIRE))
		shim_stack_put(type, data, len, caller);
	else
		shim_lose_unnamed();
}

void shim_lose_hold(void)
{
	count_lost(&lost_holds);
}

/*
 * Reports the losses by an event of the shim. If several threads call this function at the same
 * time, the exchange makes only one of them report. If no stream traces the process any more, the
 * losses remain, and the next stream gets the report.
 */
void shim_report_lost(void)
{
	struct {
		uint64_t early, unnamed, holds, early_alloc;
	} data = { 0, 0, 0, 0 };

	if (!atomic_load_explicit(&shim_is_ready, memory_order_acquire) ||
	    !*posix_trace_active_np ||
	    !atomic_exchange_explicit(&shim_unreported, 0, memory_order_acquire))
		return;
	for (enum shim_type type = 0; type < SHIM_TYPE_COUNT; type++) {
		const uint64_t lost = take_lost(&lost_early[type]);

		if (shim_switch[type] != posix_trace_active_np)
			continue;
		data.early += lost;
		if (shim_family_of(type) == FAMILY_ALLOC)
			data.early_alloc += lost;
	}
	/*
	 * A count may have grown since the flag was cleared. The new losses are then reported now,
	 * and the next call may find nothing to report.
	 */
	data.unnamed = take_lost(&lost_unnamed);
	data.holds = take_lost(&lost_holds);
	if (data.early || data.unnamed || data.holds)
		posix_trace_event(shim_id[SHIM_LOST], &data, sizeof data);
}

/*
 * Forgets all losses. In a child they are those of the parent, which reports them. At the start of
 * a process that no stream traces, they are losses of no stream.
 */
static void forget_lost(void)
{
	for (enum shim_type type = 0; type < SHIM_TYPE_COUNT; type++)
		take_lost(&lost_early[type]);
	take_lost(&lost_unnamed);
	take_lost(&lost_holds);
	atomic_store_explicit(&shim_unreported, 0, memory_order_relaxed);
}

void shim_after_copy(void)
{
	shim_self_copied();
	forget_lost();
	shim_in_child();
	shim_threads_in_child();
	shim_inject_in_child();
	shim_patch_in_child();
}

/* The fork handler that runs in the child. */
static void after_fork_in_child(void)
{
	shim_self_forked();
	shim_after_copy();
}

/*
 * The constructor of a shim that was loaded into a running process. The environment of the process
 * was not made for this shim, so its variables are ignored. Before posixtrace_shim_attach(), no
 * type is chosen, and no call of the program reaches a wrapper.
 */
static void start_injected(void)
{
	shim_choose_again(NULL, false);
	atomic_store_explicit(&has_begun, 1, memory_order_relaxed);
	shim_self_begin();
	shim_find_known(true);
	shim_inject_begin();
	shim_syscall_begin();
	pthread_atfork(NULL, NULL, after_fork_in_child);
	atomic_store_explicit(&shim_is_ready, SHIM_READY, memory_order_release);
}

/*
 * The shim's constructor. The order of its steps is necessary: the ranges must be known before the
 * library calls the first wrapper, the process id before the first event, and the known memory
 * before the first string is recorded.
 */
static void __attribute__((constructor)) start_shim(void)
{
	shim_msan_pause();
	note_ranges();
	if (shim_is_injected()) {
		start_injected();
		shim_msan_resume();
		return;
	}
	begin_shim();
	shim_self_begin();
	shim_find_known(false);
	shim_find_begin();
	shim_syscall_begin();
	pthread_atfork(NULL, NULL, after_fork_in_child);
	shim_session_begin(&options);
	if (!*posix_trace_active_np)
		forget_lost();
	shim_process_begins();
	shim_patch_begin();
	shim_msan_resume();
}

/*
 * The destructor of the shim. The shim depends on libposixtrace, so this destructor runs before the
 * destructor of libposixtrace, and the last event is still recorded.
 */
static void __attribute__((destructor)) end_shim(void)
{
	shim_msan_pause();
	shim_process_ends();
	if (*posix_trace_active_np)
		shim_report_lost();
	shim_msan_resume();
}
