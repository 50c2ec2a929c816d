/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/log.h - writes a log file. FORMAT defines its bytes.
 *
 * The caller appends events in their final order. ptx_log_append() stores them in a block in memory
 * and does no I/O; ptx_log_write() sends blocks to the file. So the caller can hold a lock while it
 * appends, and release it while it writes.
 *
 * Owner     one caller at a time; the functions do not lock. Any thread may call ptx_log_is_full(),
 *           ptx_log_is_loop() and ptx_log_policy() at any time.
 * Errors    0 or an error number. After a failed write the block stays in memory, and the caller
 *           may write again: the log continues with the first byte that is not in the file
 *           (FORMAT W1).
 * Signals   the caller has blocked SIGXFSZ and SIGPIPE, and consumes them after a write.
 * Units     times in nanoseconds of CLOCK_REALTIME, sizes in bytes.
 */
#ifndef PTX_LOG_H
#define PTX_LOG_H

#include <stdbool.h>

#include "record/attr.h"
#include "record/ledger.h"
#include "record/mapping.h"
#include "record/object.h"
#include "record/record.h"

#define PTX_LOG_UUID_BYTES 16

struct ptx_log;

struct ptx_log_facts {
	struct ptx_attr attr; /* log_policy and log_size determine the arrangement of the file */
	uint32_t pid;         /* the traced process */
	char clock[32];       /* name of the clock that stamps the events */
	uint64_t tick_hz;     /* nominal frequency of the clock */
	char host[64];        /* machine of the traced process; empty: this machine */
	int64_t begin_ns;     /* the time at which the log began; 0: now */
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
	/*
	 * no room in the block or in its table of threads: the caller writes, then appends the
	 * event again
	 */
	PTX_LOG_APPEND_WRITE_FIRST,
	/*
	 * policy UNTIL_FULL: the event is not appended, because the closing STOP would then have no
	 * room
	 */
	PTX_LOG_APPEND_FULL
};

/*
 * Begins a log on the descriptor `fd`. On success the log owns `fd`; after an error the caller
 * still owns it. Errors are EBADF if `fd` is not open for writing, ENOMEM, and the errors of the
 * first write, such as ENOSPC. EINVAL means that the policy cannot work with this type of file,
 * with O_APPEND or with log_size. The function writes the header immediately, so an older log in
 * the file is invalid after this call (FORMAT W2).
 */
int ptx_log_create(int fd, const struct ptx_log_facts *facts, struct ptx_log **log);

/*
 * Does the same as ptx_log_create(), but on a duplicate of `fd` that the log owns; the caller keeps
 * `fd`. A further error is EMFILE. The caller need not block signals, because the function blocks
 * them itself.
 */
int ptx_log_create_beside(int fd, const struct ptx_log_facts *facts, struct ptx_log **log);

/*
 * The two steps of ptx_log_create_beside(), for a log that gets a guardian.
 * ptx_log_prepare_beside() writes nothing: the file still has its old content. ptx_log_begin()
 * writes the header with the guardian's process id and start (clock ticks after boot), or with
 * zeros if there is no guardian. If the writer is killed, the guardian completes the log, and
 * readers wait for the guardian (FORMAT 2.2, R4). The caller starts the guardian before the header
 * exists. So a reader never finds a header that does not name the guardian. After an error of
 * ptx_log_begin() the caller destroys the log.
 */
int ptx_log_prepare_beside(int fd, const struct ptx_log_facts *facts, struct ptx_log **log);
int ptx_log_begin(struct ptx_log *log, uint32_t guardian_pid, uint64_t guardian_start);

/* Appends one event to the block in memory. The function does no I/O. */
enum ptx_log_append ptx_log_append(struct ptx_log *log, const struct ptx_log_event *event);

/*
 * Does the same as ptx_log_append(), for the STOP that closes a log of policy UNTIL_FULL. This
 * event may use the room that ptx_log_append() keeps free for it (FORMAT W3).
 */
enum ptx_log_append ptx_log_append_last(struct ptx_log *log, const struct ptx_log_event *event);

/*
 * Adds the name of an event type. The next write writes the name before the next block of events.
 * EINVAL: the type or the length is out of range; EEXIST: the type has another name already.
 */
int ptx_log_name(struct ptx_log *log, unsigned type, const char *name);

/*
 * Add the schema of an event type, or the name of an object, for the next write. ptx_log_object()
 * returns 0 or ENOMEM. ptx_log_schema() can also return EINVAL (the type or the length is out of
 * range) and EEXIST (the type has another schema already).
 */
