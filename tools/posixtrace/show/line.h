/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* line.h - prints one event as a line of text or of JSON. */
#ifndef POSIXTRACE_SHOW_LINE_H
#define POSIXTRACE_SHOW_LINE_H

#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"
#include "log/stacks.h"
#include "show/pick.h"

/*
 * A flag that the tool sets in an event if an event of another log is so close in time that the
 * order of the two events is unknown.
 */
#define LINE_UNORDERED (1u << 31)

#define LINE_ORIGINS      64 /* a power of two */
/*
 * enough for process, thread and address of a line of text, and for the members of JSON that have
 * them
 */
#define LINE_ORIGIN_BYTES 128

struct line_form {
	enum when_form when;
	bool json;
	bool is_part;      /* JSON: a part of another object, without a line end */
	bool hex;          /* data is always printed as bytes */
	bool symbols;      /* the symbol of the program address is printed */
	struct stacks *stacks; /* the stacks of the log; NULL: no call stacks are printed */
	bool all_stacks;   /* the stacks of samples are printed, too */
	const char *log;   /* the log's name, for JSON and the log's column; NULL: none */
	size_t log_width;  /* width of the log's column in lines of text; 0: no column */
	struct pick *pick; /* only these columns are printed; NULL: the whole line */
	bool any;          /* previous_ns is valid */
	int64_t previous_ns;
	/*
	 * The texts of process, thread and address of recent events, in the form of the lines. The
	 * index is a hash of the address and the thread.
	 */
	struct line_origin {
		pid_t pid, tid;
		uint64_t thread;
		uint64_t address;
		size_t len;      /* 0: the element is not used */
		char text[LINE_ORIGIN_BYTES];
	} origin[LINE_ORIGINS];
};

/*
 * Prints the event. The function stores the event's time in 'form', so that the next line can show
 * the time since this event. 'log' must be the event's log.
 */
void line_put(struct out *out, struct line_form *form, const struct logfile *log,
	      const struct log_type *type, const struct posix_trace_event_np *event);

/* Prints the marks of an event that is incomplete or not in order. Few events have marks. */
void line_put_marks(struct out *out, const struct posix_trace_event_np *event);

/*
 * Writes the data of an event without a schema: as the data of a system event, as text, or as
 * bytes.
 */
void line_plain_data(struct out *out, const struct logfile *log,
		     const struct posix_trace_event_np *event);

#endif
