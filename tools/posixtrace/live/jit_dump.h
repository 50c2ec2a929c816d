/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jit_dump.h - reads files jit-PID.dump, in which compilers write each function that they compile
 * while the program runs, with the time. "node --perf-prof", LLVM and agents of Java write them.
 * perf(1) describes the format as jitdump.
 *
 * A compiler may write the file in any folder. It maps the first page of the file executable, so
 * that a tracer finds the path among the mappings of the process.
 *
 * The file is hostile: each length is checked, and the number of records is limited.
 */
#ifndef POSIXTRACE_LIVE_JIT_DUMP_H
#define POSIXTRACE_LIVE_JIT_DUMP_H

#include <stdbool.h>
#include <stdint.h>

/* A record: a new function, or the move of a function to other addresses. */
struct jit_dump_record {
	int64_t time_ns;   /* CLOCK_MONOTONIC; INT64_MIN: unknown */
	uint64_t start, end;
	uint64_t index;    /* of the function; it stays the same when the function moves */
	const char *name;  /* valid during the call; NULL: a move */
};

/* Returns whether the path of a mapping is that of such a file. */
bool jit_dump_is_path(const char *path);

/*
 * Calls take() for each record, in the order of the file, until take() returns false. The names
 * have at most "name_max" bytes, which is less than 4096. Nothing happens if the file has another
 * format. A record that is not complete ends the file, because the process may still write it.
 */
void jit_dump_read(int fd, unsigned name_max,
		   bool (*take)(void *arg, const struct jit_dump_record *record), void *arg);

#endif
