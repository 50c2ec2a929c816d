/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * function_names.c - connects spans with symbols, two rooms of one rank. Only logs whose spans are
 * functions look for files.
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
