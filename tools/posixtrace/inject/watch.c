/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch.c - reads the counts of the shim in the memory of a process.
 *
 * The descriptor of the memory belongs to the program that the process executes at the open. After
 * execve(), a read by this descriptor fails. So an address of the old program is never used in the
 * new program.
 */
#include "inject/watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../lib/preload/patch_plan.h"
#include "inject/elf.h"
#include "inject/memory.h"

#define SITES 16   /* greatest number of sites that are compared */
#define BLOCK 512  /* jumps that one read copies */
#define PAGE  4096 /* size of a page of x86-64, the only processor on which jumps are written */

/* Returns the address of the list of jumps, or 0 if the library is not mapped. */
static uint64_t find_jumps(int memory, const struct mappings *mappings)
{
	struct elf_module module;
	uint64_t address = 0;

	for (size_t i = 0; i < mappings->count && !address; i++) {
		const struct mapping *mapping = &mappings->mapping[i];

		if (mapping->offset || !mapping->is_readable ||
		    !strstr(mapping->path, "/libposixtrace-preload") ||
		    !elf_read(&module, memory, mapping->begin, false))
			continue;
		address = elf_address(&module, "posixtrace_shim_jumps");
		elf_fini(&module);
	}
	return address;
}

bool inject_watch_begin(struct inject_watch *watch, pid_t pid)
{
	struct mappings mappings = { NULL, 0 };

	*watch = (struct inject_watch){ .memory = memory_open(pid, pid) };
	if (watch->memory >= 0 && !mappings_read(&mappings, pid))
		watch->jumps = find_jumps(watch->memory, &mappings);
	mappings_fini(&mappings);
	if (!watch->jumps)
		inject_watch_end(watch);
	return watch->jumps != 0;
}

void inject_watch_end(struct inject_watch *watch)
{
	if (watch->memory >= 0)
		close(watch->memory);
	watch->memory = -1;
}

enum inject_seen inject_watch_look(struct inject_watch *watch)
{
	struct shim_jumps now;
	enum inject_seen seen = INJECT_SAME;

	if (!memory_read(watch->memory, watch->jumps, &now, sizeof(now)))
		return INJECT_GONE;
	if (now.opened != watch->opened)
		seen = INJECT_OPENED;
	if (now.missed != watch->missed)
		seen = INJECT_MISSED;
	watch->count = now.count;
	watch->opened = now.opened;
	watch->missed = now.missed;
	return seen;
}

/* This function does not count as a look, so the next look reports all changes. */
bool inject_watch_is_gone(const struct inject_watch *watch)
{
	uint64_t count;

	return !memory_read(watch->memory, watch->jumps, &count, sizeof(count));
}

/* Returns whether the code at a written jump is the original code again. */
static bool is_lost(const struct inject_watch *watch, const struct shim_jump *jump)
{
	uint8_t code[SHIM_PLAN_JUMP];

	return memory_read(watch->memory, jump->at, code, sizeof(code)) &&
	       !memcmp(code, jump->original, sizeof(code));
}

/*
 * The list and its elements are hostile, so the function limits the count, and only reads at the
 * addresses. The function reads the list in blocks, because each read locks the mappings of the
 * process. It compares only the first jump in each page, because a library that is loaded again
 * loses all its jumps together.
 */
uint64_t inject_watch_lost(const struct inject_watch *watch)
{
	struct shim_jump jump[BLOCK];
	uint64_t page = UINT64_MAX;
	struct shim_jumps list;
	size_t count;

	if (!memory_read(watch->memory, watch->jumps, &list, sizeof(list)) ||
	    list.count > SHIM_JUMPS)
		return 0;
	for (uint64_t first = 0; first < list.count; first += count) {
		count = list.count - first < BLOCK ? (size_t)(list.count - first) : BLOCK;
		if (!memory_read(watch->memory, list.jump + first * sizeof(*jump), jump,
				 count * sizeof(*jump)))
			return 0;
		for (size_t i = 0; i < count; i++) {
			if (!jump[i].is_wanted || !jump[i].is_written || !jump[i].bytes ||
			    jump[i].at / PAGE == page)
				continue;
			page = jump[i].at / PAGE;
			if (is_lost(watch, &jump[i]))
				return jump[i].at;
		}
	}
	return 0;
}

/*
 * The function compares several sites, because the process may have refused to patch some of them.
 * It seldom refuses many sites.
 */
bool inject_watch_is_patched(const struct inject_watch *watch, uint64_t begin,
			     const struct shim_plan_site *site, size_t sites)
{
	uint8_t code[SHIM_PLAN_ORIGINAL];
	struct elf_module module;
	bool is_patched = false;
	uint64_t base;

	if (!elf_read(&module, watch->memory, begin, false))
		return false;
	base = module.base;
	elf_fini(&module);
	for (size_t i = 0; i < sites && i < SITES && !is_patched; i++)
		is_patched = site[i].replaced <= sizeof(code) &&
			     memory_read(watch->memory, base + site[i].site, code,
					 site[i].replaced) &&
			     memcmp(code, site[i].original, site[i].replaced) != 0;
	return is_patched;
}