int ptx_log_schema(struct ptx_log *log, unsigned type, const char *text);
int ptx_log_object(struct ptx_log *log, const struct ptx_object *object);

/*
 * Adds a mapping of a file for the next write. The mapping is a note as a process has reported it.
 * Readers make spans of time from the notes (record/mapping.h). Errors are EINVAL and ENOMEM, and
 * ENOSPC if the log has its maximum of entries or bytes of paths.
 */
int ptx_log_mapping(struct ptx_log *log, const struct ptx_mapping *mapping);

/*
 * Adds the mappings of the log `from` to a log that has none yet. Omits mappings that were replaced
 * before the time recent_ns, and all mappings of a process that has ended (has_ended()) and has no
 * entry since recent_ns. If the mappings of a child are kept, all mappings of its parent are kept,
 * too. Returns 0 or ENOMEM.
 */
int ptx_log_mappings_copy(struct ptx_log *log, const struct ptx_log *from, int64_t recent_ns,
			  bool (*has_ended)(const void *arg, uint32_t pid), const void *arg);

/*
 * Writes all names, lists and events that were added. After the result 0, nothing remains to be
 * written.
 */
int ptx_log_write(struct ptx_log *log);

/*
 * Returns the number of events that were appended so far, including those not yet written and those
 * that a LOOP log has overwritten since.
 */
uint64_t ptx_log_append_count(const struct ptx_log *log);

/* Returns the log-full policy, for example POSIX_TRACE_LOOP. */
uint32_t ptx_log_policy(const struct ptx_log *log);

/*
 * Returns true if a LOOP log has used all of its space once, or if ptx_log_append() has returned
 * PTX_LOG_APPEND_FULL for an UNTIL_FULL log. Any thread may call this function.
 */
bool ptx_log_is_full(const struct ptx_log *log);

/*
 * Returns true if the log overwrites its oldest blocks when it is full. Any thread may call this
 * function.
 */
bool ptx_log_is_loop(const struct ptx_log *log);

/* Returns the number of events that a LOOP log has overwritten in the file so far. */
uint64_t ptx_log_overwritten(const struct ptx_log *log);

/*
 * Moves the events that a LOOP log has overwritten from reported to lost: in total, by type and by
 * thread. In the caller's ledger every appended event is counted as reported.
 */
void ptx_log_account(const struct ptx_log *log, struct ptx_ledger *ledger);

/*
 * Removes all events from the log, as if it had just been created. In the ledger the reported
 * events become lost with the cause CLEARED, except the events that a LOOP log has overwritten
 * before. Bytes in a pipe cannot be removed. So the events that were written to a pipe stay
 * reported, and only the events that are still in memory are removed (CLEAR-09). If the file cannot
 * be truncated, the log keeps all events and the function returns the error. If the new header
 * cannot be written, the function returns the error, and the next write tries again. If the ledger
 * also counts the events of other logs, `elsewhere` is the ledger of those logs, and their events
 * stay reported; otherwise it is NULL.
 */
int ptx_log_clear(struct ptx_log *log, struct ptx_ledger *ledger,
		  const struct ptx_ledger *elsewhere);

/*
 * Ends the log: writes the remaining events, the tail (FORMAT 3.9) and the closing area, and
 * truncates the file to its end. If the last block cannot be written, its events are counted as
 * lost with the cause FLUSH ERROR, in the ledger of the file and in the caller's ledger. The
 * function itself calls ptx_log_account() for the ledger, so the caller must not call that function
 * before. In the file the function adds to the status whether there was a flush error, and whether
 * the log is full or has overwritten events.
 */
int ptx_log_complete(struct ptx_log *log, const struct ptx_log_status *status,
		     struct ptx_ledger *ledger);

/*
 * From now on, a write to a pipe or device in non-blocking mode fails with EAGAIN if no byte is
 * accepted for a second. Without this call, the write waits without a limit.
 */
void ptx_log_limit_wait(struct ptx_log *log);

/* Returns the descriptor that the log writes to. */
int ptx_log_descriptor(const struct ptx_log *log);

/*
 * Returns the uuid that the header of the log has: PTX_LOG_UUID_BYTES bytes, which are valid until
 * ptx_log_destroy().
 */
const uint8_t *ptx_log_uuid(const struct ptx_log *log);

/* Closes the descriptor and frees the memory. */
void ptx_log_destroy(struct ptx_log *log);

#endif
