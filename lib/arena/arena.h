/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/arena.h - the memory that a traced process shares with its controllers.
 *
 * The arena is a sealed, sparse memfd. It begins with the control page. The library maps the
 * control page over static pages of its own, so that a trace point reaches the control page by one
 * load. The lists follow: names of event types, schemas, objects, and maps. The regions of streams
 * follow the lists. The offset of a region is never used again for another region. If there is no
 * memfd, or the program has closed the descriptor, new regions are anonymous shared memory. In this
 * case only this process and its children can use the streams. arena/DESIGN has the protocol.
 *
 * Threads   any thread may call, unless a function's comment says otherwise; shared words are
 *           atomic.
 * Errors    an error number. errno may change if a system call fails.
 * Hostile   every process of the arena can write to all of it. Values from it are bounds-checked.
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
#define PTX_ARENA_VERSION 21u
#define PTX_PAGE          4096u
#define PTX_ARENA_BYTES   (UINT64_C(1) << 62) /* address space in the file, which needs no memory */

/* The state in an attachment's word. It is in the low 8 bits, below the generation. */
enum ptx_attachment_state {
	PTX_ATTACHMENT_FREE,
	PTX_ATTACHMENT_CLAIMED, /* the creator prepares or removes the stream */
	PTX_ATTACHMENT_ATTACHED
};

/*
 * A place for one stream, with the description of the stream (the facts). Other processes than the
 * creator use the facts to map the stream's region. While the state is not FREE, the creator holds
 * a record lock (fcntl(2)) on one byte of the file. The number of the attachment is the offset of
 * this byte. The kernel releases the lock when the creator exits, is killed or executes another
 * program. A guardian of the stream holds a lock on a second byte (see attachment.c).
 */
struct ptx_attachment {
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t word; /* generation above 8 bits of state */
	uint64_t offset;        /* offset of the region in the file */
	/*
	 * stream_size, max_data_size and rings: each process computes the geometry from these sizes
	 */
	uint64_t stream_size;
	uint64_t max_data_size;
	uint32_t rings;
	uint32_t loop;
	/*
	 * `inherited` and `target` are atomic, because a process reads them to determine whether
	 * the stream concerns this process. The creator may change them at the same time.
	 */
	_Atomic uint32_t inherited;
	_Atomic uint32_t target; /* process id of the target in its own pid namespace */
	uint16_t stream_policy; /* stream_policy and log_policy are only shown to users */
	uint16_t log_policy;    /* 0: no log */
	/*
	 * milliseconds for which the guardian keeps the stream running after the end of the creator
	 */
	_Atomic uint32_t linger_ms;
	/*
	 * The identity of the target (struct ptx_identity). Both members are 0 if the process
	 * traces itself. Such a stream ends when the process executes another program.
	 */
	_Atomic uint64_t target_inode, target_start;
	/* events that could not be counted in the region, see point/adopt.c */
	_Atomic uint64_t missed;
	/*
	 * not 0: the creator could not lock its byte, so a free lock does not show whether the
	 * creator lives
	 */
	_Atomic uint32_t unlocked;
	/*
	 * for observers: inode of the pid namespace to which the id `target` belongs; 0: unknown
	 */
	uint32_t target_space;
	/*
	 * time when the target executed another program; 0: it runs the same program as at the
	 * creation
	 */
	_Atomic int64_t executed_ns;
	int64_t creation_ns;
	char name[PTX_NAME_BYTES];
};

/* A process that is traced into this arena because it inherited a stream. */
struct ptx_member {
	_Atomic uint64_t pid;  /* 0: the place is free */
	_Atomic uint64_t bits; /* the attachments that it inherited */
	/* process id of the member's parent while the member runs the parent's program; else 0 */
	_Atomic uint64_t parent;
	_Atomic int64_t since_ns; /* when it began to run its program, CLOCK_REALTIME */
};

#define PTX_MEMBERS 256

#define PTX_QUIET_PROCESS (UINT32_C(1) << 31)

/* The control page. Its layout is that of PTX_ARENA_VERSION; other versions are not used. */
struct ptx_control {
	/*
	 * Every trace point reads this word. Its upper 56 bits are the epoch, and its lower 8 bits
	 * are the number of attached streams. Each change that may affect a trace point increases
	 * the epoch. So a thread remembers its streams and this word, and looks for streams again
	 * only if the word has changed.
	 */
	union {
		_Atomic uint64_t word;
		_Atomic uint8_t streams; /* its low byte (little-endian machines) */
	};
	_Atomic uint64_t attached; /* one bit for each stream */
	uint64_t spare[6];
	uint64_t magic; /* magic and version are at the same offsets in all versions */
	uint32_t version;
	uint32_t pid;
	_Atomic uint64_t next_region;
	/* enum ptx_arena_clock: the clock that stamps the events of all streams of the arena */
	_Atomic uint32_t clock;
	_Atomic uint32_t owner; /* enum ptx_arena_owner */
	_Atomic uint32_t mixed; /* not 0: the members have different pid namespaces */
	/*
	 * not 0: some process that records into this arena makes no system calls, so it wakes no
	 * reader; sleeping readers wake by themselves after a while. The bit PTX_QUIET_PROCESS is
	 * set if a whole process is quiet. The other bits are the number of threads whose child of
	 * vfork() is quiet.
	 */
	_Atomic uint32_t quiet;
	struct ptx_attachment attachment[PTX_STREAMS];
	struct ptx_member member[PTX_MEMBERS];
	_Atomic uint8_t silent[PTX_TYPE_MAX]; /* enum ptx_silence, for wrappers: silence.h */
};

