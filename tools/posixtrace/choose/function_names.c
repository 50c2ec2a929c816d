/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * function_names.c - lets the pairing in the folder spans ask the folder symbols for the names of
 * functions. These two folders may not include files of each other. The files with symbols are read
 * only if a log has spans of functions.
 */
#include "choose/function_names.h"

#include "symbols/symbols.h"

static const char *name_of(void *arg, pid_t pid, uint64_t address, int64_t time_ns)
{
	const struct logfile *log = arg;

	return symbols_function(log->trid, pid, address, time_ns);
}

void function_names(struct pairing *pairing, struct logfile *log)
{
	pairing->name = name_of;
	pairing->name_arg = log;
}
