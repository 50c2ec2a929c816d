/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_self.c - looks at this process through the dynamic linker.
 *
 * During dl_iterate_phdr() the linker's lock keeps every object mapped, so memory that the program
 * headers name can be read. No memory is allocated meanwhile, because malloc() may need the linker.
 * So the first pass counts the objects, and the second pass stores them. Both passes are repeated
 * if the objects have changed between the two passes.
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
#include "base/compiler.h"
#include "base/futex.h"
#include "meet/process.h"
#include "modules/mapped.h"
#include "modules/mapped_set.h"

#define NOTES_MAX   65536u
#define TRIES       3
#define WAIT_NS     500000
#define WAITS_MOST  40 /* how often a fork waits at most */

/*
 * Keeps looks and forks apart: at most one look or one fork has the gate. A fork that has waited in
 * vain continues without the gate.
 */
enum gate { GATE_OPEN, GATE_LOOK, GATE_FORK };

static ptx_start_data _Atomic uint32_t gate;

/* Sets the gate to `as`. Returns false if another look or a fork is in progress. */
static bool mapped_self_enter(enum gate as)
{
	uint32_t open = GATE_OPEN;

	/* No thread waits here: the caller decides what to do instead. */
	return atomic_compare_exchange_strong_explicit(&gate, &open, as, memory_order_acq_rel,
						       memory_order_relaxed);
}

static void mapped_self_leave(void)
{
	/* Release: the next look sees what this look has stored. */
	atomic_store_explicit(&gate, GATE_OPEN, memory_order_release);
}

/*
 * A look takes microseconds. If the look has to wait for the linker's lock, the fork continues
 * after a bounded wait, because the program must not be blocked.
 */
void ptx_mapped_before_fork(void)
{
	/* No thread wakes this word: each wait ends by its timeout. */
	_Atomic uint32_t never = 0;

	/* The loop waits at most 20 ms in all, and usually not at all. */
	for (int i = 0; i < WAITS_MOST && !mapped_self_enter(GATE_FORK); i++)
		ptx_futex_nap(&never, 0, WAIT_NS);
}

/* Opens the gate only if the fork has closed it: otherwise a look is still in progress. */
void ptx_mapped_after_fork(void)
{
	/* This function runs in the parent and in the child. */
	uint32_t forked = GATE_FORK;

	atomic_compare_exchange_strong_explicit(&gate, &forked, GATE_OPEN, memory_order_acq_rel,
						memory_order_relaxed);
}

/* The state of one pass over the linker's objects. */
struct walk {
	const struct ptx_mapped_set *old; /* NULL: nothing is known yet */
	const char *executable;
	struct ptx_mapped_set *set;
	size_t ranges, text;           /* first pass: how much is needed; second: the room */
	size_t used;                   /* bytes of the text */
	bool is_same, is_blind, is_over;
};

/* Returns true for an executable segment. Other segments have no functions. */
static bool is_code(const ElfW(Phdr) *header)
{
	return header->p_type == PT_LOAD && header->p_flags & PF_X && header->p_memsz;
}

/*
 * Returns true for a name that is relative to the working directory. A name without a slash, such
 * as that of the vdso, names no file.
 */
static bool needs_folder(const char *name)
{
	return *name != '/' && strchr(name, '/');
}

/*
 * Returns an upper bound for the length of an object's path. For a relative name it includes the
 * working directory.
 */
static size_t most_text(const struct walk *walk, const struct dl_phdr_info *object)
{
	/* An object without a name is the program itself. */
	if (!object->dlpi_name || !*object->dlpi_name)
		return strlen(walk->executable) + 1;
	return strlen(object->dlpi_name) + 1 +
	       (needs_folder(object->dlpi_name) ? PTX_MAPPING_PATH_BYTES : 0);
}

/*
 * The first pass. An old C library does not count loads and unloads. Without these counts no change
 * can be noticed, so nothing is reported. If this function returns another value than 0,
 * dl_iterate_phdr() ends the pass.
 */