union ptx_control_page {
	struct ptx_control is;
	unsigned char bytes[6 * PTX_PAGE];
};

/*
 * Shows whether the process for which an arena was made uses this arena. An arena that a process
 * made for itself is SETTLING at first: the process looks for another arena, which a controller may
 * have made for it. If the process finds such an arena, its own arena becomes LEFT, otherwise
 * CHOSEN. An arena that a controller made for another process WAITS until that process uses it.
 * Then it is CHOSEN. A controller attaches a stream to an arena that is CHOSEN. It also attaches a
 * stream to an arena that WAITS, if the process has no visible arena of its own yet.
 */
enum ptx_arena_owner { PTX_ARENA_SETTLING, PTX_ARENA_WAITS, PTX_ARENA_CHOSEN, PTX_ARENA_LEFT };

enum ptx_arena_clock { PTX_ARENA_CLOCK_NONE, PTX_ARENA_CLOCK_MONOTONIC, PTX_ARENA_CLOCK_COUNTER };

extern union ptx_control_page ptx_control_page;
#define ptx_own_control (ptx_control_page.is)

/*
 * The append-only lists. A new kind of list is added at the end. A library that does not have that
 * list leaves zeros in its place.
 */
struct ptx_lists {
	struct ptx_names names;
	struct ptx_schemas schemas;
	struct ptx_objects objects;
	struct ptx_maps maps;
};

/*
 * An arena that this process uses: its own, or the arena of a process that it traces. The structure
 * is in ordinary memory. It is not in the process block, because the kernel zeroes the process
 * block in a child, and the child must close the descriptors of its parent.
 */
struct ptx_arena {
	struct ptx_control *control;
	struct ptx_lists *lists; /* NULL: there was no memory for them */
	struct ptx_names *names; /* the names in the member `lists`, or NULL */
	int fd;                  /* -1: none */
	uint64_t device, inode;
	uint64_t bytes;          /* size of the file */
	_Atomic uint64_t claims;  /* a bit for each attachment that this process has claimed */
	/* number of streams that use the arena, if it is another process's arena */
	unsigned users;
	struct ptx_arena *next;
};

extern struct ptx_arena ptx_arena_self;

#define PTX_NAMES_AT    sizeof(union ptx_control_page)
#define PTX_LISTS_BYTES ((sizeof(struct ptx_lists) + PTX_PAGE - 1) & ~(size_t)(PTX_PAGE - 1))
#define PTX_REGIONS_AT  (UINT64_C(1) << 20)

/*
 * The lowest descriptor for a process's own arena, and the lowest descriptor for the library's
 * other files.
 */
#define PTX_ARENA_FD_MIN 200
#define PTX_OTHER_FD_MIN 208

/* Sets the lists of an arena. The parameter `lists` is NULL if there was no memory for lists. */
static inline void ptx_arena_set_lists(struct ptx_arena *arena, struct ptx_lists *lists)
{
	arena->lists = lists;
	arena->names = lists ? &lists->names : NULL;
}

/*
 * Returns true if a region may be at this offset. Another process may have written the offset, so
 * it is checked.
 */
static inline bool ptx_region_fits(uint64_t file_bytes, uint64_t offset, uint64_t bytes)
{
	return offset >= PTX_REGIONS_AT && offset % PTX_PAGE == 0 && offset < file_bytes &&
	       bytes <= file_bytes - offset;
}

static inline bool ptx_arena_holds(const struct ptx_arena *arena, uint64_t offset, uint64_t bytes)
{
	return ptx_region_fits(arena->bytes, offset, bytes);
}

/*
 * ptx_arena_file() makes a new, sealed file, and returns its descriptor and its size, or -1.
 * ptx_arena_begin() fills a zeroed control page for the process with the id `pid`.
 */
int ptx_arena_file(uint64_t *bytes);
void ptx_arena_begin(struct ptx_control *control, uint32_t pid, enum ptx_arena_owner owner);

/*
 * Maps the control page of the file in place of the control page of this process. The address is
 * unchanged, so trace points need no pointer. If fd is negative, the function maps anonymous
 * memory, which children share. Returns false if the mapping fails; nothing has changed then.
 */
bool ptx_control_map(int fd);

/* Makes the control page private memory with zeros, as before the first ptx_control_map(). */
void ptx_control_unmap(void);

/*
 * Returns true if a file of another process is sealed like an arena, so that no process can
 * truncate it, and is large enough for a region.
 */
bool ptx_arena_is_sealed(int fd, uint64_t bytes);

