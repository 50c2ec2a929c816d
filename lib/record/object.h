/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/object.h - the name of an object in the memory of a traced process, and since when the
 * object has this name.
 *
 * A child begins with a copy of its parent's memory, so each object of the parent has the same
 * address in the child. An entry of kind PTX_OBJECT_CHILD names both processes: `pid` is the child,
 * and `pointer` has the pid of the parent.
 *
 * Owner     the caller; one at a time. No memory is allocated.
 */
#ifndef PTX_RECORD_OBJECT_H
#define PTX_RECORD_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#define PTX_OBJECT_NAME_BYTES 48
#define PTX_OBJECT_CHILD      UINT32_C(0x8000)

struct ptx_object {
	uint32_t kind; /* POSIX_TRACE_OBJECT_*_NP or PTX_OBJECT_CHILD */
	uint32_t pid; /* 0: any process */
	uint64_t pointer;
	int64_t time_ns; /* CLOCK_REALTIME */
	char name[PTX_OBJECT_NAME_BYTES]; /* empty: the object has no name since time_ns */
};

_Static_assert(sizeof(struct ptx_object) == 72, "an object is 72 bytes");

/* Sorts entries into the order that ptx_objects_find() needs. */
void ptx_objects_sort(struct ptx_object *object, size_t count);

/* Returns the entry with the name that the pointer had in process pid at that time, or NULL. */
const struct ptx_object *ptx_objects_find(const struct ptx_object *object, size_t count,
					  uint32_t pid, uint64_t pointer, int64_t time_ns);

#endif
