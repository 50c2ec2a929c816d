/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/inject.c - attaches and detaches the shim in a process that was running already.
 *
 * posixtrace makes one thread of the process call dlopen() for the shim, then
 * posixtrace_shim_attach(). When the tracer leaves, a thread calls posixtrace_shim_detach(). The
 * shim remains loaded, because another thread may be in a wrapper or return into one.
 *
 * The next function of a wrapper must be the definition that the program's own modules use. That is
 * the definition in the global scope. RTLD_NEXT would search the scope of the shim instead, and
 * would not find an allocator that the program has preloaded.
 */
#include "preload/inject.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/epoll.h>

#include "preload/call.h"
#include "preload/choose.h"
#include "preload/environment.h"
#include "preload/io.h"
#include "preload/shim.h"
#include "preload/slots.h"

#define WRAPPERS 1024 /* a power of two, more than twice the number of wrappers */
#define LIBC     "libc.so.6"

/*
 * The interface to posixtrace, which finds these names in the shim's symbol table. The state of a
 * shim is PRELOADED at first. The constructor changes it to LOADED if the shim was injected.
 * posixtrace_shim_attach() and posixtrace_shim_detach() change it between LOADED and ATTACHED.
 */
enum { STATE_PRELOADED, STATE_LOADED, STATE_ATTACHED };

/* posixtrace reads this variable in the memory of the process. */
SHIM_WRAPPER extern _Atomic int posixtrace_shim_state;
_Atomic int posixtrace_shim_state = STATE_PRELOADED;

/*
 * Both functions return the result of a walk (SHIM_SLOTS_... in patch_plan.h), or a negative error
 * number.
 */
SHIM_WRAPPER long posixtrace_shim_attach(const char *families);
SHIM_WRAPPER long posixtrace_shim_detach(void);

/* The linker defines these symbols around a section whose name is an identifier. */
extern struct shim_next __start_shim_nexts[] __attribute__((visibility("hidden")));
extern struct shim_next __stop_shim_nexts[] __attribute__((visibility("hidden")));

/* A hash table by name, with open addressing. It is complete before the first slot changes. */
static struct shim_wrapper wrappers[WRAPPERS];
static bool has_wrappers;
/* The program and the C library. They are never closed. */
static void *program, *libc;
/*
 * An attach writes the table of wrappers first, then the state, and then the slots. Because of this
 * order, a thread that reaches a wrapper through a slot finds the table and the state complete.
 */

/*
 * 1 while a thread walks over the modules. 2 if another thread has asked for one more walk
 * meanwhile.
 */
static _Atomic int is_walking;
/* True if a call of dlopen() that did not return to the shim may have loaded modules. */
static atomic_bool may_have_loaded;

/* The list of families of the tracer that attached when no other was attached. Ends with a NUL. */
char shim_inject_list[SHIM_INJECT_LIST];
static atomic_bool follows; /* whether a tracer records children */

/*
 * If the dynamic linker binds any name of the C library to the shim, the shim precedes the C
 * library in the search order, so the shim was preloaded. A program may define functions with such
 * names. A sanitizer in the program defines many of them, but not all, so all names are examined.
 * In most programs the first one is sufficient. A name that the C library does not have shows
 * nothing.
 */
bool shim_is_injected(void)
{
	if (shim_is_own((const void *)epoll_pwait2))
		return false;
	for (const struct shim_wrapped *at = __start_shim_wrapped; at < __stop_shim_wrapped; at++)
		if (shim_is_own(dlsym(RTLD_DEFAULT, at->name)) && dlsym(RTLD_NEXT, at->name))
			return false;
	return true;
}

