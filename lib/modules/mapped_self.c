/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_self.c - a look at this process, through the dynamic linker.
 *
 * Its lock keeps every object mapped meanwhile, so what the program headers name can be read in
 * place. Nothing is allocated while it is held: the objects are counted first, and again if there
 * are more of them by then.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "meet/process.h"
#include "modules/mapped.h"
#include "modules/mapped_set.h"

#define NOTES_MAX   65536u
#define TRIES       3
#define WAIT_NS     500000
#define WAITS_MOST  40 /* a fork is held up so often at most */

enum gate { GATE_OPEN, GATE_LOOK, GATE_FORK };

static _Atomic uint32_t gate;

static bool enter(enum gate as)
{
	uint32_t open = GATE_OPEN;

	return atomic_compare_exchange_strong_explicit(&gate, &open, as, memory_order_acq_rel,
						       memory_order_relaxed);
}

static void leave(void)
{
	atomic_store_explicit(&gate, GATE_OPEN, memory_order_release);
}

/*
 * A look takes microseconds; only if it is stuck behind the dynamic linker's lock the fork goes on.
 */
void ptx_mapped_before_fork(void)
{
	_Atomic uint32_t never = 0;

	for (int i = 0; i < WAITS_MOST && !enter(GATE_FORK); i++)
		ptx_futex_nap(&never, 0, WAIT_NS);
}

void ptx_mapped_after_fork(void)
{
	uint32_t forked = GATE_FORK;

	atomic_compare_exchange_strong_explicit(&gate, &forked, GATE_OPEN, memory_order_acq_rel,
						memory_order_relaxed);
}

struct walk {
	const struct ptx_mapped_set *old; /* NULL: nothing is known yet */
	const char *executable;
	struct ptx_mapped_set *set;
	size_t ranges, text;           /* how much there is, or room for */
	size_t used;                   /* of the text */
	bool is_same, is_blind, is_over;
};

static bool is_code(const ElfW(Phdr) *header)
{
	return header->p_type == PT_LOAD && header->p_flags & PF_X && header->p_memsz;
}

static size_t most_text(const struct walk *walk, const struct dl_phdr_info *object)
{
	if (!object->dlpi_name || !*object->dlpi_name)
		return strlen(walk->executable) + 1;
	return strlen(object->dlpi_name) + 1 +
	       (*object->dlpi_name == '/' ? 0 : PTX_MAPPING_PATH_BYTES);
}

static int count(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct walk *walk = arg;

	if (bytes < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof object->dlpi_subs) {
		walk->is_blind = true;
		return 1;
	}
	walk->set->adds = object->dlpi_adds;
	walk->set->subs = object->dlpi_subs;
	if (walk->old && walk->old->adds == object->dlpi_adds &&
	    walk->old->subs == object->dlpi_subs) {
		walk->is_same = true;
		return 1;
	}
	for (int i = 0; i < object->dlpi_phnum; i++)
		walk->ranges += is_code(&object->dlpi_phdr[i]);
	walk->text += most_text(walk, object);
	return 0;
}

/* What a readable segment holds: it is there as long as the lock is held. */
static bool is_readable(const struct dl_phdr_info *object, const ElfW(Phdr) *part)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &object->dlpi_phdr[i];

		if (load->p_type == PT_LOAD && load->p_flags & PF_R &&
		    part->p_vaddr >= load->p_vaddr && part->p_memsz <= load->p_filesz &&
		    part->p_vaddr - load->p_vaddr <= load->p_filesz - part->p_memsz)
			return true;
	}
	return false;
}

static size_t build_id(const struct dl_phdr_info *object, uint8_t *id)
{
	size_t bytes = 0;

	for (int i = 0; !bytes && i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_NOTE && part->p_memsz <= NOTES_MAX &&
		    is_readable(object, part))
			bytes = ptx_mapping_build_id(
				(const void *)(uintptr_t)(object->dlpi_addr + part->p_vaddr),
				part->p_memsz, id);
	}
	return bytes;
}

/*
 * This library is linked never to be unloaded, and the linker itself comes last of what is there at
 * start.
 */
static bool is_pinned(const struct dl_phdr_info *object)
{
	const uintptr_t here = (uintptr_t)&gate - object->dlpi_addr;

	if (object->dlpi_addr && object->dlpi_addr == getauxval(AT_BASE))
		return true;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &object->dlpi_phdr[i];

		if (load->p_type == PT_LOAD && here - load->p_vaddr < load->p_memsz)
			return true;
	}
	return false;
}

