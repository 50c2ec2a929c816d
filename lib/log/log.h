/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/log.h - a log file being written; FORMAT says what the bytes are.
 *
 * Events come in their final order. They gather in a block in memory (put, never any I/O) and go
 * to the file with write. So the caller can hold a lock while it puts and none while it writes.
 *
 * Owner     one caller at a time; the functions do not lock.
 * Errors    0 or an error number. After a failed write the block stays and write may be called
 *           again; nothing is written twice.
 * Signals   the caller has blocked SIGXFSZ and SIGPIPE and consumes them.
 * Units     times in nanoseconds of CLOCK_REALTIME.
 */
#ifndef PTX_LOG_H
#define PTX_LOG_H

#include <stdbool.h>

#include "record/attr.h"
#include "record/ledger.h"
#include "record/mapping.h"
#include "record/object.h"
#include "record/record.h"

struct ptx_log;

struct ptx_log_facts {
	struct ptx_attr attr; /* log_policy and log_size rule the file */
	uint32_t pid;         /* the traced process */
	char clock[32];       /* what stamps the events */
	uint64_t tick_hz;     /* of that clock, nominal */
	char host[64];        /* the traced process's machine; empty: this one */
};

struct ptx_log_event {
	uint32_t len_flags; /* as in struct ptx_record */
	uint16_t type;
	uint32_t pid;
	uint32_t tid;
	uint64_t thread;
	uint64_t address;
	int64_t time_ns;
	const void *data;
};

struct ptx_log_status { /* the members of struct posix_trace_status_info, in their order */
	int32_t stream_status, stream_full, stream_overrun, flush_status, flush_error;
	int32_t log_overrun, log_full;
};

enum ptx_log_append {
	PTX_LOG_APPEND_DONE,
	PTX_LOG_APPEND_WRITE_FIRST, /* no room in the block: write, then put it again */
	PTX_LOG_APPEND_FULL         /* UNTIL_FULL: it would leave no room for the closing STOP */
};

/*
 * Begins a log on fd, which the log owns from then on (not on failure). EBADF not writable; EINVAL
 * a file type, O_APPEND or log_size that the policy cannot work with; ENOSPC and the like from the
 * first write. Any old log in the file is invalid from here on.
 */
int ptx_log_create(int fd, const struct ptx_log_facts *facts, struct ptx_log **log);

/* The same on a descriptor of the log's own: fd stays the caller's. EMFILE. Any signals. */
int ptx_log_create_beside(int fd, const struct ptx_log_facts *facts, struct ptx_log **log);

enum ptx_log_append ptx_log_append(struct ptx_log *log, const struct ptx_log_event *event);

/* As put, for the closing STOP of an UNTIL_FULL log: may use the room kept for it. */
enum ptx_log_append ptx_log_append_last(struct ptx_log *log, const struct ptx_log_event *event);

/* Makes a name known; goes out at the latest with the next block. Each id once. */
int ptx_log_name(struct ptx_log *log, unsigned type, const char *name);

/*
 * Likewise what a type means (EEXIST: it means something else), and what a thing is called. ENOMEM.
 */
int ptx_log_schema(struct ptx_log *log, unsigned type, const char *text);
int ptx_log_object(struct ptx_log *log, const struct ptx_object *object);

/*
 * Likewise which file was mapped where: what was seen, not settled. ENOSPC: a log has no more of
 * them.
 */
int ptx_log_mapping(struct ptx_log *log, const struct ptx_mapping *mapping);

/* Writes what was put. 0 when nothing is left to write. */
int ptx_log_write(struct ptx_log *log);

/* How many events were put so far, also those that are not written yet or overwritten by now. */
uint64_t ptx_log_append_count(const struct ptx_log *log);

/* The log-full policy, POSIX_TRACE_LOOP and so on. */
uint32_t ptx_log_policy(const struct ptx_log *log);

/* LOOP: its space was used up once. UNTIL_FULL: PUT_FULL was answered. */
bool ptx_log_is_full(const struct ptx_log *log);

/* Events overwritten in the file so far (LOOP). */
uint64_t ptx_log_overwritten(const struct ptx_log *log);

/* Moves what a LOOP log overwrote from reported to lost, in total, by type and by thread. */
void ptx_log_account(const struct ptx_log *log, struct ptx_ledger *ledger);

/*
 * Forgets every event: the log is as just created, and what the ledger has as reported is cleared
 * (but for what a LOOP log overwrote). Not so where what was written cannot be taken back, in a
 * pipe: it stays in the log and reported, and only what had not gone there yet is forgotten
 * (CLEAR-09). After an error of the system's nothing is forgotten, or the header waits to be
 * written again with the next write.
 */
int ptx_log_clear(struct ptx_log *log, struct ptx_ledger *ledger);

/*
 * Writes what is left, names, status, ledger, index and trailer, and cuts the file to its end.
 * The events of a block that cannot be written are counted as lost to a flush error, in the
 * ledger that goes into the file and in the caller's. It also makes ptx_log_account()'s entries
 * in both: the caller's ledger counts every event that was put as reported, and has not been
 * given to ptx_log_account(). A flush error and what the last write overwrote are added to the
 * status in the file.
 */
int ptx_log_complete(struct ptx_log *log, const struct ptx_log_status *status,
		     struct ptx_ledger *ledger);

/* This process completes the log when the writer dies: readers wait for it (FORMAT 2.2). */
int ptx_log_guarded(struct ptx_log *log, uint32_t pid, uint64_t start);

/* The descriptor that it writes to. */
int ptx_log_descriptor(const struct ptx_log *log);

/* Closes the descriptor and frees the memory. */
void ptx_log_destroy(struct ptx_log *log);

#endif
