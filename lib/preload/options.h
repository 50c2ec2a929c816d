/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/options.h - the text of POSIXTRACE_OPTIONS, for programs whose command line cannot be
 * changed.
 *
 * The options are some of those of `posixtrace record`, with their values behind a blank or "=".
 * Blanks separate words. A blank between quotes (' or "), or behind a backslash, belongs to a word.
 *
 * Owner     the caller. The result points into the struct itself: do not copy it.
 */
#ifndef PTX_PRELOAD_OPTIONS_H
#define PTX_PRELOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define SHIM_OPTION_BYTES 4096
#define SHIM_OPTION_GLOBS 32

struct shim_options {
	bool is_given;      /* a log is wanted */
	bool is_verbose;    /* report on standard error why there is no log */
	const char *wrong;  /* the fault of the text, in English; NULL: none */
	const char *word;   /* the word with the fault */
	const char *output; /* %p is the process id; NULL: posixtrace.ptl */
	const char *families;
	const char *glob[SHIM_OPTION_GLOBS];
	unsigned globs;
	size_t size;        /* of the stream in bytes, 0: the default */
	size_t log_size;
	int policy;         /* POSIX_TRACE_*, 0: FLUSH */
	int log_policy;     /* 0: APPEND */
};

/*
 * Parses a text. If `text` is NULL, no option is given. The pointers of *options point into a copy
 * of the text, of which the process has one. Threads: one, at the start.
 */
void shim_options_read(struct shim_options *options, const char *text);

#endif
