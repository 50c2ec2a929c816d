/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * logfile.h - a log that a command reads, and the names of its event types.
 *
 * Standard input and files that cannot seek are copied to a temporary file first.
 * Errors are said on standard error; the functions return what a command exits with.
 */
#ifndef POSIXTRACE_LOG_LOGFILE_H
#define POSIXTRACE_LOG_LOGFILE_H

#include <stdbool.h>
#include <trace_np.h>

struct log_type {
	trace_event_id_t id;
	bool listed;            /* the log names it; others come only from damaged logs */
	bool chosen;            /* for a command's use, like index */
	size_t index;
	size_t name_len;
	size_t shown_len;
	/* NULL: not described, or not in a way that can be used */
	struct posix_trace_schema_np *schema;
	char *schema_text;      /* what the log says, also where that is no schema; NULL: nothing */
	bool has_labels;        /* values of it may be called something */
	char *shown;            /* the name, safe for a terminal */
	char name[TRACE_EVENT_NAME_MAX + 1];
};

struct logfile {
	const char *path;       /* as the command line has it; "standard input" for "-" */
	int fd;
	trace_id_t trid;
	bool whole;             /* posix_trace_open() takes it */
	struct posix_trace_loginfo_np info;
	bool has_objects;       /* names of things in memory */
	struct log_type **by_id;
	size_t ids;
	struct log_type **list; /* in the log's order */
	size_t types;
	bool (*choose)(const struct log_type *type); /* sets chosen, if there is one */
};

/* Only the descriptor: for those that do not read events. */
int logfile_open_fd(struct logfile *log, const char *path);

/*
 * Opens the log, with posix_trace_open() if that takes it, else as far as it can be read, and
 * says so. TOOL_OK also for a salvaged log, see whole; otherwise nothing is open.
 */
int logfile_open(struct logfile *log, const char *path,
		 bool (*choose)(const struct log_type *type));
/* The same for a file that is open and can seek; it is the log's from then on. */
int logfile_open_given(struct logfile *log, int fd, const char *name);
/*
 * Of the log's events only those in these times are wanted, both included; others may come that
 * stand beside them. INT64_MIN and INT64_MAX: no bound. 0 or an error number.
 */
int logfile_window(const struct logfile *log, int64_t begin_ns, int64_t end_ns);

/*
 * Whether something is wrong with it, as far as it was opened and read since its position was moved
 * last. True also where it was never completed.
 */
bool logfile_is_damaged(const struct logfile *log);
/* Of a reader of it of its own, which was read. */
bool logfile_reader_is_damaged(trace_id_t trid);

/* How many events it has, if its writer has counted them; else 0. */
uint64_t logfile_events(const struct logfile *log);

/* Such an end leaves nothing out. */
static inline bool logfile_ends_before(const struct logfile *log, int64_t end_ns)
{
	return log->info.last_ns <= end_ns;
}

void logfile_close(struct logfile *log);

/* The type of an event; never NULL. An id without a name is called event#ID. */
const struct log_type *logfile_type(struct logfile *log, trace_event_id_t id);

/* One fault as posixtrace: LOG:OFFSET: REASON. */
void logfile_say_fault(const struct logfile *log, const struct posix_trace_fault_np *fault);

/* Says all that is wrong with the log, at most limit faults. What a command exits with. */
int logfile_say_faults(const struct logfile *log, uint64_t limit);

/*
 * The name of the other trace format that a file has, or NULL. main.c sets it: the formats have a
 * higher rank than this room.
 */
extern const char *(*logfile_foreign_format)(int fd);

/* Says why the library does not open it. TOOL_FAILURE. */
int logfile_say_why(const struct logfile *log, int err);

#endif
