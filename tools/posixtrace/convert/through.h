/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * through.h - one conversion from its input to its output, for the commands convert, send and
 * receive.
 */
#ifndef POSIXTRACE_CONVERT_THROUGH_H
#define POSIXTRACE_CONVERT_THROUGH_H

#include "convert/flow.h"

struct through {
	const struct format *from; /* NULL: recognized by the contents */
	const struct format *to;
	const char *output;        /* - is standard output */
	bool force, fail_on_loss;
	bool is_metered;           /* a terminal shows the progress */
	const struct fmt_given *given;
	size_t givens;
	struct wanted *wanted;     /* NULL: all events */
	const struct merge *clocks; /* errors of the clocks of several logs; NULL: the default */
};

/*
 * Converts the inputs. Several inputs must all be logs. Returns the exit status of the command;
 * errors have been printed.
 */
int through(const struct through *through, struct fmt_input *input);

/*
 * Returns the format with that name. The format must be a source if "source" is true, otherwise a
 * sink. Returns NULL after an error message.
 */
const struct format *through_named(const char *name, bool source);

/* Returns the sink for the suffix of a file name. Returns NULL after an error message. */
const struct format *through_suffix(const char *path);

#endif