/* Returns the hash of a name by Bernstein's function, which is good enough for function names. */
static unsigned hash_of(const char *name)
{
	unsigned hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* Returns the entry of the name, or the free entry where the name belongs. */
static struct shim_wrapper *place_of(const char *name)
{
	unsigned i = hash_of(name) % WRAPPERS;

	while (wrappers[i].name && strcmp(wrappers[i].name, name))
		i = (i + 1) % WRAPPERS;
	return &wrappers[i];
}

/*
 * Returns the wrapper of a function, or NULL. It is the function of the type shim_wrapper_find that
 * slots.c calls for each slot of each module.
 */
static const struct shim_wrapper *find_wrapper(const char *name)
{
	const struct shim_wrapper *wrapper = place_of(name);

	return wrapper->name ? wrapper : NULL;
}

/*
 * Returns whether the address is an entry in the linkage table of a program that is not
 * position-independent. Such a program uses the entry as the address of a library's function. The
 * symbol of the entry is undefined.
 */
static bool is_canonical(void *address)
{
	const ElfW(Sym) *symbol;
	Dl_info info;

	return dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       info.dli_saddr == address && symbol->st_shndx == SHN_UNDEF;
}

/* Returns whether the address belongs to the program itself and not to a library. */
static bool is_in_program(void *address)
{
	struct link_map *map;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map && !*map->l_name;
}

/*
 * Finds the function that the program's modules call by this name. Returns NULL for a function that
 * the program defines. Calls of such a function are not redirected: with LD_PRELOAD they would not
 * reach a wrapper either.
 */
static void *real_of(const char *name, void **canonical)
{
	void *function = dlsym(program, name);

	*canonical = NULL;
	if (function && is_canonical(function)) {
		*canonical = function;
		function = dlsym(libc, name);
	}
	return function && (is_in_program(function) || shim_is_own(function)) ? NULL : function;
}

/*
 * A function that the program defines itself is never wrapped. But the wrapper of another function
 * may call next() with its name. This call needs the definition of the C library.
 */
void shim_inject_begin(void)
{
	void *canonical;

	atomic_store_explicit(&posixtrace_shim_state, STATE_LOADED, memory_order_relaxed);
	program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
	libc = dlopen(LIBC, RTLD_LAZY | RTLD_NOLOAD);
	for (struct shim_next *at = __start_shim_nexts; at < __stop_shim_nexts; at++) {
		void *function = real_of(at->name, &canonical);

		if (!function)
			function = dlsym(libc, at->name);
		atomic_store_explicit(&at->function, function ? function : shim_otherwise(at),
				      memory_order_release);
	}
	dlerror(); /* removes the messages about functions that do not exist here */
}

#if defined __x86_64__

/* The real dlsym() and dlvsym(), to which the assembly below jumps. */
__attribute__((used, visibility("hidden"))) void *shim_inject_dlsym_next[2];
__attribute__((visibility("hidden"))) void shim_inject_dlsym(void);
__attribute__((visibility("hidden"))) void shim_inject_dlvsym(void);
/* The assembly calls this function. */
__attribute__((used)) void shim_inject_look(void);

/*
 * Runs before each dlsym(). If dlopen() did not return to the shim, it has returned to the program
 * by now. The slots of the modules that it loaded are then redirected here.
 */
void shim_inject_look(void)
{
	if (atomic_exchange_explicit(&may_have_loaded, false, memory_order_relaxed))
		shim_inject_loaded();
}

/*
 * The result of dlsym() and dlvsym() depends on their caller, so the wrapper jumps to them instead
 * of calling them. It saves the three arguments on the stack, which also aligns the stack.
 */
#define JUMP(name, offset) \
	"	.text\n" \
	"	.hidden " name "\n" \
	"	.globl " name "\n" \
	"	.type " name ", @function\n" \
	"	.p2align 4\n" \
	name ":\n" \
	"	.cfi_startproc\n" \
	"	endbr64\n" \
	"	pushq %rdi\n" \
	"	.cfi_adjust_cfa_offset 8\n" \
	"	pushq %rsi\n" \
	"	.cfi_adjust_cfa_offset 8\n" \
	"	pushq %rdx\n" \
	"	.cfi_adjust_cfa_offset 8\n" \
	"	call shim_inject_look\n" \
	"	popq %rdx\n" \
	"	.cfi_adjust_cfa_offset -8\n" \
	"	popq %rsi\n" \
	"	.cfi_adjust_cfa_offset -8\n" \
	"	popq %rdi\n" \
	"	.cfi_adjust_cfa_offset -8\n" \
	"	jmp *shim_inject_dlsym_next+" offset "(%rip)\n" \
	"	.cfi_endproc\n" \
	"	.size " name ", . - " name "\n"

__asm__(JUMP("shim_inject_dlsym", "0") JUMP("shim_inject_dlvsym", "8"));

#endif

/*
 * Enters a wrapper into the table. If its real function is missing, the function's slots are not
 * redirected.
 */
static void add_wrapper(const char *name, void *function)
{
	struct shim_wrapper *wrapper = place_of(name);

	*wrapper = (struct shim_wrapper){ .name = name, .wrapper = function };
	wrapper->real = real_of(name, &wrapper->canonical);
}

/*
 * Returns the number of symbols in a DT_GNU_HASH table: 1 + the number of the last symbol that is
 * in a chain. The table begins with four numbers. A Bloom filter follows; the third of the four
 * numbers is the number of its words. The first symbols of all buckets are behind the filter, and
 * then the hashes of all symbols. A hash is odd at the end of a chain.
 */
static size_t symbols_of(const uint32_t *hash)
{
	uint32_t buckets = hash[0], first = hash[1], last = 0;
	const ElfW(Addr) *bloom = (const void *)(hash + 4);
	const uint32_t *bucket = (const uint32_t *)(bloom + hash[2]);
	const uint32_t *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		if (bucket[i] > last)
			last = bucket[i];
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

/*
 * Collects the wrappers from the shim's own symbol table: all functions that it exports, except its
 * interface to posixtrace and its functions for AddressSanitizer. Returns false if the table cannot
 * be found.
 */
static bool collect_wrappers(void)
{
	void *self = dlopen(shim_own_path[1], RTLD_LAZY | RTLD_NOLOAD);
	const ElfW(Sym) *symbol = NULL;
	const uint32_t *hash = NULL;
	const char *string = NULL;
	struct link_map *map;
	size_t count;

	if (!self || !program || !libc || dlinfo(self, RTLD_DI_LINKMAP, &map))
		return false;
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SYMTAB)
			symbol = (const void *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_STRTAB)
			string = (const void *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_GNU_HASH)
			hash = (const void *)entry->d_un.d_ptr;
	if (!symbol || !string || !hash)
		return false;
	count = symbols_of(hash);
	for (size_t i = 0; i < count; i++) {
		const char *name = string + symbol[i].st_name;

		if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC &&
		    symbol[i].st_shndx != SHN_UNDEF && strncmp(name, "posixtrace_", 11) &&
		    strncmp(name, "__asan_", 7))
			add_wrapper(name, (void *)(map->l_addr + symbol[i].st_value));
	}
#if defined __x86_64__
	add_wrapper("dlsym", (void *)shim_inject_dlsym);
	add_wrapper("dlvsym", (void *)shim_inject_dlvsym);
	shim_inject_dlsym_next[0] = place_of("dlsym")->real;
	shim_inject_dlsym_next[1] = place_of("dlvsym")->real;
#endif
	return true;
}

