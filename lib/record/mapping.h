/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/mapping.h - the files that were mapped executable, each with its addresses and its span of
 * time.
 *
 * There are three kinds of notes: a file is mapped from a time on; a range no longer has its former
 * file; a process is a child of another process and has the mappings of that process. From these
 * notes a reader makes spans of time. For times and addresses without a note, the file is unknown.
 *
 * Owner     the caller; one at a time.
 * Errors    0 or an error number; errno is preserved.
 */
#ifndef PTX_RECORD_MAPPING_H
#define PTX_RECORD_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits: bytes of a build-id, bytes of a path, and the number of notes in a log. */
#define PTX_MAPPING_ID_BYTES   32
#define PTX_MAPPING_PATH_BYTES 4096 /* with its NUL */
#define PTX_MAPPINGS_MAX       16384u
#define PTX_MAPPING_PATHS_MAX  (4u << 20) /* bytes of all paths of a log */

enum ptx_mapping_kind {
	PTX_MAPPING_FILE = 1,
	/* Since from_ns the range has no file; pid 0: nothing is known of any process. */
	PTX_MAPPING_GONE,
	PTX_MAPPING_CHILD /* pid is a child of process `parent`, made at that time */
};

struct ptx_mapping {
	uint32_t kind;
	uint32_t pid;
	uint32_t parent;   /* CHILD */
	uint32_t id_bytes; /* 0: the file has no build-id, or it could not be read */
	uint64_t start;    /* addresses, the end exclusive */
	uint64_t end;
	uint64_t offset;   /* of `start` in the file */
	/* load bias: an address in the process minus the address that the ELF file has for it */
	uint64_t base;
	int64_t from_ns;   /* CLOCK_REALTIME */
	int64_t until_ns;  /* in a settled list; INT64_MAX: to the end */
	bool first;        /* in a settled list: one of the first notes about its process */
	uint8_t id[PTX_MAPPING_ID_BYTES];
	const char *path;
};

struct ptx_mappings {
	struct ptx_mapping *mapping;
	size_t count, room;
	size_t path_bytes;
};

/*
 * Adds a copy of the note, with a copy of its path. Returns 0, ENOMEM, or ENOSPC if the list has
 * reached a limit.
 */
int ptx_mappings_add(struct ptx_mappings *list, const struct ptx_mapping *mapping);
/* Frees all mappings. The list is then empty and usable. */
void ptx_mappings_fini(struct ptx_mappings *list);

/*
 * Turns the notes into spans: sets until_ns and `first`, removes the notes GONE, and sorts by
 * process and time. A note GONE of pid 0 ends all spans at its time. No span begins at that time or
 * later. Call it once, after the last ptx_mappings_add().
 */
void ptx_mappings_settle(struct ptx_mappings *list);

/* In a settled list: returns the file at an address of a process at that time, or NULL. */
const struct ptx_mapping *ptx_mappings_find(const struct ptx_mappings *list, uint32_t pid,
					    uint64_t address, int64_t time_ns);

/*
 * Finds the GNU build-id among the notes of a PT_NOTE segment of `len` bytes. Returns its length in
 * bytes, or 0 if there is none that fits into `id`.
 */
size_t ptx_mapping_build_id(const void *notes, size_t len, uint8_t id[PTX_MAPPING_ID_BYTES]);

#endif
