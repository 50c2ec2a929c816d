/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/arena.h - the memory that a traced process shares with who traces it.
 *
 * A sealed, sparse memfd: page 0 is the control page, mapped over a static page of the library so
 * that a trace point reaches it by one load; then the event type names; then stream regions, whose
 * offsets are never used twice. Without a memfd (or when the program has closed it) regions are
 * anonymous shared memory, and only this process and its children can trace it.
 */
#ifndef PTX_ARENA_ARENA_H
#define PTX_ARENA_ARENA_H

#include "arena/names.h"
#include "arena/process.h"
#include "ring/ring.h"

#define PTX_ARENA_MAGIC   UINT64_C(0x316e6572417870) /* "pxAren1" */
#define PTX_ARENA_VERSION 1u
#define PTX_PAGE          4096u

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
};

union ptx_control_page {
	struct ptx_control is;
	unsigned char bytes[PTX_PAGE];
};

extern union ptx_control_page ptx_control_page;
#define ptx_control (ptx_control_page.is)

/* The arena's descriptor, in ordinary memory: a child closes its parent's. */
struct ptx_arena_file {
	int fd; /* -1: none */
	uint64_t device, inode;
};

extern struct ptx_arena_file ptx_arena_file;

/* The descriptor, or -1 if there is none or the program has closed it. */
int ptx_arena_fd(void);

#define PTX_CONTROL_EPOCH UINT64_C(0x100)

/* After a change; streams: how many more are attached. */
static inline void ptx_control_changed(int64_t streams)
{
	atomic_fetch_add_explicit(&ptx_control.word, PTX_CONTROL_EPOCH + (uint64_t)streams,
				  memory_order_release);
}

/* Zeroed, present memory for a region: ENOMEM if it cannot be had. */
int ptx_region_create(const struct ptx_geometry *geometry, void **memory, uint64_t *offset);

/* Gives the memory back. Addresses stay valid to write to when in_use. */
void ptx_region_destroy(const struct ptx_geometry *geometry, void *memory, uint64_t offset,
			bool in_use);

/* Memory of this process's own in the place of a region: who still writes to it harms nobody. */
void ptx_region_sink(void *memory, size_t bytes);

/* struct ptx_rings.back */
bool ptx_region_back(void *memory, size_t bytes);

#endif