static int mapped_self_count(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct walk *walk = arg;

	/* dl_iterate_phdr() passes the size of the structure that this C library has. */
	if (bytes < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof object->dlpi_subs) {
		walk->is_blind = true;
		return 1;
	}
	/* The counts are those of this pass; mapped_self_gather() compares them. */
	walk->set->adds = object->dlpi_adds;
	walk->set->subs = object->dlpi_subs;
	/* No object was loaded or unloaded since the old look: the pass can end here. */
	if (walk->old && walk->old->adds == object->dlpi_adds &&
	    walk->old->subs == object->dlpi_subs) {
		/* A result that is not zero ends the pass. */
		walk->is_same = true;
		return 1;
	}
	for (int i = 0; i < object->dlpi_phnum; i++)
		/* Each executable segment becomes a range. */
		walk->ranges += is_code(&object->dlpi_phdr[i]);
	/* mapped_self_gather() needs at most this much text, unless the objects change. */
	walk->text += most_text(walk, object);
	return 0;
}

/*
 * Returns true if this part is inside a readable segment. Then it is in memory while the linker's
 * lock is held.
 */
static bool is_readable(const struct dl_phdr_info *object, const ElfW(Phdr) *part)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &object->dlpi_phdr[i];

		/* The comparison needs no sums, so that no hostile header can cause an overflow. */
		if (load->p_type == PT_LOAD && load->p_flags & PF_R &&
		    part->p_vaddr >= load->p_vaddr && part->p_memsz <= load->p_filesz &&
		    part->p_vaddr - load->p_vaddr <= load->p_filesz - part->p_memsz)
			return true;
	}
	return false;
}

/* Stores the first build-id in the object's notes, and returns its length; 0 if there is none. */
static size_t build_id(const struct dl_phdr_info *object, uint8_t *id)
{
	size_t bytes = 0;

	/* The linker's --build-id has made the first note with an id. */
	for (int i = 0; !bytes && i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		/* The notes are read in place. */
		if (part->p_type == PT_NOTE && part->p_memsz <= NOTES_MAX &&
		    is_readable(object, part))
			/* The function bounds every length of the notes by p_memsz. */
			bytes = ptx_mapping_build_id(
				(const void *)(uintptr_t)(object->dlpi_addr + part->p_vaddr),
				part->p_memsz, id);
	}
	return bytes;
}

/* Callback of dl_iterate_phdr(): the first object is the program. The result 1 ends the pass. */
static int program_id(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct ptx_mapping *program = arg;

	(void)bytes;
	program->id_bytes = (uint32_t)build_id(object, program->id);
	return 1;
}

/* Waits for no lock but that of the dynamic linker. ptx_mapped_self() waits for this lock, too. */
void ptx_mapped_self_id(struct ptx_mapping *program)
{
	program->id_bytes = 0;
	dl_iterate_phdr(program_id, program);
}

/*
 * Returns true for an object that is never unloaded. These objects are this library, which is
 * linked with -z nodelete, and the linker itself, which is the last object in the list at the
 * start.
 */
static bool is_pinned(const struct dl_phdr_info *object)
{
	/* An address of this library, relative to the object. */
	const uintptr_t here = (uintptr_t)&gate - object->dlpi_addr;

	/* AT_BASE is the address of the linker. */
	if (object->dlpi_addr && object->dlpi_addr == getauxval(AT_BASE))
		return true;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &object->dlpi_phdr[i];

		/* The difference is unsigned, so it is large for an address before the segment. */
		if (load->p_type == PT_LOAD && here - load->p_vaddr < load->p_memsz)
			return true;
	}
	return false;
}

/*
 * Stores the path of an object. The linker's name of the program is "". The other objects have the
 * name with which they were loaded, which may be relative to the working directory. Returns NULL if
 * the path is too long.
 */
static const char *put_path(struct walk *walk, const struct dl_phdr_info *object)
{
	const char *name = object->dlpi_name && *object->dlpi_name ? object->dlpi_name :
								     walk->executable;
	char *to = walk->set->text + walk->used;
	size_t len = 0, name_len;

	/* The names that C libraries give to the vdso; /proc/PID/maps has "[vdso]". */
	if (!strncmp(name, "linux-vdso", 10) || !strncmp(name, "linux-gate", 10))
		name = "[vdso]";
	/* This is a direct system call, because getcwd() of the C library may allocate memory. */
	else if (needs_folder(name) && syscall(SYS_getcwd, to, PTX_MAPPING_PATH_BYTES) > 0 &&
		 *to == '/') {
		/* The directory has no slash at its end, except for the root. */
		len = strlen(to);
		to[len++] = '/';
	}
	name_len = strlen(name) + 1;
	/*
	 * A log has no place for a longer path. For any other path most_text() has reserved room.
	 */
	if (len + name_len > PTX_MAPPING_PATH_BYTES)
		return NULL;
	/* name_len includes the NUL. */
	memcpy(to + len, name, name_len);
	walk->used += len + name_len;
	return to;
}

