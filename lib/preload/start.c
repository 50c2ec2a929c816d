/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/start.c - what was chosen, event types, and the calls that came too early.
 *
 * The shim begins with the first call of a wrapper, since constructors of other libraries may run
 * before its own. But memory is allocated by the dynamic linker before anything has begun, the C
 * library included: such calls are passed on and counted. Neither is anything traced that is called
 * while another thread, or the code that a handler interrupted, is about to begin.
 */
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "preload/choose.h"
#include "preload/environment.h"
#include "preload/known.h"
#include "preload/msan.h"
#include "preload/options.h"
#include "preload/session.h"
#include "preload/shim.h"
#include "preload/start.h"

static const volatile unsigned char not_known_yet = 1, never;

const volatile unsigned char *shim_switch[SHIM_TYPE_COUNT] = {
	[0 ... SHIM_TYPE_COUNT - 1] = &not_known_yet
};
trace_event_id_t shim_id[SHIM_TYPE_COUNT];
struct shim_range shim_own[2];
_Atomic int shim_is_ready;
_Atomic unsigned shim_untold;

/*
 * Whether something of the program runs before all constructors: a DT_PREINIT_ARRAY. By it the
 * run-times of AddressSanitizer and other sanitizers begin. These define mmap(), strcat() and the
 * like, which must not be called before they have begun; and they call wrappers while they begin.
 * They have begun when the shim's constructor runs.
 */
static bool has_preinit;

/*
 * MemorySanitizer begins with the first call of a function that it defines, which may be one of
 * ours.
 */
static bool may_begin(void)
{
	return !has_preinit && !__msan_init;
}

/*
 * AddressSanitizer as a shared library insists that it is before every other one, which no
 * preloaded library lets it be. It calls this function, unless the program defines it as well, for
 * its options.
 */
SHIM_WRAPPER const char *__asan_default_options(void);
SHIM_WRAPPER const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* Defined by LeakSanitizer and AddressSanitizer, in the program or as a library. */
extern __attribute__((weak, visibility("default"))) void __lsan_do_leak_check(void);

/*
 * Whether family alloc cannot be traced. A program that defines mmap(), as sanitizers do, also gets
 * the calls of this library; they would be traced, and call mmap() again. And LeakSanitizer
 * recognizes the dynamic linker's memory by the address of the call, and would find a leak's
 * address in the event.
 */
static bool has_own_memory(void)
{
	return __lsan_do_leak_check || !shim_is_own((const void *)mmap);
}

static _Atomic int has_begun;
static _Atomic uint64_t lost_early[FAMILY_COUNT], lost_unnamed, lost_holds;
static struct shim_options options;

static const struct {
	const char *name, *schema;
} types[SHIM_TYPE_COUNT] = {
#define TYPE(type, family, name, schema) [type] = { name, schema },
	SHIM_TYPES(TYPE)
#undef TYPE
};

static bool has_preinit_array(const ElfW(Dyn) *entry)
{
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_PREINIT_ARRAYSZ)
			return entry->d_un.d_val;
	return false;
}

static int note_range(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	const uintptr_t here[2] = { (uintptr_t)posix_trace_eventid_open, (uintptr_t)note_range };
	int *found = arg;

	(void)bytes;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_DYNAMIC && has_preinit_array((const ElfW(Dyn) *)begin))
			has_preinit = true; /* only the program can have one; it comes first */
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

/* Whoever is first; a second one finds the same. */
static void note_ranges(void)
{
	int found = 0;

	if (!shim_own[1].bytes)
		dl_iterate_phdr(note_range, &found);
}

static void open_type(enum shim_type type)
{
	trace_event_id_t id;

	if (posix_trace_eventid_open(types[type].name, &id) || id == POSIX_TRACE_UNNAMED_USEREVENT)
		return; /* shim_put() counts what it cannot name */
	posix_trace_eventid_describe_np(id, types[type].schema);
	shim_id[type] = id;
}

/* A program with more rights than its caller takes no orders from the environment. */
static bool is_off(void)
{
	const char *word = secure_getenv("POSIXTRACE");

	return getauxval(AT_SECURE) || (word && !strcmp(word, "off"));
}

static void choose(void)
{
	const char *list = secure_getenv("POSIXTRACE_TRACE");
	bool off = is_off();
	unsigned families;

	shim_options_read(&options, off ? NULL : secure_getenv("POSIXTRACE_OPTIONS"));
	families = shim_families(options.families ? options.families : list);
	if (has_own_memory())
		families &= ~(1u << FAMILY_ALLOC);
	for (enum shim_type type = 0; type < SHIM_TYPE_COUNT; type++) {
		bool wanted = !off && shim_is_chosen(type, families, options.glob, options.globs);

		if (wanted)
			open_type(type);
		shim_switch[type] = wanted ? posix_trace_active_np : &never;
	}
	for (enum shim_family family = 0; family < FAMILY_COUNT; family++)
		if (off || !(families >> family & 1))
			atomic_store_explicit(&lost_early[family], 0, memory_order_relaxed);
}

