/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_columns.h - the columns that every event has. The columns of fields follow them. */
#ifndef POSIXTRACE_QUERY_QUERY_COLUMNS_H
#define POSIXTRACE_QUERY_QUERY_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

enum query_column {
	QUERY_TIME, QUERY_NAME, QUERY_TYPE, QUERY_PID, QUERY_TID, QUERY_THREAD, QUERY_ADDRESS,
	QUERY_LEVEL, QUERY_LEN, QUERY_DATA, QUERY_FLAGS, QUERY_LOG,
	/* The columns from here on are hidden. They are computed only if a statement names them. */
	QUERY_FUNCTION, QUERY_SOURCE, QUERY_LINE, QUERY_MODULE, QUERY_LABELS, QUERY_MESSAGE,
	QUERY_COLUMNS
};

static const struct {
	const char *name, *type;
} query_columns[QUERY_COLUMNS] = {
	[QUERY_TIME] = { "time", "INTEGER" }, [QUERY_NAME] = { "name", "TEXT" },
	[QUERY_TYPE] = { "type", "INTEGER" }, [QUERY_PID] = { "pid", "INTEGER" },
	[QUERY_TID] = { "tid", "INTEGER" }, [QUERY_THREAD] = { "thread", "INTEGER" },
	[QUERY_ADDRESS] = { "address", "INTEGER" }, [QUERY_LEVEL] = { "level", "INTEGER" },
	[QUERY_LEN] = { "len", "INTEGER" }, [QUERY_DATA] = { "data", "BLOB" },
	[QUERY_FLAGS] = { "flags", "TEXT" }, [QUERY_LOG] = { "log", "TEXT" },
	[QUERY_FUNCTION] = { "function", "TEXT HIDDEN" },
	[QUERY_SOURCE] = { "source", "TEXT HIDDEN" },
	[QUERY_LINE] = { "line", "INTEGER HIDDEN" }, [QUERY_MODULE] = { "module", "TEXT HIDDEN" },
	[QUERY_LABELS] = { "labels", "TEXT HIDDEN" },
	[QUERY_MESSAGE] = { "message", "TEXT HIDDEN" },
};

/*
 * Returns the value of the column flags. For an event without flags it is NULL, so that "flags IS
 * NOT NULL" is a useful condition.
 */
static inline const char *query_flags(bool truncated, bool late)
{
	return !late ? (truncated ? "truncated" : NULL) : truncated ? "truncated,late" : "late";
}

#endif
