/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * line.h - one event as a line of text or of JSON.
 */
#ifndef POSIXTRACE_SHOW_LINE_H
#define POSIXTRACE_SHOW_LINE_H

#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"
#include "show/pick.h"

/*
 * Of the flags of an event that is shown: of several logs in one order, this one's place is not
 * known.
 */
#define LINE_UNORDERED (1u << 31)

struct line_form {
	enum when_form when;
	bool json;
	bool hex;          /* all data as bytes */
	bool symbols;      /* function and line of the program address */
	const char *log;   /* named in each JSON line, NULL = not */
	size_t log_width;  /* of the column of it that begins lines of text; 0: none */
	struct pick *pick; /* only these columns; NULL: all of the line */
	bool any;          /* an event was shown before */
	int64_t previous_ns;
};

void line_put(struct out *out, struct line_form *form, const struct logfile *log,
	      const struct log_type *type, const struct posix_trace_event_np *event);

#endif
