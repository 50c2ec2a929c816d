/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/mapping.h - which file was mapped executable where in a process, and from when until when.
 *
 * They are noted as they were seen: a file is there from a time on, a range is no longer what it
 * was, a process is a child of another and has what that one had. From these notes a reader makes
 * spans of time; of what nobody saw, nothing is said.
 */
#ifndef PTX_RECORD_MAPPING_H
#define PTX_RECORD_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_MAPPING_ID_BYTES   32
#define PTX_MAPPING_PATH_BYTES 4096 /* with its NUL */
#define PTX_MAPPINGS_MAX       16384u
#define PTX_MAPPING_PATHS_MAX  (4u << 20) /* bytes of all paths of a log */

enum ptx_mapping_kind {
	PTX_MAPPING_FILE = 1,
	PTX_MAPPING_GONE, /* from then on the range is not what it was; pid 0: nothing is known */
	PTX_MAPPING_CHILD /* pid is a child of process `parent`, made then */
};

struct ptx_mapping {
	uint32_t kind;
	uint32_t pid;
	uint32_t parent;   /* CHILD */
	uint32_t id_bytes; /* 0: it has no build-id, or it could not be read */
	uint64_t start;    /* addresses, the end excluded */
	uint64_t end;
	uint64_t offset;   /* in the file, of start */
	uint64_t base;     /* what addresses in the process have more than those in the file */
	int64_t from_ns;   /* CLOCK_REALTIME */
	int64_t until_ns;  /* in a settled list; INT64_MAX: the end */
	bool first;        /* in a settled list: of the first that was seen of its process */
	uint8_t id[PTX_MAPPING_ID_BYTES];
	const char *path;
};

struct ptx_mappings {
	struct ptx_mapping *mapping;
	size_t count, room;
	size_t path_bytes;
};

/* Adds a copy, its path too. ENOSPC: more than a list may have. ENOMEM. */
int ptx_mappings_add(struct ptx_mappings *list, const struct ptx_mapping *mapping);
void ptx_mappings_fini(struct ptx_mappings *list);

/* Notes become spans: until_ns is set, GONE goes, and they stand by process and time. */
void ptx_mappings_settle(struct ptx_mappings *list);

/* Of a settled list: what was at an address of a process at that time, or NULL. */
const struct ptx_mapping *ptx_mappings_find(const struct ptx_mappings *list, uint32_t pid,
					    uint64_t address, int64_t time_ns);

/* The description of a PT_NOTE segment's GNU build-id: its bytes, 0 if there is none that fits. */
size_t ptx_mapping_build_id(const void *notes, size_t len, uint8_t id[PTX_MAPPING_ID_BYTES]);

#endif