/*
 * Returns true if the file begins like an arena of another version of this library. Magic and
 * version are at the same place in all versions. No other part of such a file can be used.
 */
bool ptx_arena_is_foreign(int fd);

/* Returns true if the file begins like an arena of this version. */
bool ptx_arena_is_ours(int fd);

/*
 * Like ptx_arena_is_foreign(), for a magic and a version that the caller has copied from an arena.
 */
static inline bool ptx_arena_is_foreign_head(uint64_t magic, uint32_t version)
{
	return magic == PTX_ARENA_MAGIC && version != PTX_ARENA_VERSION;
}

/*
 * Returns true for the magic and the version of an arena of this version. An arena of another
 * version has another layout and is not used.
 */
static inline bool ptx_arena_is_own_head(uint64_t magic, uint32_t version)
{
	return magic == PTX_ARENA_MAGIC && version == PTX_ARENA_VERSION;
}

/*
 * Returns the descriptor of the arena's file, or -1 if there is no file or the program has closed
 * the descriptor. Async-signal-safe.
 */
int ptx_arena_fd(const struct ptx_arena *arena);

/*
 * Returns true if other processes can map the arena: it has a file, and an executed program can
 * inherit a descriptor of this file.
 */
bool ptx_arena_is_shareable(const struct ptx_arena *arena);

#define PTX_CONTROL_EPOCH UINT64_C(0x100)

/*
 * Advances the epoch after a change that may affect trace points. When a stream is attached or
 * detached, the functions of attachment.h advance the epoch.
 */
static inline void ptx_control_changed(struct ptx_control *control)
{
	atomic_fetch_add_explicit(&control->word, PTX_CONTROL_EPOCH, memory_order_release);
}

static inline void ptx_arena_changed(struct ptx_arena *arena)
{
	ptx_control_changed(arena->control);
}

/*
 * Reserves a part of the file for a region, and stores its offset in *offset. No other region has
 * had this offset. *offset becomes 0 if there is no file. Returns 0, or ENOMEM if the machine or
 * the control groups of this process have less memory available than the region's chunks need.
 */
int ptx_region_place(struct ptx_arena *arena, const struct ptx_geometry *geometry,
		     uint64_t *offset);

/*
 * Returns the number of rings that a new stream can have. A large number of rings needs a far part,
 * and so a large file. So the number is smaller in an arena that RLIMIT_FSIZE keeps small, and in a
 * backing file (`backing` is not NULL).
 */
uint32_t ptx_region_rings(const struct ptx_arena *arena, const char *backing);

/*
 * Makes zeroed memory for a region at *offset. The tables and the first chunks are present. If the
 * file has no room for the region, the memory is anonymous and *offset becomes 0. Returns 0, or
 * ENOMEM if anonymous memory is not possible either.
 */
int ptx_region_create(struct ptx_arena *arena, const struct ptx_geometry *geometry, void **memory,
		      uint64_t *offset);

/* Maps a region that another process made. Returns 0 or ENOMEM. Async-signal-safe. */
int ptx_region_map(struct ptx_arena *arena, const struct ptx_geometry *geometry, uint64_t offset,
		   void **memory);

/* Maps the far part of a region. Returns NULL if that fails. Async-signal-safe. */
void *ptx_region_map_far(const struct ptx_arena *arena, const struct ptx_geometry *geometry,
			 uint64_t offset);

/*
 * Removes the region that this process has mapped in `rings`, and gives its memory back to the
 * system. If in_use is true, the addresses remain writable, because a thread in a trace point may
 * still store in the region.
 */
void ptx_region_destroy(struct ptx_arena *arena, const struct ptx_rings *rings, uint64_t offset,
			bool in_use);

/* Gives the memory of a region back to the system, also if other processes have it mapped. */
void ptx_region_punch(const struct ptx_arena *arena, const struct ptx_geometry *geometry,
		      uint64_t offset);

/*
 * Gives pages of a region back a second time. Such pages exist if writers of this process have
 * stored in the region after the creator had given its memory back. The caller makes sure that no
 * thread of this process uses the region any more. Async-signal-safe.
 */
void ptx_region_remove_late(const struct ptx_rings *rings);

/*
 * Removes the pages of a region, apart from its far part, from the page tables of this process. The
 * memory and its content remain. So the memory of the streams of other processes does not count as
 * memory of a controller.
 */
void ptx_region_forget(const struct ptx_rings *rings);

/* Unmaps a region and its far part. Async-signal-safe. */
void ptx_region_unmap(const struct ptx_rings *rings);

/*
 * Replaces the mappings of a region and its far part by memory that only this process has. So if a
 * late writer of this process still stores in the region, it does not change memory of other
 * processes.
 */
void ptx_region_sink(const struct ptx_rings *rings);

/*
 * Makes the bytes at `memory` present (ring/pool.h). Returns false if the machine has no memory for
 * them. Async-signal-safe, because writers call this function as the member `back` of struct
 * ptx_rings.
 */
bool ptx_region_back(void *memory, size_t bytes);

#endif
