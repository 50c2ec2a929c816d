/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_set.h - what one look at a process shows; how each kind of look is made.
 */
#ifndef PTX_MODULES_MAPPED_SET_H
#define PTX_MODULES_MAPPED_SET_H

#include "arena/arena.h"
#include "record/mapping.h"

#define PTX_MAPPED_RANGES 4096u /* of one process */

struct ptx_mapped_range {
	struct ptx_mapping mapping; /* its path lies in the set's text */
	uint64_t device, inode;     /* 0: not asked */
	bool is_told;               /* by the process itself; its path is not kept */
	size_t object;              /* of this process: its place in the dynamic linker's list */
	bool heads;                 /* of its object the first */
};

struct ptx_mapped_set {
	struct ptx_mapped_range *range;
	size_t count;
	char *text;
	size_t objects;      /* of this process, those without code too */
	size_t pinned;       /* the last of them that can never go; none before it has come since */
	uint64_t adds, subs; /* objects that ever came and went */
	int64_t before_ns, after_ns; /* it was seen between them */
};

enum ptx_mapped_found {
	PTX_MAPPED_NOTHING, /* it cannot be seen, or not now */
	PTX_MAPPED_SAME,
	PTX_MAPPED_NEW,
	PTX_MAPPED_TOO_MUCH
};

/*
 * mapped_self.c: SAME is found out without looking at the objects. executable: the program's path.
 */
enum ptx_mapped_found ptx_mapped_self(const struct ptx_mapped_set *old, const char *executable,
				      struct ptx_mapped_set *set);

/* mapped_other.c: of a process which has the arena's file mapped; every other is a stranger. */
enum ptx_mapped_found ptx_mapped_other(const struct ptx_mapped_set *old,
				       const struct ptx_arena *arena, uint32_t pid,
				       struct ptx_mapped_set *set);

/* Where notes go that are made of looks. */
struct ptx_mapped_notes {
	void (*put)(void *to, const struct ptx_mapping *mapping);
	void *to;
};

/* Notes all that a process has: there since then; 0: since the look. */
void ptx_mapped_first(const struct ptx_mapped_notes *notes, struct ptx_mapped_set *set,
		      int64_t since_ns);

/* Notes what came and went between two looks. */
void ptx_mapped_compare(const struct ptx_mapped_notes *notes, const struct ptx_mapped_set *old,
			struct ptx_mapped_set *set);

/* What the process said of itself, into the set of what is known of it. ENOMEM. */
int ptx_mapped_set_report(struct ptx_mapped_set *set, const struct ptx_mapping *mapping);

void ptx_mapped_set_fini(struct ptx_mapped_set *set);

/* The one of set that is in the same place, of the same file, or NULL. */
const struct ptx_mapped_range *ptx_mapped_twin(const struct ptx_mapped_set *set,
					       const struct ptx_mapped_range *range);

#endif
