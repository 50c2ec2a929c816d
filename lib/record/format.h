/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/format.h - divides formats of printf() into their parts, for log lines that are formatted
 * when they are read.
 *
 * The text is hostile: it may come from a file. A directive that this file does not support ends
 * the format.
 *
 * Threads   no state; all functions may run concurrently.
 * Signals   async-signal-safe.
 */
#ifndef PTX_RECORD_FORMAT_H
#define PTX_RECORD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#define PTX_FORMAT_ARGUMENTS 31 /* a schema has one field more, for the error number of %m */
#define PTX_FORMAT_NONE      (-1) /* no width, precision or argument */
#define PTX_FORMAT_WIDTH_MAX 512  /* greater widths and precisions of numbers count as this */

/* The C type of an argument. */
enum ptx_format_type {
	PTX_FORMAT_UNKNOWN,
	PTX_FORMAT_INT,
	PTX_FORMAT_UNSIGNED,
	PTX_FORMAT_LONG,          /* also long long, intmax_t, ssize_t and ptrdiff_t: 64 bits */
	PTX_FORMAT_UNSIGNED_LONG,
	PTX_FORMAT_DOUBLE,
	PTX_FORMAT_LONG_DOUBLE,
	PTX_FORMAT_STRING,
	PTX_FORMAT_SHORT_STRING,  /* has a precision and may lack its NUL */
	PTX_FORMAT_WIDE_STRING,
	PTX_FORMAT_POINTER,
	PTX_FORMAT_COUNT          /* for %n: a pointer that is ignored */
};

/* A part of a format: text as it is, or a directive. Arguments are numbered from 0. */
struct ptx_format_part {
	const char *text;  /* of len bytes, if `conversion` is 0 */
	size_t len;
	char conversion;   /* of d i o u x X b B c s p f F e E g G a A n m */
	char flags[8];
	char length[4];    /* as in the format: "", "hh", "l" ... */
	int width, precision;
	int width_argument, precision_argument, argument;
	enum ptx_format_type type; /* of the argument; UNKNOWN: there is none */
};

/* The position in a format. Begin with { format, 0, false }. */
struct ptx_format {
	const char *at;
	int next;      /* the argument of the next directive without a number */
	bool is_wrong; /* the format has an unknown directive or too many arguments */
};

/* Stores the next part. Returns false at the end of the format. */
bool ptx_format_next(struct ptx_format *format, struct ptx_format_part *part);

/*
 * Stores the types of the arguments of a format and returns how many arguments there are. Returns
 * -1 if the format is wrong, or if its numbered arguments have a gap. *has_error becomes true if
 * the format has %m.
 */
int ptx_format_types(const char *format, enum ptx_format_type type[PTX_FORMAT_ARGUMENTS],
		     bool *has_error);

#endif