/*
 * Returns whether the program runs under a sanitizer. Its run-time has wrappers of its own, in the
 * program or in a library, and may call them in states in which the shim must not run. So the
 * sanitizer's own redirection of calls stays as it is.
 */
static bool has_sanitizer(void)
{
	static const char *const names[] = { "__asan_init", "__tsan_init", "__msan_init",
					     "__hwasan_init", "__lsan_init" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (dlsym(program, names[i]))
			return true;
	return false;
}

/*
 * Returns whether this thread may walk. Otherwise the thread that is walking will walk once more.
 */
static bool begin_walk(void)
{
	int no = 0;

	if (atomic_compare_exchange_strong(&is_walking, &no, 1))
		return true;
	/* If the other thread has just ended its walk, this thread takes over. */
	return atomic_exchange(&is_walking, 2) == 0;
}

/*
 * Ends a walk. Returns whether another walk is needed, because a thread asked for it during this
 * walk. In that case the caller is still the thread that walks.
 */
static bool end_walk(void)
{
	return atomic_fetch_sub(&is_walking, 1) == 2;
}

/*
 * Ends the walks although other threads may have asked for one more: no walk is needed, because no
 * tracer is attached.
 */
static void stop_walk(void)
{
	while (end_walk())
		;
}

/*
 * Redirects slots, and does so again as long as other threads have asked for one more walk
 * meanwhile. Returns the result of the first walk. The caller has called begin_walk(), and the
 * memory for walks is reserved.
 */
static long inject_walk(bool is_new)
{
	const struct shim_slots slots = { find_wrapper, program };
	const long value = shim_slots_redirect(&slots, is_new);

	while (end_walk())
		shim_slots_redirect(&slots, true);
	return value;
}

/*
 * Stores the list of families for executed programs, and whether children are recorded. Another
 * thread may copy the list meanwhile only if a tracer is attached, and then the list does not
 * change. A list that is too long would end within a name, so the programs get the default families
 * instead.
 */
static void note_list(const char *list, bool adds)
{
	const bool was_following = adds && atomic_load(&follows);

	if (!adds)
		strcpy(shim_inject_list, strlen(list) < sizeof shim_inject_list ? list : "default");
	atomic_store(&follows, was_following || shim_number_of(list, SHIM_FOLLOW_NAME, 1));
}

/*
 * Called by a thread that posixtrace has stopped at a safe place, on a stack of its own and with
 * signals blocked. The table of wrappers is made once: real functions do not change.
 */
long posixtrace_shim_attach(const char *families)
{
	bool adds;

	if (atomic_load(&posixtrace_shim_state) == STATE_PRELOADED)
		return -EALREADY;
	/* posixtrace tries again later: the thread that is walking needs only milliseconds. */
	if (!begin_walk())
		return -EAGAIN;
	if (!has_wrappers)
		has_wrappers = program && !has_sanitizer() && collect_wrappers();
	if (!has_wrappers || !shim_slots_reserve()) {
		stop_walk();
		return has_wrappers ? -ENOMEM : -ENOTSUP;
	}
	/*
	 * Entries for liburing may be out of date, because the wrapper of dlclose() is not called
	 * while no tracer is attached.
	 */
	shim_uring_unloaded();
	/* If another tracer is attached, the types that it has chosen remain chosen. */
	adds = *posix_trace_active_np;
	note_list(families, adds);
	shim_choose_again(families, adds);
	atomic_store(&posixtrace_shim_state, STATE_ATTACHED);
	return inject_walk(false);
}

/*
 * Called in the same way as posixtrace_shim_attach(). Threads that are in a wrapper at this moment
 * return through the wrapper, because the shim is never unloaded.
 */
long posixtrace_shim_detach(void)
{
	const struct shim_slots slots = { find_wrapper, program };
	long value;

	/* Another tracer may still have a stream. */
	if (atomic_load(&posixtrace_shim_state) != STATE_ATTACHED || *posix_trace_active_np)
		return 0;
	if (!begin_walk())
		return -EAGAIN;
	/* From now on no thread begins a walk of its own. */
	atomic_store(&posixtrace_shim_state, STATE_LOADED);
	/*
	 * The slots are restored first. A call that still reaches a wrapper afterwards is traced
	 * until no type is chosen any more.
	 */
	value = shim_slots_restore(&slots);
	shim_choose_again(NULL, false);
	stop_walk();
	return value;
}

/*
 * A relaxed load is sufficient. An answer that is out of date has one of two effects: a new module
 * is not redirected, or shim_inject_loaded() begins a walk, checks again, and ends the walk.
 */
bool shim_inject_is_attached(void)
{
	return atomic_load_explicit(&posixtrace_shim_state, memory_order_relaxed) == STATE_ATTACHED;
}

bool shim_is_late(void)
{
	return atomic_load_explicit(&posixtrace_shim_state, memory_order_relaxed) !=
	       STATE_PRELOADED;
}

/*
 * A forked child has an active stream only if the stream is inherited. A child of vfork() uses its
 * parent's memory, where the stream of the parent is active.
 */
bool shim_inject_passes(bool by_child)
{
	return shim_inject_is_attached() && *posix_trace_active_np &&
	       (!by_child || atomic_load_explicit(&follows, memory_order_relaxed));
}

/*
 * Called by a thread of the program. A quiet process must not make the system calls that a walk
 * needs, so calls from the libraries that it loads are not traced.
 */
void shim_inject_loaded(void)
{
	int saved = errno;

	if (!shim_inject_is_attached() || shim_is_quiet() || !begin_walk())
		return;
	/* Another thread may have detached the shim since the check. */
	if (shim_inject_is_attached())
		inject_walk(true);
	else
		stop_walk();
	errno = saved;
}

/* The flag is stored before the jump. The next thread that calls dlsym() reads it. */
void shim_inject_may_load(void)
{
	atomic_store_explicit(&may_have_loaded, true, memory_order_relaxed);
}

/* In the child the slots stay redirected, because the child may be a member of the stream. */
void shim_inject_in_child(void)
{
	atomic_store_explicit(&is_walking, 0, memory_order_relaxed);
}
