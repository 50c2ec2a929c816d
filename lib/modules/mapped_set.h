/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_set.h - the result of one look at a process, and the two kinds of looks.
 *
 * Owner     the caller; one look at a time.
 */
#ifndef PTX_MODULES_MAPPED_SET_H
#define PTX_MODULES_MAPPED_SET_H

#include "arena/arena.h"
#include "record/mapping.h"

#define PTX_MAPPED_RANGES 4096u /* the most ranges of one process */

struct ptx_mapped_range {
	struct ptx_mapping mapping; /* its path is in the set's text */
	uint64_t device, inode;     /* 0: unknown */
	bool is_reported;	    /* reported by the process; no path until a look finds it */
	/* this process only: position of the object in the dynamic linker's list */
	size_t object;
	bool is_object_start; /* the first range of its object */
};

struct ptx_mapped_set {
	struct ptx_mapped_range *range;
	size_t count;
	char *text;
	/* this process only: number of objects, including those without code */
	size_t objects;
	/* the last object that is never unloaded; the objects before it are older */
	size_t pinned;
	uint64_t adds, subs; /* count of objects ever loaded, and of objects ever unloaded */
	int64_t before_ns, after_ns; /* times before and after the look */
};

enum ptx_mapped_found {
	PTX_MAPPED_UNREADABLE, /* the process cannot be looked at, or not now */
	PTX_MAPPED_SAME,
	PTX_MAPPED_NEW,
	PTX_MAPPED_TOO_MANY
};

/*
 * mapped_self.c: looks at this process. SAME: no object was loaded or unloaded since the old look.
 * `executable` is the path of the program, for which the linker has none.
 */
enum ptx_mapped_found ptx_mapped_self(const struct ptx_mapped_set *old, const char *executable,
				      struct ptx_mapped_set *set);

/* mapped_self.c: stores the build-id of the program, or 0 in `id_bytes` if it has none. */
void ptx_mapped_self_id(struct ptx_mapping *program);

/*
 * mapped_other.c: looks at the process with this number in /proc, which must have the file of the
 * arena mapped. The ranges get the id `pid`, which the process has in its own namespace.
 */
enum ptx_mapped_found ptx_mapped_other(const struct ptx_mapped_set *old,
				       const struct ptx_arena *arena, uint32_t number, uint32_t pid,
				       struct ptx_mapped_set *set);

/* The receiver of the notes that follow from looks. */
struct ptx_mapped_notes {
	void (*put)(void *to, const struct ptx_mapping *mapping);
	void *to;
};

/* Notes that all ranges of a first look are mapped since the time since_ns; 0: since the look. */
void ptx_mapped_first(const struct ptx_mapped_notes *notes, struct ptx_mapped_set *set,
		      int64_t since_ns);

/* Notes the ranges that were added and removed between two looks. */
void ptx_mapped_compare(const struct ptx_mapped_notes *notes, const struct ptx_mapped_set *old,
			struct ptx_mapped_set *set);

/* Adds a report of the process itself to its known mappings. Returns 0 or ENOMEM. */
int ptx_mapped_set_report(struct ptx_mapped_set *set, const struct ptx_mapping *mapping);

/* Frees the ranges and the text, and leaves an empty set. */
void ptx_mapped_set_fini(struct ptx_mapped_set *set);

/* Returns the range of `set` with the same addresses and file, or NULL. */
const struct ptx_mapped_range *ptx_mapped_find_same(const struct ptx_mapped_set *set,
						    const struct ptx_mapped_range *range);

#endif
