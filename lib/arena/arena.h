/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/arena.h - the memory that a traced process shares with who traces it.
 *
 * A sealed, sparse memfd: page 0 is the control page, mapped over a static page of the library so
 * that a trace point reaches it by one load; then the event type names, with what the types mean,
 * what things are called and what is mapped; then stream regions, whose offsets are never used
 * twice. Without a memfd (or when the program has closed it) regions are anonymous shared memory,
 * and only this process and its children can trace it.
 */
#ifndef PTX_ARENA_ARENA_H
#define PTX_ARENA_ARENA_H

#include "arena/maps.h"
#include "arena/names.h"
#include "arena/objects.h"
#include "arena/process_block.h"
#include "arena/schemas.h"
#include "record/attr.h"
#include "ring/ring.h"

#define PTX_ARENA_MAGIC   UINT64_C(0x316e6572417870) /* "pxAren1" */
#define PTX_ARENA_VERSION 19u
#define PTX_PAGE          4096u
#define PTX_ARENA_BYTES   (UINT64_C(1) << 62) /* address space in the file: no memory */

/* What the word of an attachment says, below its generation. */
enum ptx_attachment_state {
	PTX_ATTACHMENT_FREE,
	PTX_ATTACHMENT_CLAIMED, /* its creator is still at it */
	PTX_ATTACHMENT_ATTACHED
};

/*
 * A stream of the arena, for processes that did not create it: they map its region by themselves.
 * While it is not free its creator holds a record lock on the byte of its number in the file, which
 * the kernel takes from whoever exits, is killed or executes another program. A guardian of the
 * stream holds one at another, attachment.c.
 */
struct ptx_attachment {
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t word; /* generation 56 | state */
	uint64_t offset;        /* of the region */
	uint64_t stream_size;   /* with these three the geometry is computed anew, never believed */
	uint64_t max_data_size;
	uint32_t rings;
	uint32_t loop;
	/* Read also by who does not know yet whether it is the stream that is meant. */
	_Atomic uint32_t inherited;
	_Atomic uint32_t target; /* in its own pid name space */
	uint16_t stream_policy; /* these for people who look at it: nobody acts on them */
	uint16_t log_policy;    /* 0: no log */
	/*
	 * struct ptx_identity of the target; both 0: a process traces itself, until it executes a
	 * program
	 */
	_Atomic uint64_t target_inode, target_start;
	/* events that could not be counted in the region, see point/adopt.c */
	_Atomic uint64_t missed;
	/* the system refused its creator the lock: no lock is no evidence */
	_Atomic uint32_t unlocked;
	/* the target runs another program since then; 0: as at creation */
	_Atomic int64_t executed_ns;
	int64_t creation_ns;
	char name[PTX_NAME_BYTES];
};

/* A process that is traced here because its parent was. */
struct ptx_member {
	_Atomic uint64_t pid;  /* 0: the place is free */
	_Atomic uint64_t bits; /* the attachments that it inherited */
	_Atomic uint64_t parent;  /* that it was forked from, and runs the program of; else 0 */
	_Atomic int64_t since_ns; /* it runs that program since then, CLOCK_REALTIME */
};

#define PTX_MEMBERS 256

struct ptx_control {
	/*
	 * Read by every trace point: epoch 56 | number of attached streams. The epoch grows with
	 * whatever may change what a trace point does, so that a thread can keep what it found out
	 * and compare one word.
	 */
	union {
		_Atomic uint64_t word;
		_Atomic uint8_t streams; /* its low byte (little-endian machines) */
	};
	_Atomic uint64_t attached; /* a bit a stream */
	uint64_t spare[6];
	uint64_t magic;
	uint32_t version;
	uint32_t pid;
	_Atomic uint64_t next_region;
	/* enum ptx_arena_clock: what stamps the events of all its streams */
	_Atomic uint32_t clock;
	_Atomic uint32_t owner; /* enum ptx_arena_owner */
	_Atomic uint32_t mixed; /* members have different name spaces of process ids */
	/* a process that writes here wakes nobody: who waits looks by himself */
	_Atomic uint32_t quiet;
	struct ptx_attachment attachment[PTX_STREAMS];
	struct ptx_member member[PTX_MEMBERS];
};

union ptx_control_page {
	struct ptx_control is;
	unsigned char bytes[6 * PTX_PAGE];
};

/*
 * Whether the process that an arena is made for has it. One that a process made for itself is
 * SETTLING while it looks for another that was left for it: then this one is LEFT, else TAKEN. One
 * that somebody made for another process WAITS until that has TAKEN it. Streams come to arenas that
 * are TAKEN, or that wait for a process which has shown none of its own yet.
 */
enum ptx_arena_owner { PTX_ARENA_SETTLING, PTX_ARENA_WAITS, PTX_ARENA_TAKEN, PTX_ARENA_LEFT };

enum ptx_arena_clock { PTX_ARENA_CLOCK_NONE, PTX_ARENA_CLOCK_MONOTONIC, PTX_ARENA_CLOCK_COUNTER };

extern union ptx_control_page ptx_control_page;
#define ptx_own_control (ptx_control_page.is)

/*
 * What only grows; new kinds come at the end, and are zero where an older library knew nothing of
 * them.
 */
