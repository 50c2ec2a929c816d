/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.h - finds the function, source file and line of an event's address.
 *
 * The log has the path and the build-id of the file that was mapped at the address. Only a file
 * with this build-id is used. If no file is found, or if the tool was built without elfutils, an
 * address is shown as MODULE+0xOFFSET. If the log has no mapping at the address, there is no
 * symbol, unless given_add() has added one. The log itself has the names of functions that the
 * program compiled while it ran.
 */
#ifndef POSIXTRACE_SYMBOLS_SYMBOLS_H
#define POSIXTRACE_SYMBOLS_SYMBOLS_H

#include "base/json.h"
#include "base/option.h"
#include "base/out.h"
#include "log/logfile.h"
#include "log/stacks.h"

/*
 * Rows for tables of options. The first array is for commands that only search files, the second
 * for commands that show functions.
 */
extern const struct option_row symbols_dir_rows[], symbols_rows[];

enum { SYMBOLS_DEBUG_DIR = 1120, SYMBOLS_DEMANGLE, SYMBOLS_NO_DEMANGLE }; /* values of options */

struct symbol {
	const char *name;   /* the innermost function, or MODULE+0xOFFSET */
	/* the path of the file that was mapped at the address; the log owns the text */
	const char *module;
	const char *file;   /* the source file; NULL: unknown */
	unsigned line;      /* 0: unknown */
	bool is_function;
	bool is_recorder;   /* 'name' and 'whole' are SYMBOLS_RECORDER, and no file is known */
	/*
	 * A name that is the same for all addresses of a function, for sums over functions. It
	 * equals 'name', except in a file without symbols. There it is "function 0xBEGIN of MODULE"
	 * if the tables for unwinders contain the begin of the function.
	 */
	const char *whole;
};

/*
 * The module of functions of the kernel. In the symbol of such a function, the member 'whole' is
 * NAME_[k], as in other flame graphs.
 */
#define SYMBOLS_KERNEL "kernel"

/* The module of functions that the program compiled while it ran (log/jit.h). */
#define SYMBOLS_COMPILED "[jit]"

/*
 * The name of all instructions in the libraries of this project. A sample there is a cost of the
 * recording, and not of a function of the program.
 */
#define SYMBOLS_RECORDER "posixtrace (recorder)"

/*
 * Processes one of these options. Returns false if the option is none of them. Also returns false
 * after it printed that the value is wrong.
 */
bool symbols_option(int option, const char *value);

/*
 * Returns the symbol of the event's address, or NULL if none is known. The symbol is valid until
 * the next call. In events of samples, and of the begin or end of a thread, it is the address of an
 * instruction. In other events it is a return address.
 */
const struct symbol *symbols_of(const struct logfile *log,
				const struct posix_trace_event_np *event);

/*
 * Returns the symbol of an address of a process at a time. is_exact is true if a thread was at this
 * instruction. Otherwise the address is a return address. An instruction in a library of this
 * project has the name SYMBOLS_RECORDER. A return address there keeps the name of its function,
 * because there the library has called a function of the C library for the program.
 */
const struct symbol *symbols_at(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns,
				bool is_exact);

/* Returns the symbol of a frame of a stack. */
const struct symbol *symbols_of_frame(trace_id_t trid, pid_t pid, const struct stacks_found *stack,
				      size_t index, int64_t time_ns);

/*
 * Returns the name of the function whose code begins at an address of a process, or
 * MODULE+0xOFFSET if the name is unknown. Returns NULL if no file was mapped there. The text is
 * valid as long as the result of symbols_of().
 */
const char *symbols_function(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns);

/*
 * Returns the name in the form of the source, in memory that the caller frees. Returns NULL if the
 * linker's name must be used, because it is not mangled or --no-demangle was given.
 */
char *symbols_source_name(const char *name);

/*
 * Writes "FUNCTION (FILE:LINE)" of an address of a process, with the last part of the file's path.
 * If the line is unknown, writes "FUNCTION of MODULE", or without a function the member 'whole' of
 * the symbol. If there is no symbol, writes nothing. The parameters are those of symbols_at().
 */
void symbols_place(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns, bool is_exact,
		   char *text, size_t size);

/* Writes " NAME (FILE:LINE)", or the parts of it that are known, with unsafe characters escaped. */
void symbols_text(struct out *out, const struct symbol *symbol);

/*
 * Both functions write "FILE:LINE", or "FILE" if the line is unknown. symbols_source() writes text,
 * and symbols_source_json() a member of the open JSON object. symbol->file must not be NULL.
 */
void symbols_source(struct out *out, const struct symbol *symbol);
void symbols_source_json(struct json *json, const char *name, const struct symbol *symbol);

#endif
