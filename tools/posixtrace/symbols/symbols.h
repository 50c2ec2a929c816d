/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.h - finds function, file and line of an event's program address.
 *
 * The log has the file that was mapped there and its build-id. A file with another build-id is
 * never used. If no file is found, or the tool was built without elfutils, an address is shown as
 * MODULE+0xOFFSET. If the log has no mapping, there is no symbol. Results are cached.
 */
#ifndef POSIXTRACE_SYMBOLS_SYMBOLS_H
#define POSIXTRACE_SYMBOLS_SYMBOLS_H

#include "base/json.h"
#include "base/option.h"
#include "base/out.h"
#include "log/logfile.h"
#include "log/stacks.h"

/*
 * Rows for tables of options. The first array is for commands that search for files, the second for
 * commands that show functions.
 */
extern const struct option_row symbols_dir_rows[], symbols_rows[];

enum { SYMBOLS_DEBUG_DIR = 1120, SYMBOLS_DEMANGLE, SYMBOLS_NO_DEMANGLE }; /* values of options */

struct symbol {
	const char *name;   /* the innermost function, or MODULE+0xOFFSET */
	const char *module; /* the file that was mapped there; the log owns the text */
	const char *file;   /* the source file; NULL: unknown */
	unsigned line;      /* 0: unknown */
	bool is_function;
	/*
	 * For sums over functions: a name that all addresses of a function have in common. It
	 * equals name, but in a file without symbols it is "function 0xBEGIN of MODULE" if the
	 * tables for unwinders have the begin.
	 */
	const char *whole;
};

/*
 * Processes one of these options. Returns false if it is none of them, or after it printed an
 * error.
 */
bool symbols_option(int option, const char *value);

/*
 * Returns the symbol of the event's address, NULL if none is known. It is valid until the next
 * call. The address is that of the instruction for a sample, a return address for other events.
 */
const struct symbol *symbols_of(const struct logfile *log,
				const struct posix_trace_event_np *event);

/*
 * The same for an address of a process at a time. is_exact: a thread was at this instruction;
 * otherwise a call returns there.
 */
const struct symbol *symbols_at(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns,
				bool is_exact);

/* The same for a frame of a stack. */
const struct symbol *symbols_of_frame(trace_id_t trid, pid_t pid, const struct stacks_found *stack,
				      size_t index, int64_t time_ns);

/*
 * Returns the name of the function whose code begins at an address of a process, or
 * MODULE+0xOFFSET; NULL if no file was mapped there. It is valid until the next call.
 */
const char *symbols_function(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns);

/* Writes " NAME (FILE:LINE)", or the part of it that is known, with unsafe characters escaped. */
void symbols_text(struct out *out, const struct symbol *symbol);

/*
 * These two write "FILE:LINE", or FILE if the line is unknown. The first writes text, the second a
 * member of a JSON object.
 */
void symbols_source(struct out *out, const struct symbol *symbol);
void symbols_source_json(struct json *json, const char *name, const struct symbol *symbol);

#endif
