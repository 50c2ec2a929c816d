/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/slots.c - redirects relocation slots, and restores them.
 *
 * Another thread may load or unload modules at the same time. The dynamic linker shows a module in
 * dl_iterate_phdr() before it has relocated the module. dlopen() with RTLD_NOLOAD waits for the
 * lock under which the dynamic linker relocates modules, and afterwards keeps the module loaded. So
 * each module is opened before its slots are read, and closed when they have been written.
 *
 * The slots of the C library and of the dynamic linker are not changed, because calls between these
 * two are not calls of the program. The slots of the shim and of libposixtrace are not changed,
 * either.
 *
 * Most slots are in memory that the dynamic linker made read-only (RELRO). The page of a slot is
 * made writable for the store. Then it gets back the protection that it had according to
 * /proc/self/maps. The kernel may refuse that, for example because of a filter. The page is then
 * noted, and each later walk tries to protect it again.
 */
#include "preload/slots.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/maps.h"
#include "preload/shim.h"

#if defined __x86_64__
# define JUMP_SLOT R_X86_64_JUMP_SLOT
# define GLOB_DAT  R_X86_64_GLOB_DAT
#elif defined __aarch64__
# define JUMP_SLOT R_AARCH64_JUMP_SLOT
# define GLOB_DAT  R_AARCH64_GLOB_DAT
#endif

#define MODULES    2048 /* modules of one process; calls from further modules are not traced */
#define NAME_BYTES 512  /* calls from a module with a longer path are not traced */

/*
 * A module as dl_iterate_phdr() shows it. The name is a copy, because the module may be unloaded.
 */
struct module {
	char name[NAME_BYTES];
	uintptr_t base;
	const ElfW(Dyn) *dynamic;
	const ElfW(Phdr) *headers;
	int header_count;
};

/*
 * All modules at one moment. The struct is mapped, because it is large and because malloc() may be
 * a traced function of the program. It stays mapped from shim_slots_reserve() to
 * shim_slots_restore(). Only the pages for modules that exist are used.
 */
static struct walk {
	size_t count;
	unsigned long long unloaded; /* the number of modules that were ever unloaded */
	struct module module[MODULES];
} *walk;

/*
 * The result of the present walk: the slots that were changed, and those that stay as they are
 * because their page cannot become writable.
 */
static struct {
	long changed, left;
} result;

/*
 * Modules that walks have examined since the list was cleared. A walk clears the list at its begin
 * if it is for all modules, or if a module has been unloaded since the last walk.
 */
static struct {
	uintptr_t base;
	const ElfW(Dyn) *dynamic;
} done[MODULES];
static size_t done_count;
static unsigned long long done_unloaded;

/*
 * The tables of a module that describe its slots: two tables of relocations, the symbols to which
 * the relocations refer, the names of the symbols, and their versions.
 */
struct tables {
	const ElfW(Rela) *rela[2];
	size_t count[2];
	const ElfW(Sym) *symbol;
	const char *string;
	const ElfW(Half) *version;
	const ElfW(Verneed) *need;
};

/*
 * Returns whether the address is in code of the module. The program headers are in the module's
 * memory, so the module must be loaded.
 */
static bool is_executable_part(const struct module *module, uintptr_t address)
{
	for (int i = 0; i < module->header_count; i++) {
		const ElfW(Phdr) *header = &module->headers[i];

		if (header->p_type == PT_LOAD && (header->p_flags & PF_X) &&
		    address - (module->base + header->p_vaddr) < header->p_memsz)
			return true;
	}
	return false;
}

/*
 * Callback of dl_iterate_phdr(): copies the data that the walk needs. The dynamic linker holds its
 * lock meanwhile, so the function does nothing else. A module without a dynamic section has no
 * slots.
 */
static int slots_collect(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct module *module = &walk->module[walk->count];

	(void)bytes, (void)arg;
	walk->unloaded = object->dlpi_subs;
	if (walk->count == MODULES || strlen(object->dlpi_name) >= NAME_BYTES)
		return 0;
	strcpy(module->name, object->dlpi_name);
	module->base = object->dlpi_addr;
	module->headers = object->dlpi_phdr;
	module->header_count = object->dlpi_phnum;
	module->dynamic = NULL;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			module->dynamic = (const void *)(uintptr_t)(object->dlpi_addr +
								    object->dlpi_phdr[i].p_vaddr);
	walk->count += module->dynamic != NULL;
	return 0;
}

/*
 * Returns whether slots of the module may be changed. The function recognizes the C library,
 * libposixtrace and the shim by functions that no other module defines, and the dynamic linker by
 * its name.
 */
