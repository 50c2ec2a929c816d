/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/guard.h - completes a stream's log even if its creator is killed (EXIT-01, EXIT-02).
 *
 * A guardian runs beside each stream that has a log in a file: a small process that sleeps until
 * the kernel gives it the creator's lock. A program that closes the library's descriptors loses the
 * lock; then the guardian waits until the creator's memory is gone. If the creator was killed or
 * has executed another program, the guardian then stops the stream, moves the remaining events to
 * the log, completes the log and exits. If the stream was shut down, the guardian only exits.
 * wait() of the program does not report the guardian. The guardian has a session of its own, and no
 * files open but the arena, the log and a file that the creator has mapped. If the system refuses a
 * guardian, everything else works; the log of a killed creator then has only the events that were
 * flushed.
 *
 * A log in a pipe has no guardian, because a pipe cannot be read to find its last block.
 *
 * A stream may continue with another log (rotate.c). The guardian of the new log is started before
 * the stream changes to this log, and the guardian of the old log is killed afterwards. The region
 * has the number of the log that gets the events (flush/checkpoint_flush.h). If the creator is
 * killed, both guardians may live. The guardian whose log has this number completes its log, and
 * the other guardian waits.
 *
 * A guardian changes only the log with the uuid that it has got from the creator, and no log that
 * names another guardian. So it leaves the file alone if the creator was killed before it wrote the
 * header, or if a program has put another log there. A creator in another namespace of process ids
 * cannot name the guardian in the header, so the name alone would not be enough. A creator with an
 * older library passes no uuid, and then only the name protects other logs.
 *
 * Threads   the thread that creates the stream, the one that changes its log, and the one that
 *           shuts it down.
 */
#ifndef PTX_POSIX_GUARD_H
#define PTX_POSIX_GUARD_H

#include "log/log.h"
#include "posix/stream.h"

/*
 * The longest time, in milliseconds, for which a guardian keeps a stream running after the
 * creator's end.
 */
#define PTX_LINGER_MAX_MS 3600000u

/*
 * Starts a guardian for a stream that has a place, and for its log, which has no header yet. Called
 * once, by the creator, before the stream is attached. Stores the guardian's identity in
 * stream->guardian; the member `pid` is 0 if no guardian has started. The caller writes this
 * identity into the header afterwards. errno may change.
 */
void ptx_guard_start(struct ptx_stream *stream, const struct ptx_log *log);

/*
 * Starts a guardian for a further log of the stream, with the given number. If no guardian starts,
 * guardian->pid is 0. Returns a file, or -1. The creator writes the ledger of the earlier logs to
 * this file, for the guardian, and then closes the file.
 */
int ptx_guard_start_next(struct ptx_stream *stream, const struct ptx_log *log, uint64_t number,
			 struct ptx_guardian *guardian);

/* Kills a guardian of a stream whose other guardian remains. */
void ptx_guard_dismiss(struct ptx_guardian *guardian);

/*
 * Waits until the guardian of a stream that was shut down, or could not be created, has ended.
 * Until then the guardian has the log open, so the file system cannot be unmounted. Called when the
 * stream's attachment is free. The wait takes four seconds at most: a guardian that does not end by
 * itself, for example because it was stopped, is killed after half of this time. The wait takes a
 * tenth of a second at most if no descriptor is free, because a zombie cannot be recognized then.
 */
void ptx_guard_end(struct ptx_stream *stream);

/* The stream of a guardian, and its creator. */
struct ptx_guarded {
	int arena_fd, log_fd;
	int life_fd;         /* a file that the creator has mapped; need not be open */
	unsigned bit;        /* the place in the arena, and its generation */
	uint64_t generation;
	bool same_ids;       /* the ids in the arena mean the same processes for the guardian */
	uint64_t log_number; /* of its log: flush/checkpoint_flush.h */
	unsigned which;      /* the number of its lock: arena/attachment.h */
	const uint8_t *uuid; /* of its log; NULL: the creator has passed none */
};

/* The whole work of the guardian's program. Returns 0 or an error number. */
int ptx_guard_run(const struct ptx_guarded *guarded);

#endif
