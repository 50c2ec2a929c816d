/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/rotate.c - posix_trace_rotate_log_np(): a stream continues with a log in another file.
 *
 * The new log and its guardian exist before the stream changes to the new log, so the change is one
 * step, in flush/rotate.c. At each moment a guardian can complete the log that gets the events.
 */
#include <trace_np.h>
#include <unistd.h>

#include "base/io.h"
#include "base/quiet.h"
#include "flush/flush.h"
#include "posix/call.h"
#include "posix/create.h"
#include "posix/guard.h"
#include "posix/shutdown.h"

/* Flushes the stream and changes to the new log. */
static int change_log(struct ptx_stream *stream, const struct ptx_flush_next *next,
		      const struct ptx_flush_caller *who)
{
	struct ptx_log_status status;
	int err = ptx_flush_rotate_begin(stream->flush, who);

	if (err)
		return err;
	pthread_mutex_lock(&stream->lock);
	ptx_posix_last_status(stream, &status);
	pthread_mutex_unlock(&stream->lock);
	return ptx_flush_rotate_end(stream->flush, next, &status);
}

/* The caller has locked the rotation, so the log and the guardian of the stream do not change. */
static int rotate_log(struct ptx_stream *stream, int fd, const struct ptx_flush_caller *who)
{
	struct ptx_guardian guardian = { .pid = 0 };
	struct ptx_flush_next next;
	bool has_header;
	int err;

	/* In the file of the present log, the new log would overwrite the present log. */
	if (ptx_file_is(fd, &stream->log_file))
		return EINVAL;
	err = ptx_posix_prepare_log(stream, fd, &next.log);
	if (err)
		return err;
	next.number = ++stream->logs;
	ptx_registry_note_other(stream, ptx_log_descriptor(next.log));
	next.ledger_fd = ptx_guard_start_next(stream, next.log, next.number, &guardian);
	err = ptx_log_begin(next.log, guardian.pid, guardian.start);
	has_header = !err;
	/* A guardian without the ledger of the earlier logs would write wrong counts. */
	if (!err && guardian.pid && next.ledger_fd < 0)
		err = ENOMEM;
	if (!err)
		err = change_log(stream, &next, who);
	if (next.ledger_fd >= 0)
		ptx_io_close(next.ledger_fd);
	if (err) {
		ptx_guard_dismiss(&guardian);
		if (has_header)
			ptx_posix_abandon_log(next.log);
		else
			ptx_log_destroy(next.log);
	} else {
		ptx_registry_swap_logs(stream);
		ptx_guard_dismiss(&stream->guardian);
		stream->guardian = guardian;
	}
	ptx_registry_note_other(stream, -1);
	return err;
}

/*
 * ENOTSUP: the process is quiet. A seccomp filter may forbid the start of a guardian and the system
 * calls of ptx_guard_dismiss().
 */
PTX_EXPORT int posix_trace_rotate_log_np(trace_id_t trid, int file_desc)
{
	struct ptx_call call = ptx_call_begin();
	const struct ptx_flush_caller who =
		ptx_posix_caller((const char *)__builtin_return_address(0) - 1);
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_LOGGED);
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	ptx_flush_rotation_lock(stream->flush);
	err = ptx_is_quiet() ? ENOTSUP : rotate_log(stream, file_desc, &who);
	ptx_flush_rotation_unlock(stream->flush);
	ptx_registry_leave(stream);
	return ptx_call_end(call, err);
}