static bool begin(void)
{
	int no = 0, saved = errno;

	if (!atomic_compare_exchange_strong_explicit(&has_begun, &no, 1, memory_order_acq_rel,
						     memory_order_relaxed))
		return atomic_load_explicit(&shim_is_ready, memory_order_acquire);
	choose();
	atomic_store_explicit(&shim_is_ready, SHIM_READY, memory_order_release);
	errno = saved;
	return true;
}

static void count_lost(_Atomic uint64_t *count)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	atomic_store_explicit(&shim_untold, 1, memory_order_release); /* with what is counted */
}

void shim_some_are_blind(void)
{
	int ready = SHIM_READY;

	atomic_compare_exchange_strong_explicit(&shim_is_ready, &ready, SHIM_SOME_ARE_BLIND,
						memory_order_release, memory_order_relaxed);
}

/* libposixtrace's own constructor calls wrappers too. */
static bool early_call(enum shim_type type, const void *caller)
{
	enum shim_family family = shim_family_of(type);

	if (family != FAMILY_ALLOC) {
		note_ranges();
		if (shim_is_own(caller))
			return false;
		if (may_begin() && begin())
			return *shim_switch[type];
	}
	count_lost(&lost_early[family]);
	return false;
}

bool shim_unusual_call(enum shim_type type, const void *caller)
{
	if (atomic_load_explicit(&shim_is_ready, memory_order_acquire) == SHIM_NOT_READY)
		return early_call(type, caller);
	if (!shim_is_blind)
		return true;
	/* The library counts it, by its type and thread, and reads no clock. */
	if (!shim_is_own(caller) && shim_id[type])
		posix_trace_event_at_np(shim_id[type], NULL, 0, caller);
	return false;
}

void shim_lose_unnamed(void)
{
	count_lost(&lost_unnamed);
}

void shim_lose_hold(void)
{
	count_lost(&lost_holds);
}

void shim_tell_lost(void)
{
	struct {
		uint64_t early, unnamed, holds, early_alloc;
	} data = { 0, 0, 0, 0 };

	if (!atomic_load_explicit(&shim_is_ready, memory_order_acquire) ||
	    !atomic_exchange_explicit(&shim_untold, 0, memory_order_acquire))
		return;
	for (enum shim_family family = 0; family < FAMILY_COUNT; family++) {
		uint64_t lost =
			atomic_exchange_explicit(&lost_early[family], 0, memory_order_relaxed);

		data.early += lost;
		if (family == FAMILY_ALLOC)
			data.early_alloc = lost;
	}
	data.unnamed = atomic_exchange_explicit(&lost_unnamed, 0, memory_order_relaxed);
	data.holds = atomic_exchange_explicit(&lost_holds, 0, memory_order_relaxed);
	if (data.early || data.unnamed || data.holds)
		posix_trace_event(shim_id[SHIM_LOST], &data, sizeof data);
}

/* Its parent's losses are its parent's to tell. */
static void in_child(void)
{
	shim_self_forked();
	for (enum shim_family family = 0; family < FAMILY_COUNT; family++)
		atomic_store_explicit(&lost_early[family], 0, memory_order_relaxed);
	atomic_store_explicit(&lost_unnamed, 0, memory_order_relaxed);
	atomic_store_explicit(&lost_holds, 0, memory_order_relaxed);
	atomic_store_explicit(&shim_untold, 0, memory_order_relaxed);
	shim_in_child();
	shim_threads_in_child();
}

static void __attribute__((constructor)) start(void)
{
	shim_msan_pause();
	note_ranges();
	begin();
	shim_self_begin();
	shim_know();
	shim_find_all();
	shim_syscall_begin();
	pthread_atfork(NULL, NULL, in_child);
	shim_session_begin(&options);
	/* What came before anybody traced is nobody's loss. */
	if (!*posix_trace_active_np)
		atomic_store_explicit(&shim_untold, 0, memory_order_relaxed);
	shim_process_begins();
	shim_msan_resume();
}

/* Before libposixtrace's own, since the shim depends on it. */
static void __attribute__((destructor)) end(void)
{
	shim_msan_pause();
	shim_process_ends();
	if (*posix_trace_active_np)
		shim_tell_lost();
	shim_msan_resume();
}
