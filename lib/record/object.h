/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/object.h - what a thing in the memory of a traced process is called, and since when.
 *
 * A child has the things of its parent under the same pointers; an entry of kind PTX_OBJECT_CHILD
 * says so: pid is a child of the process that `pointer` is the number of.
 */
#ifndef PTX_RECORD_OBJECT_H
#define PTX_RECORD_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#define PTX_OBJECT_NAME_BYTES 48
#define PTX_OBJECT_CHILD      UINT32_C(0x8000)

struct ptx_object {
	uint32_t kind; /* POSIX_TRACE_OBJECT_*_NP */
	uint32_t pid;
	uint64_t pointer;
	int64_t time_ns; /* CLOCK_REALTIME */
	char name[PTX_OBJECT_NAME_BYTES]; /* empty: no longer called anything */
};

_Static_assert(sizeof(struct ptx_object) == 72, "an object is 72 bytes");

/* Into the order that find needs. */
void ptx_objects_sort(struct ptx_object *object, size_t count);

/* What pointer was called in process pid at that time, or NULL. */
const struct ptx_object *ptx_objects_find(const struct ptx_object *object, size_t count,
					  uint32_t pid, uint64_t pointer, int64_t time_ns);

#endif
