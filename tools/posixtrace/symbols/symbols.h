/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.h - from the program address of an event to function, file and line.
 *
 * The log says which file was mapped there, and its build-id; a file with another build-id is never
 * used. Where none is found, or the tool was built without elfutils, an address is MODULE+0xOFFSET;
 * where the log does not know, nothing. What was found of an address is remembered.
 */
#ifndef POSIXTRACE_SYMBOLS_SYMBOLS_H
#define POSIXTRACE_SYMBOLS_SYMBOLS_H

#include "base/out.h"
#include "log/logfile.h"

/* For commands that look for files; and for those that show functions. */
#define SYMBOLS_DIR_OPTION \
	{ "debug-dir", required_argument, NULL, SYMBOLS_DEBUG_DIR }
#define SYMBOLS_OPTIONS \
	SYMBOLS_DIR_OPTION, \
	{ "demangle", no_argument, NULL, SYMBOLS_DEMANGLE }, \
	{ "no-demangle", no_argument, NULL, SYMBOLS_NO_DEMANGLE }

#define SYMBOLS_DIR_HELP \
	"      --debug-dir DIR  look for files by build-id in DIR too, as it is or in .build-id/\n"
#define SYMBOLS_HELP \
	SYMBOLS_DIR_HELP \
	"      --no-demangle    names of C++ functions as the linker has them\n"

enum { SYMBOLS_DEBUG_DIR = 1120, SYMBOLS_DEMANGLE, SYMBOLS_NO_DEMANGLE }; /* values of options */

struct symbol {
	const char *name;   /* the innermost function, or MODULE+0xOFFSET */
	const char *module; /* the file that was mapped there; the log's */
	const char *file;   /* of the source; NULL: unknown */
	unsigned line;      /* 0: unknown */
	bool is_function;
};

/* One of these options. False: it is none, or it has said what is wrong. */
bool symbols_option(int option, const char *value);

/* Where the event was; NULL: nothing is known. It is valid until the next call. */
const struct symbol *symbols_of(const struct logfile *log,
				const struct posix_trace_event_np *event);

/* " NAME (FILE:LINE)" or less, as far as it is known, safe for a terminal. */
void symbols_text(struct out *out, const struct symbol *symbol);

/* "FILE:LINE" */
void symbols_source(struct out *out, const struct symbol *symbol, bool json);

#endif
