/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_argument.h - the values of a probe, as the note of the probe describes them: "-4@%eax
 * 8@-16(%rbp)".
 */
#ifndef POSIXTRACE_FUNCTIONS_PROBE_ARGUMENT_H
#define POSIXTRACE_FUNCTIONS_PROBE_ARGUMENT_H

#include "functions/binary.h"

struct probe_argument {
	struct shim_plan_argument plan; /* the member "bytes" is not set yet */
	/* false: the form of the argument is unknown, so it is not recorded */
	bool is_known;
	bool is_float;
};

/*
 * Reads the next argument of a text and moves *text behind it. Returns false at the end. Names of
 * objects are looked up in the file.
 */
bool probe_argument_next(const struct binary_file *file, const char **text,
			 struct probe_argument *argument);

#endif
