/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * data.h - names of objects in the memory of a traced process, such as locks.
 *
 * The program may have named an object by posix_trace_object_np(3). An object without such a name
 * may be a variable of the program or of a library. Then the symbol table of that file has its
 * name. Only one thread may call these functions.
 */
#ifndef POSIXTRACE_SYMBOLS_DATA_H
#define POSIXTRACE_SYMBOLS_DATA_H

#include "log/logfile.h"

/*
 * Returns the name that an object at the address "pointer" of a process had at this time, or NULL
 * if no name is known. For a variable, the name is VARIABLE, or VARIABLE with a path to a member
 * such as VARIABLE[3].lock, or VARIABLE+0xOFFSET. The name is in object->name. No other member of
 * *object is valid.
 */
const char *data_name(const struct logfile *log, pid_t pid, uint64_t pointer, int64_t time_ns,
		      struct posix_trace_object_np *object);

/*
 * Writes a kind and the name of an object: KIND "NAME". If data_name() finds none, the name is
 * 'otherwise'; if that is NULL, writes KIND 0xPOINTER. Returns the text.
 */
const char *data_text(const struct logfile *log, pid_t pid, uint64_t pointer, int64_t time_ns,
		      const char *kind, const char *otherwise, char *text, size_t size);

/*
 * Returns the name of the variable or function at an address of a process, with +0xOFFSET if the
 * address is inside of it; NULL: no file was mapped there. The text is valid until the next call.
 * A command that shows symbols stores this function in value_symbol (log/value.h).
 */
const char *data_symbol(const struct logfile *log, pid_t pid, uint64_t address, int64_t time_ns);

#endif
