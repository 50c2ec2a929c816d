/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* through.h - one conversion from its input to its output: what convert, send and receive share. */
#ifndef POSIXTRACE_CONVERT_THROUGH_H
#define POSIXTRACE_CONVERT_THROUGH_H

#include "convert/flow.h"

struct through {
	const struct format *from; /* NULL: the contents tell */
	const struct format *to;
	const char *output;        /* - is standard output */
	bool force, fail_on_loss;
	bool is_metered;           /* how far it is is shown on a terminal */
	const struct fmt_given *given;
	size_t givens;
	struct wanted *wanted;     /* NULL: all events */
	const struct merge *clocks; /* how wrong clocks of several logs can be; NULL: by default */
};

/* What the command exits with; it has said what is wrong. Of several inputs each must be a log. */
int through(const struct through *through, struct fmt_input *input);

/* The format of that name that can be read, or written; NULL: it has said that there is none. */
const struct format *through_named(const char *name, bool source);

/* The format that the end of an output's name tells; NULL: it has said that it does not. */
const struct format *through_suffix(const char *path);

#endif
