/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * form.h - makes events of system calls.
 *
 * A call that form_rows.h lists becomes an event of a type of the preload library with the same
 * fields, so that readers need no special case. Every other call, and on request also a listed one,
 * becomes an event sys.NAME. Its fields are the time, the error and the result, the arguments with
 * the names that the kernel gives them, and for a listed call at most two texts to which arguments
 * point.
 *
 * Threads  one thread uses these functions.
 */
#ifndef POSIXTRACE_SYSCALLS_FORM_H
#define POSIXTRACE_SYSCALLS_FORM_H

#include <trace_np.h>

#include "syscalls/syscalls.h"

#define FORM_DATA_BYTES 8192 /* greatest number of bytes of the data of an event */
#define FORM_TEXT_BYTES 480  /* greatest number of bytes of a text in the data, with its NUL */
#define FORM_NAME_BYTES 64

struct form_row;

/* An event type for system calls. */
struct form_type {
	char name[FORM_NAME_BYTES];
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct posix_trace_schema_np schema;
	/* NULL: the name of the type is sys.NAME, or the type was made by forms_named() */
	const struct form_row *row;
	bool is_used;               /* an event of this type will be written */
	trace_event_id_t id;        /* only the caller uses it */
};

struct forms {
	struct form_type **type;
	size_t types;
	/* value of --data: number of bytes of each transfer that are recorded */
	unsigned content;
	bool (*wants)(void *arg, const char *type);
	void *arg;
};

/*
 * Begins without types. The callback wants() returns whether events of the named type are wanted.
 */
void forms_begin(struct forms *forms, unsigned content,
		 bool (*wants)(void *arg, const char *type), void *arg);
/* Frees the types. */
void forms_fini(struct forms *forms);

/*
 * Makes the plans: which calls are recorded, and which parts of memory are copied. If as_sys is
 * true, some calls become events sys.NAME although the library has a type for them.
 */
void forms_plan(const struct forms *forms, struct syscalls_plan plan[SYSCALLS_PLANS], bool as_sys);

/*
 * Returns the type of the event that a call becomes. Returns NULL if events of this type are not
 * wanted, if the schema of the type is too long, or if memory is lacking. If as_sys is true, the
 * type is sys.NAME. "piece" points to the pieces of the record, and "bytes" is their total length.
 */
struct form_type *forms_type(struct forms *forms, const struct syscalls_record *record,
			     const unsigned char *piece, size_t bytes, bool as_sys);

/* Returns the type of the library with this name, or NULL in the same cases as forms_type(). */
struct form_type *forms_named(struct forms *forms, const char *name);

/* Stores the data of the event. Returns the number of bytes. */
size_t forms_data(const struct form_type *type, const struct syscalls_record *record,
		  const unsigned char *piece, size_t bytes,
		  unsigned char data[FORM_DATA_BYTES]);

#endif
