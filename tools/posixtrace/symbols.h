/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.h - from the program address of an event to function, file and line.
 *
 * The log says which file was mapped there, and its build-id; a file with another build-id is never used.
 * Where none is found, or the tool was built without elfutils, an address is MODULE+0xOFFSET; where the
 * log does not know, nothing. What was found of an address is remembered.
 */
#ifndef POSIXTRACE_SYMBOLS_H
#define POSIXTRACE_SYMBOLS_H

#include "logfile.h"
#include "out.h"

#define SYMBOLS_OPTIONS \
	{ "debug-dir", required_argument, NULL, SYMBOLS_DEBUG_DIR }

#define SYMBOLS_HELP \
	"      --debug-dir DIR  look for files by build-id in DIR too, as it is or in .build-id/\n"

enum { SYMBOLS_DEBUG_DIR = 1120 }; /* value of the option */

struct symbol {
	const char *name;   /* the innermost function, or MODULE+0xOFFSET */
	const char *file;   /* of the source; NULL: unknown */
	unsigned line;      /* 0: unknown */
	bool is_function;
};

/* --debug-dir. False: it has said what is wrong. */
bool symbols_add_dir(const char *path);

/* Where the event was; NULL: nothing is known. It is valid until the next call. */
const struct symbol *symbols_of(const struct logfile *log, const struct posix_trace_event_np *event);

/* " NAME (FILE:LINE)" or less, as far as it is known, safe for a terminal. */
void symbols_text(struct out *out, const struct symbol *symbol);

/* "FILE:LINE" */
void symbols_source(struct out *out, const struct symbol *symbol, bool json);

#endif