static bool is_wanted(const struct module *module)
{
	return !is_executable_part(module, (uintptr_t)gnu_get_libc_version) &&
	       !is_executable_part(module, (uintptr_t)posix_trace_eventid_open) &&
	       !is_executable_part(module, (uintptr_t)shim_slots_restore) &&
	       !strstr(module->name, "/ld-linux");
}

/*
 * Opens the module so that it remains loaded. Returns NULL if the module is gone or cannot be found
 * by its name any more. The slots of such a module are not changed.
 */
static void *hold_module(const struct module *module)
{
	struct link_map *map;
	/* The program itself has no name. */
	void *handle = dlopen(*module->name ? module->name : NULL, RTLD_LAZY | RTLD_NOLOAD);

	if (!handle)
		return NULL;
	/* The module may have been unloaded, and another module may now have its name. */
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_addr == module->base &&
	    map->l_ld == module->dynamic)
		return handle;
	dlclose(handle);
	return NULL;
}

/*
 * Returns the address of a table. The dynamic linker of glibc has replaced offsets by addresses,
 * except in read-only tables. A table is behind the module's beginning in memory, so a smaller
 * value is an offset.
 */
static const void *pointer_of(const struct module *module, const ElfW(Dyn) *entry)
{
	uintptr_t value = entry->d_un.d_ptr;

	return (const void *)(value < module->base ? value + module->base : value);
}

/*
 * Finds the tables in the dynamic section. Returns false if the module has no symbols, or if it has
 * relocations in a form that is not used on this processor. The dynamic linker has accepted the
 * tables when it loaded the module, so they are not checked again.
 */
