/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_types.h - the event types of the kernel's tracing that --kernel selects.
 *
 * The kernel describes the fields of each type in a file. The fields become a schema of the log,
 * and the bytes of a record become the data that the schema describes.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_TYPES_H
#define POSIXTRACE_LIVE_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define KERNEL_TYPES_MAX  128  /* event types in one recording */
#define KERNEL_DATA_BYTES 1000 /* data of an event; a stream keeps 1024 bytes by default */

struct kernel_field {
	enum { KERNEL_NUMBER, KERNEL_TEXT, KERNEL_BYTES } form;
	bool is_dynamic, is_relative; /* the field contains the place of its bytes */
	unsigned offset, size;
};

struct kernel_type {
	int id;                /* in records */
	const char *system, *event;
	char name[128];        /* in the log: SYSTEM:EVENT */
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct kernel_field field[POSIX_TRACE_FIELDS_MAX_NP];
	size_t fields;
	bool has_cpu;          /* the first field of the data is the CPU */
	int address;           /* offset of the address of the program's code; -1: none */
};

struct tep_event;

/* Makes the type of an event of the kernel. The event must exist as long as the type. */
void kernel_type_make(struct kernel_type *type, const struct tep_event *event);

/*
 * Converts a record of the kernel to the data of an event, KERNEL_DATA_BYTES at most. Longer texts
 * are truncated. Returns the number of bytes.
 */
size_t kernel_type_data(const struct kernel_type *type, const unsigned char *record, size_t bytes,
			unsigned cpu, unsigned char *data);

/* Returns the address of the program's code that a record has, or 0 if it has none. */
uint64_t kernel_type_address(const struct kernel_type *type, const unsigned char *record,
			     size_t bytes);

#endif
