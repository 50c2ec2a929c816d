/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/options.h - the text of POSIXTRACE_OPTIONS, for programs whose start nobody can change.
 *
 * Options are those of `posixtrace record`, with their values behind a blank or "=". Blanks divide;
 * ' and " keep them together, \ keeps one character.
 */
#ifndef PTX_PRELOAD_OPTIONS_H
#define PTX_PRELOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define SHIM_OPTION_BYTES 4096
#define SHIM_OPTION_GLOBS 32

struct shim_options {
	bool is_given;      /* a log is wanted */
	bool is_verbose;    /* the user asked to be told on standard error why there is none */
	const char *wrong;  /* what is wrong with the text, NULL: nothing */
	const char *word;   /* where */
	const char *output; /* %p is the process id; NULL: posixtrace.ptl */
	const char *families;
	const char *glob[SHIM_OPTION_GLOBS];
	unsigned globs;
	size_t size;        /* of the stream, 0: the default */
	size_t log_size;
	int policy;         /* POSIX_TRACE_*, 0: FLUSH */
	int log_policy;     /* 0: APPEND */
	char text[SHIM_OPTION_BYTES]; /* what the pointers point into */
};

/* text may be NULL: nothing is given. */
void shim_options_read(struct shim_options *options, const char *text);

#endif