static bool read_tables(const struct module *module, struct tables *tables)
{
	memset(tables, 0, sizeof *tables);
	for (const ElfW(Dyn) *entry = module->dynamic; entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_JMPREL:
			tables->rela[0] = pointer_of(module, entry);
			break;
		case DT_PLTRELSZ:
			tables->count[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_PLTREL:
			if (entry->d_un.d_val != DT_RELA)
				return false;
			break;
		case DT_RELA:
			tables->rela[1] = pointer_of(module, entry);
			break;
		case DT_RELASZ:
			tables->count[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_SYMTAB:
			tables->symbol = pointer_of(module, entry);
			break;
		case DT_STRTAB:
			tables->string = pointer_of(module, entry);
			break;
		case DT_VERSYM:
			tables->version = pointer_of(module, entry);
			break;
		case DT_VERNEED:
			tables->need = pointer_of(module, entry);
			break;
		}
	return tables->symbol && tables->string;
}

/*
 * Returns the version of a function that the module needs, or NULL. The table is a list of
 * libraries, and each library has a list of versions. The elements of both lists are linked by
 * offsets. The list of libraries ends with the offset 0. The member vn_cnt of a library is the
 * number of its versions.
 */
static const char *version_of(const struct tables *tables, size_t symbol)
{
	const ElfW(Verneed) *need = tables->need;
	unsigned wanted;

	if (!tables->version || !need)
		return NULL;
	wanted = tables->version[symbol] & 0x7fff; /* without the flag that marks hidden versions */
	for (;;) {
		const ElfW(Vernaux) *one = (const void *)((const char *)need + need->vn_aux);

		for (unsigned i = 0; i < need->vn_cnt; i++) {
			if (one->vna_other == wanted)
				return tables->string + one->vna_name;
			one = (const void *)((const char *)one + one->vna_next);
		}
		if (!need->vn_next)
			return NULL;
		need = (const void *)((const char *)need + need->vn_next);
	}
}

/*
 * Returns whether a slot that has not been bound yet would be bound to the wrapped function. The
 * module may need another version of the function, as with pthread_cond_wait(). Such a slot must
 * not be redirected.
 */
static bool would_bind(const struct shim_slots *slots, const struct tables *tables, size_t symbol,
		       const struct shim_wrapper *wrapper)
{
	const char *version = version_of(tables, symbol);
	void *function = version ? dlvsym(slots->program, wrapper->name, version) :
				   dlsym(slots->program, wrapper->name);

	return function && (function == wrapper->real || function == wrapper->canonical);
}

/* The page of the slot that was changed last; 0: none. */
struct open_page {
	uintptr_t page;
	int protection; /* the protection that the page had */
	bool is_writable, is_changed;
};

/*
 * A page that could not get back its protection, with its module; page 0: none. There is at most
 * one, because no other page becomes writable until a walk has closed it.
 */
static struct {
	uintptr_t page, base;
	const ElfW(Dyn) *dynamic;
	int protection;
} left_open;

static bool set_protection(uintptr_t page, int protection)
{
	return !syscall(SYS_mprotect, page, (size_t)getpagesize(), protection);
}

/* Gives a page of the module back the protection that it had. After a failure, notes the page. */
static void close_page(struct open_page *open, const struct module *module)
{
	if (open->is_changed && !set_protection(open->page, open->protection)) {
		left_open.page = open->page;
		left_open.protection = open->protection;
		left_open.base = module->base;
		left_open.dynamic = module->dynamic;
	}
	*open = (struct open_page){ .page = 0 };
}

static bool has_left_open(const struct module *module)
{
	return left_open.page && left_open.base == module->base &&
	       left_open.dynamic == module->dynamic;
}

/* Returns whether the dynamic linker has made this page of the module read-only. */
static bool is_read_only(const struct module *module, uintptr_t page)
{
	for (int i = 0; i < module->header_count; i++) {
		const ElfW(Phdr) *header = &module->headers[i];
		const uintptr_t begin = module->base + header->p_vaddr;

		if (header->p_type == PT_GNU_RELRO && page + (uintptr_t)getpagesize() > begin &&
		    page < begin + header->p_memsz)
			return true;
	}
	return false;
}

/*
 * Tries again to close the page that an earlier walk has left open, before the walk opens pages of
 * any module. Another module may be at the address of the noted module by now. So the page is
 * closed only if the dynamic linker has made it read-only in the module that is there. If it has
 * not, or if no module is there, the page is forgotten.
 */
static void close_left_page(void)
{
	for (size_t i = 0; i < walk->count; i++) {
		const struct module *module = &walk->module[i];
		void *handle;

		if (!has_left_open(module))
			continue;
		handle = hold_module(module);
		if (!handle)
			return;
		if (!is_read_only(module, left_open.page) ||
		    set_protection(left_open.page, left_open.protection))
			left_open.page = 0;
		dlclose(handle);
		return;
	}
	left_open.page = 0;
}

/* A page whose protection is wanted; -1: not known. */
struct wanted_page {
	uintptr_t page;
	int protection;
};

static bool find_page(void *arg, const struct shim_map *map)
{
	struct wanted_page *wanted = arg;

	if (wanted->page < map->begin || wanted->page >= map->end)
		return true;
	wanted->protection = map->protection;
	return false;
}

/* Returns the protection of a page, or -1 if it cannot be determined. */
static int protection_of(uintptr_t page)
{
	struct wanted_page wanted = { page, -1 };

	shim_maps_walk(find_page, &wanted);
	return wanted.protection;
}

/*
 * Makes the page of a slot writable. Returns false if that is impossible; the slot then stays as it
 * is.
 */
static bool open_page(struct open_page *open, const void *slot, const struct module *module)
{
	uintptr_t size = (uintptr_t)getpagesize(), page = (uintptr_t)slot & ~(size - 1);

	if (open->page == page)
		return open->is_writable;
	close_page(open, module);
	open->page = page;
	open->protection = protection_of(page);
	open->is_writable = open->protection >= 0 && (open->protection & PROT_WRITE);
	if (!open->is_writable && open->protection >= 0 && !left_open.page)
		open->is_writable = open->is_changed =
			set_protection(page, open->protection | PROT_WRITE);
	return open->is_writable;
}

/*
 * The direction of a walk. A walk to the wrappers is made when a tracer attaches, and when modules
 * are loaded later. A walk back to the real functions is made when the last tracer leaves.
 */
enum direction { TO_WRAPPER, TO_REAL };

/*
 * Returns whether the walk must change the slot, which now has this value. A walk back makes each
 * slot that leads to the wrapper lead to the real function, also a slot that was not bound before
 * the redirection.
 */
static bool is_due(const struct shim_slots *slots, const struct module *module,
		   const struct tables *tables, size_t symbol, const struct shim_wrapper *wrapper,
		   void *value, enum direction direction)
{
	if (direction == TO_REAL)
		return value == wrapper->wrapper;
	/*
	 * `real` is NULL if the program defines the function itself, or if the function does not
	 * exist.
	 */
	if (!wrapper->real)
		return false;
	if (value == wrapper->real)
		return true;
	/* A slot that is not bound yet leads back into the module's own linkage table. */
	return tables->symbol[symbol].st_shndx == SHN_UNDEF &&
	       is_executable_part(module, (uintptr_t)value) &&
	       would_bind(slots, tables, symbol, wrapper);
}

/*
 * Changes the slots of one module, and counts them in `result`. The first table has the relocations
 * for calls through the linkage table, the second has all others. Most entries of the second table
 * are not for slots; they have another type and are skipped.
 */
static void change_module(const struct shim_slots *slots, const struct module *module,
			  enum direction direction)
{
	struct open_page open = { .page = 0 };
	struct tables tables;

	if (!read_tables(module, &tables))
		return;
	for (int table = 0; table < 2; table++)
		for (size_t i = 0; i < tables.count[table] && tables.rela[table]; i++) {
			const ElfW(Rela) *rela = &tables.rela[table][i];
			size_t type = ELF64_R_TYPE(rela->r_info);
			size_t symbol = ELF64_R_SYM(rela->r_info);
			const struct shim_wrapper *wrapper;
			_Atomic(void *) *slot = (void *)(module->base + rela->r_offset);
			void *value, *to;

			if ((type != JUMP_SLOT && type != GLOB_DAT) || !symbol)
				continue;
			wrapper = slots->find(tables.string + tables.symbol[symbol].st_name);
			if (!wrapper)
				continue;
			value = atomic_load_explicit(slot, memory_order_relaxed);
			if (!is_due(slots, module, &tables, symbol, wrapper, value, direction))
				continue;
			if (!open_page(&open, slot, module)) {
				result.left++;
				continue;
			}
			to = direction == TO_WRAPPER ? wrapper->wrapper : wrapper->real;
			/*
			 * The store is a release: a thread that calls the wrapper through the slot
			 * sees all earlier stores of this thread. If another thread binds the slot
			 * meanwhile, the exchange fails and that thread's value stays.
			 */
			if (atomic_compare_exchange_strong_explicit(
				    slot, &value, to, memory_order_release, memory_order_relaxed))
				result.changed++;
		}
	/* This closes the last page. Each other page was closed when the next page was opened. */
	close_page(&open, module);
}

/*
 * Returns whether the module is in the list of examined modules. A module is identified by its
 * address, because two loaded modules never overlap.
 */
static bool is_done(const struct module *module)
{
	for (size_t i = 0; i < done_count; i++)
		if (done[i].base == module->base && done[i].dynamic == module->dynamic)
			return true;
	return false;
}

/* If there are too many modules, the last modules are examined again at each walk. */
static void note_done(const struct module *module)
{
	if (done_count == MODULES || is_done(module))
		return;
	done[done_count].base = module->base;
	done[done_count++].dynamic = module->dynamic;
}

/* Pages of the struct that are not used need no memory. */
bool shim_slots_reserve(void)
{
	void *memory = walk ? walk : mmap(NULL, sizeof *walk, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	walk = memory == MAP_FAILED ? NULL : memory;
	return walk;
}

static long at_most(long count)
{
	return count < SHIM_SLOTS_MOST ? count : SHIM_SLOTS_MOST;
}

/*
 * Walks over all modules once, and returns the result as in SHIM_SLOTS_... (patch_plan.h). A module
 * that is loaded during the walk is examined by the next walk.
 */
static long walk_modules(const struct shim_slots *slots, enum direction direction, bool is_new)
{
	result.changed = result.left = 0;
	walk->count = 0;
	/*
	 * This call visits all modules under a lock of the dynamic linker. The loop below holds no
	 * lock; it opens one module at a time.
	 */
	dl_iterate_phdr(slots_collect, NULL);
	/* Another module may now be at the address of a module that was unloaded. */
	if (!is_new || walk->unloaded != done_unloaded)
		done_count = 0;
	done_unloaded = walk->unloaded;
	close_left_page();
	for (size_t i = 0; i < walk->count; i++) {
		const struct module *module = &walk->module[i];
		void *handle;

		/*
		 * The kernel's own module (vDSO) has no file, and calls no function of other
		 * modules.
		 */
		if (is_done(module) || strstr(module->name, "linux-vdso"))
			continue;
		handle = hold_module(module);
		if (!handle)
			continue;
		if (is_wanted(module))
			change_module(slots, module, direction);
		note_done(module);
		dlclose(handle);
	}
	/*
	 * If a module was gone, dlopen() has left a message for dlerror(), which the program must
	 * not see.
	 */
	dlerror();
	return at_most(result.changed) | at_most(result.left) << 24 |
	       (left_open.page ? SHIM_SLOTS_OPEN : 0);
}

/*
 * When a tracer attaches, is_new is false, so that modules whose slots were restored after an
 * earlier tracer are redirected again.
 */
long shim_slots_redirect(const struct shim_slots *slots, bool is_new)
{
	return walk_modules(slots, TO_WRAPPER, is_new);
}

/*
 * If the shim did not see that a module was loaded, the module's slots do not lead to wrappers.
 * They are searched but not changed.
 */
long shim_slots_restore(const struct shim_slots *slots)
{
	const long value = walk_modules(slots, TO_REAL, false);
	struct walk *const memory = walk;

	/*
	 * The pointer becomes NULL before the memory is unmapped: another thread may fork between
	 * the two steps.
	 */
	walk = NULL;
	munmap(memory, sizeof *memory);
	return value;
}