struct ptx_lists {
	struct ptx_names names;
	struct ptx_schemas schemas;
	struct ptx_objects objects;
	struct ptx_maps maps;
};

/*
 * An arena as this process has it: its own, or that of a process that it traces. In ordinary
 * memory: a child closes its parent's descriptors.
 */
struct ptx_arena {
	struct ptx_control *control;
	struct ptx_lists *lists; /* NULL: there was no memory for them */
	struct ptx_names *names; /* of them, or NULL */
	int fd;                  /* -1: none */
	uint64_t device, inode;
	uint64_t bytes;          /* of the file */
	_Atomic uint64_t mine;   /* a bit an attachment that this process claimed */
	unsigned users;          /* of another process's: streams that hold it */
	struct ptx_arena *next;
};

extern struct ptx_arena ptx_arena_self;

#define PTX_NAMES_AT    sizeof(union ptx_control_page)
#define PTX_LISTS_BYTES ((sizeof(struct ptx_lists) + PTX_PAGE - 1) & ~(size_t)(PTX_PAGE - 1))
#define PTX_REGIONS_AT  (UINT64_C(1) << 20)

/* Where the descriptor of a process's own arena is, and from where on all others are. */
#define PTX_ARENA_FD_MIN 200
#define PTX_OTHER_FD_MIN 208

static inline void ptx_arena_know_lists(struct ptx_arena *arena, struct ptx_lists *lists)
{
	arena->lists = lists;
	arena->names = lists ? &lists->names : NULL;
}

/* Whether a region may lie there: what another process wrote is not believed. */
static inline bool ptx_region_fits(uint64_t file_bytes, uint64_t offset, uint64_t bytes)
{
	return offset >= PTX_REGIONS_AT && offset % PTX_PAGE == 0 && offset < file_bytes &&
	       bytes <= file_bytes - offset;
}

static inline bool ptx_arena_holds(const struct ptx_arena *arena, uint64_t offset, uint64_t bytes)
{
	return ptx_region_fits(arena->bytes, offset, bytes);
}

/* A new, sealed file for an arena of process pid, with its first pages; -1. */
int ptx_arena_file(uint64_t *bytes);
void ptx_arena_begin(struct ptx_control *control, uint32_t pid, enum ptx_arena_owner owner);

/* A file of another process: it is an arena that nobody can cut. */
bool ptx_arena_is_sealed(int fd, uint64_t bytes);

/* The descriptor, or -1 if there is none or the program has closed it. errno is preserved. */
int ptx_arena_fd(const struct ptx_arena *arena);

/*
 * Others can map it: it has a file, of which the system lets a program that is executed have a
 * descriptor.
 */
bool ptx_arena_is_shareable(const struct ptx_arena *arena);

#define PTX_CONTROL_EPOCH UINT64_C(0x100)

/* After a change of what is attached ptx_attachment_* count anew; this is for every other. */
static inline void ptx_control_changed(struct ptx_control *control)
{
	atomic_fetch_add_explicit(&control->word, PTX_CONTROL_EPOCH, memory_order_release);
}

static inline void ptx_arena_changed(struct ptx_arena *arena)
{
	ptx_control_changed(arena->control);
}

/*
 * A place in the file that no other region has or had, 0 without file. ENOMEM: there is not so much
 * memory.
 */
int ptx_region_place(struct ptx_arena *arena, const struct ptx_geometry *geometry,
		     uint64_t *offset);

/*
 * For how many rings a stream there is planned. One in a file of its own, or in an arena that the
 * limit of file sizes keeps small, has few: the far part is address space in the file.
 */
uint32_t ptx_region_rings(const struct ptx_arena *arena, const char *backing);

/*
 * Zeroed memory there, present as far as the geometry says, or elsewhere and *offset is 0: ENOMEM
 * if it cannot be had.
 */
int ptx_region_create(struct ptx_arena *arena, const struct ptx_geometry *geometry, void **memory,
		      uint64_t *offset);

/* The mapping of a region that another process made. */
int ptx_region_map(struct ptx_arena *arena, const struct ptx_geometry *geometry, uint64_t offset,
		   void **memory);

/* The mapping of its far part, NULL if it cannot be. Async-signal-safe. */
void *ptx_region_map_far(const struct ptx_arena *arena, const struct ptx_geometry *geometry,
			 uint64_t offset);

/*
 * Gives the memory back, which this process mapped as rings has it. Addresses stay valid to write
 * to when in_use.
 */
void ptx_region_destroy(struct ptx_arena *arena, const struct ptx_rings *rings, uint64_t offset,
			bool in_use);

/* Gives the memory of a region back to the system, all of it, whoever has it mapped. */
void ptx_region_punch(const struct ptx_arena *arena, const struct ptx_geometry *geometry,
		      uint64_t offset);

/* Takes the mappings of a region away. Async-signal-safe. */
void ptx_region_unmap(const struct ptx_rings *rings);

/*
 * Memory of this process's own in the place of a region and its far part: a writer that is late
 * there disturbs no other process.
 */
void ptx_region_sink(const struct ptx_rings *rings);

/* struct ptx_rings.back */
bool ptx_region_back(void *memory, size_t bytes);

#endif