/*
 * The linker says "" of the program, and of others what it was told: perhaps from the working
 * folder.
 */
static const char *put_path(struct walk *walk, const struct dl_phdr_info *object)
{
	const char *name = object->dlpi_name && *object->dlpi_name ? object->dlpi_name :
								     walk->executable;
	char *to = walk->set->text + walk->used;
	size_t len = 0, name_len;

	if (!strncmp(name, "linux-vdso", 10) || !strncmp(name, "linux-gate", 10))
		name = "[vdso]";
	else if (*name != '/' && strchr(name, '/') &&
		 syscall(SYS_getcwd, to, PTX_MAPPING_PATH_BYTES) > 0 && *to == '/') {
		len = strlen(to);
		to[len++] = '/';
	}
	name_len = strlen(name) + 1;
	if (len + name_len > PTX_MAPPING_PATH_BYTES)
		return NULL;
	memcpy(to + len, name, name_len);
	walk->used += len + name_len;
	return to;
}

static int gather(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct walk *walk = arg;
	struct ptx_mapped_set *set = walk->set;
	struct ptx_mapping base = { .kind = PTX_MAPPING_FILE, .pid = ptx_process_pid() };
	size_t first = set->count;

	(void)bytes;
	if (object->dlpi_adds != set->adds || object->dlpi_subs != set->subs ||
	    most_text(walk, object) > walk->text - walk->used) {
		walk->is_over = true;
		return 1;
	}
	if (is_pinned(object))
		set->pinned = set->objects;
	base.path = put_path(walk, object);
	if (!base.path) {
		set->objects++;
		return 0;
	}
	base.base = object->dlpi_addr;
	base.id_bytes = (uint32_t)build_id(object, base.id);
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *code = &object->dlpi_phdr[i];
		struct ptx_mapped_range *range = &set->range[set->count];

		if (!is_code(code))
			continue;
		if (set->count == walk->ranges) {
			walk->is_over = true;
			return 1;
		}
		memset(range, 0, sizeof *range);
		range->mapping = base;
		range->mapping.start = object->dlpi_addr + code->p_vaddr;
		range->mapping.end = range->mapping.start + code->p_memsz;
		range->mapping.offset = code->p_offset;
		range->object = set->objects;
		range->heads = set->count++ == first;
	}
	set->objects++;
	return 0;
}

static enum ptx_mapped_found look(struct walk *walk)
{
	struct ptx_mapped_set *set = walk->set;

	walk->ranges = walk->text = walk->used = 0;
	walk->is_same = walk->is_blind = walk->is_over = false;
	set->count = set->objects = set->pinned = 0;
	dl_iterate_phdr(count, walk);
	if (walk->is_same)
		return PTX_MAPPED_SAME;
	if (walk->is_blind || !walk->ranges)
		return PTX_MAPPED_NOTHING;
	if (walk->ranges > PTX_MAPPED_RANGES || walk->text > PTX_MAPPING_PATHS_MAX)
		return PTX_MAPPED_TOO_MUCH;
	set->range = malloc(walk->ranges * sizeof *set->range);
	set->text = malloc(walk->text);
	if (set->range && set->text) {
		set->before_ns = ptx_clock_realtime();
		dl_iterate_phdr(gather, walk);
		set->after_ns = ptx_clock_realtime();
		if (!walk->is_over)
			return PTX_MAPPED_NEW;
	}
	ptx_mapped_set_fini(set);
	return PTX_MAPPED_NOTHING;
}

enum ptx_mapped_found ptx_mapped_self(const struct ptx_mapped_set *old, const char *executable,
				      struct ptx_mapped_set *set)
{
	struct walk walk = { .old = old, .executable = executable, .set = set };
	enum ptx_mapped_found found = PTX_MAPPED_NOTHING;
	_Atomic uint32_t never = 0;

	memset(set, 0, sizeof *set);
	for (int i = 0; i < TRIES && found == PTX_MAPPED_NOTHING; i++) {
		if (!enter(GATE_LOOK)) {
			ptx_futex_nap(&never, 0, WAIT_NS);
			continue;
		}
		found = look(&walk);
		leave();
	}
	return found;
}