/*
 * The second pass. If the objects have changed since the first pass, the function sets is_over and
 * returns 1, which ends the pass. The look is then repeated.
 */
static int mapped_self_gather(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct walk *walk = arg;
	struct ptx_mapped_set *set = walk->set;
	struct ptx_mapping base = { .kind = PTX_MAPPING_FILE, .pid = ptx_process_pid() };
	/* The index of this object's first range, if it gets one. */
	size_t first = set->count;

	(void)bytes;
	/* Objects were loaded or unloaded since the first pass. */
	if (object->dlpi_adds != set->adds || object->dlpi_subs != set->subs ||
	    most_text(walk, object) > walk->text - walk->used) {
		walk->is_over = true;
		return 1;
	}
	/* The last such object is stored, because all objects before it are at least as old. */
	if (is_pinned(object))
		set->pinned = set->objects;
	base.path = put_path(walk, object);
	/* The object has no ranges, but keeps its position in the list. */
	if (!base.path) {
		/* The object is counted, because positions in the list must agree with `adds`. */
		set->objects++;
		return 0;
	}
	/* An address less this address is an address in the file (FORMAT 3.12). */
	base.base = object->dlpi_addr;
	/* All ranges of an object have the same path, base and id. */
	base.id_bytes = (uint32_t)build_id(object, base.id);
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *code = &object->dlpi_phdr[i];
		struct ptx_mapped_range *range = &set->range[set->count];

		/* Only the executable segments become ranges. */
		if (!is_code(code))
			continue;
		/*
		 * While the counts agree, there is always room. The check is made because the room
		 * is fixed.
		 */
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
		/* is_exact() counts an object at the range that has this flag. */
		range->is_object_start = set->count++ == first;
	}
	set->objects++;
	return 0;
}

/*
 * Makes one attempt. If the objects have changed between the passes, the result is UNREADABLE, and
 * the caller tries again.
 */
static enum ptx_mapped_found mapped_self_look(struct walk *walk)
{
	struct ptx_mapped_set *set = walk->set;

	/* Each attempt begins anew. */
	walk->ranges = walk->text = walk->used = 0;
	walk->is_same = walk->is_blind = walk->is_over = false;
	set->count = set->objects = set->pinned = 0;
	dl_iterate_phdr(mapped_self_count, walk);
	/* No range was stored; the old set stays valid. */
	if (walk->is_same)
		return PTX_MAPPED_SAME;
	/* Without counts or without executable segments, there is nothing to note. */
	if (walk->is_blind || !walk->ranges)
		return PTX_MAPPED_UNREADABLE;
	/* The process has more ranges or longer paths than a log keeps (FORMAT 3.12). */
	if (walk->ranges > PTX_MAPPED_RANGES || walk->text > PTX_MAPPING_PATHS_MAX)
		return PTX_MAPPED_TOO_MANY;
	/* The memory is allocated while the linker's lock is free. */
	set->range = malloc(walk->ranges * sizeof *set->range);
	set->text = malloc(walk->text);
	if (set->range && set->text) {
		/* The two times bound the moment of the look. */
		set->before_ns = ptx_clock_realtime();
		dl_iterate_phdr(mapped_self_gather, walk);
		set->after_ns = ptx_clock_realtime();
		if (!walk->is_over)
			return PTX_MAPPED_NEW;
	}
	/* The objects have changed, or there is no memory: nothing is kept. */
	ptx_mapped_set_fini(set);
	return PTX_MAPPED_UNREADABLE;
}

/*
 * The function makes a few attempts, because another look, a fork or the loading of libraries ends
 * soon.
 */
enum ptx_mapped_found ptx_mapped_self(const struct ptx_mapped_set *old, const char *executable,
				      struct ptx_mapped_set *set)
{
	struct walk walk = { .old = old, .executable = executable, .set = set };
	enum ptx_mapped_found found = PTX_MAPPED_UNREADABLE;
	_Atomic uint32_t never = 0;

	memset(set, 0, sizeof *set);
	for (int i = 0; i < TRIES && found == PTX_MAPPED_UNREADABLE; i++) {
		/* Another thread looks or forks. This thread tries again a little later. */
		if (!mapped_self_enter(GATE_LOOK)) {
			ptx_futex_nap(&never, 0, WAIT_NS);
			continue;
		}
		/* The gate is closed for forks as long as the look lasts. */
		found = mapped_self_look(&walk);
		mapped_self_leave();
	}
	return found;
}
