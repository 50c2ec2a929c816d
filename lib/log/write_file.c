/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_file.c - the descriptor of a log: which files are accepted, how bytes are written, and
 * where a failed write stopped.
 *
 * In a file that can seek, each write has an explicit offset (a positional write). If the system
 * permits it, the log opens the file again. Then the program can set O_APPEND or O_NONBLOCK on its
 * own descriptor, or change its file position, without an effect on the log. All other files are
 * written from front to back (CH-20).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <trace.h>

#include "base/io.h"
#include "base/shield.h"
#include "log/writer.h"

/* A limited write fails if the file accepts no byte for this time: ptx_log_limit_wait(). */
#define WAIT_MS 1000

/*
 * Opens the file again, for writes at given offsets, and returns the descriptor in *own. The path
 * of /proc leads to the same file even if the file was renamed or deleted. The comparison makes
 * sure that the opened file is the same file, because another file system may be mounted at /proc.
 * The descriptor gets a high number, because programs expect the lowest numbers for their own
 * files.
 */
static int write_file_reopen(int fd, const struct stat *st, int *own)
{
	char path[40];
	struct stat now;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = ptx_io_open(path, O_WRONLY | O_NOCTTY, own);
	if (!err)
		/*
		 * The number becomes PTX_FILE_FD_MIN or more. If no such number is free, the old
		 * number stays.
		 */
		*own = ptx_io_move_up(*own, PTX_FILE_FD_MIN);
	if (!err && (fstat(*own, &now) || now.st_dev != st->st_dev || now.st_ino != st->st_ino)) {
		ptx_io_close(*own);
		err = EINVAL;
	}
	/* After an error *own is -1, and the log uses the descriptor of the caller. */
	if (err)
		*own = -1;
	return err;
}

/*
 * Checks that the policy can work with `fd` (WITHLOG-02 to -04, -10). *own becomes the descriptor
 * to use instead of `fd`, or -1. Returns EBADF if `fd` is not writable, and EINVAL if the file
 * cannot hold such a log.
 */
static int write_file_examine(struct ptx_log *log, int fd, int *own)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	*own = -1;
	/* The function returns EBADF, as write() would, before anything is changed. */
	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st))
		return EBADF;
	/*
	 * Only a regular file counts as a file that can seek, because on a device a seek may have
	 * another meaning. Other files can receive logs of policy APPEND only.
	 */
	log->regular = log->positional = S_ISREG(st.st_mode);
	if (!log->regular)
		return log->policy == POSIX_TRACE_APPEND ? 0 : EINVAL;
	/* An empty file may have O_APPEND, because its end is at offset 0, where the log begins. */
	if (flags & O_APPEND && st.st_size)
		/* the log would begin at offset 0, but with O_APPEND each write goes to the end */
		return EINVAL;
	if (write_file_reopen(fd, &st, own) && flags & O_APPEND) {
		/*
		 * The log must use the caller's descriptor. With O_APPEND, pwrite() on Linux
		 * ignores its offset and appends.
		 */
		if (log->policy != POSIX_TRACE_APPEND)
			return EINVAL;
		/*
		 * APPEND needs no offsets: each write goes to the end, where the next block
		 * belongs.
		 */
		log->positional = false;
	}
	return 0;
}

int ptx_log_check_file(const struct ptx_log *log)
{
	return ptx_file_check(log->fd, &log->file, log->file_bytes);
}

/*
 * log->sent is the number of bytes of this buffer that are in the file, even after an error. After
 * an error the caller sends the same buffer again, and the write continues behind these bytes
 * (FORMAT W1).
 */
int ptx_log_send(struct ptx_log *log, const void *bytes, size_t len, uint64_t offset)
{
	int err = ptx_log_check_file(log);

	if (err)
		return err;
	if (log->positional)
		err = ptx_io_write_at(log->fd, bytes, len, offset, &log->sent);
	else
		err = ptx_io_write(log->fd, bytes, len, &log->sent, log->wait_ms);
	/*
	 * ptx_log_check_file() compares the file's size with file_bytes, to notice that a program
	 * has truncated the file. Otherwise the next block would be behind a hole, where readers do
	 * not find it. If no byte was written, the file has not become longer.
	 */
	if (log->regular && log->sent && offset + log->sent > log->file_bytes)
		log->file_bytes = offset + log->sent;
	if (!err)
		/*
		 * The whole buffer is in the file, so the count begins again for the next buffer.
		 */
		log->sent = 0;
	return err;
}

/* The payload is zeroed, because FORMAT requires zeros in spare fields and padding. */
void *ptx_log_meta_payload(struct ptx_log *log, size_t payload_bytes)
{
	struct ptx_log_meta *meta = &log->meta;
	size_t need = sizeof(struct ptx_log_block) + payload_bytes;
	uint8_t *more;

	/*
	 * A block that exceeds the limit of FORMAT B5 would be invalid for every reader, so the
	 * function returns NULL, and the caller returns ENOMEM.
	 */
	if (payload_bytes > PTX_LOG_PAYLOAD_MAX)
		return NULL;
	if (need > meta->room) {
		int saved = errno;

		more = realloc(meta->bytes, need);
		errno = saved;
		if (!more)
			return NULL;
		/*
		 * The metadata buffer keeps this size, because the next block is likely to be as
		 * long.
		 */
		meta->bytes = more;
		meta->room = need;
	}
	memset(meta->bytes, 0, need);
	return meta->bytes + sizeof(struct ptx_log_block);
}

/*
 * Returns memory for the compressed form of the block in the metadata buffer. Returns NULL if the
 * block must not be compressed, or if there is no memory; the caller then writes the plain form.
 */
static void *meta_room(struct ptx_log *log, const struct ptx_log_block *block, size_t payload_bytes)
{
	struct ptx_log_meta *meta = &log->meta;
	size_t need = PTX_LOG_COMPRESSED_HEADER + payload_bytes;

	if (!log->compressor.context || block->type == PTX_LOG_END ||
	    payload_bytes > PTX_LOG_WHOLE_MAX)
		return NULL;
	if (need > meta->compressed_room) {
		int saved = errno;

		free(meta->compressed);
		meta->compressed = malloc(need);
		meta->compressed_room = meta->compressed ? need : 0;
		errno = saved;
	}
	return meta->compressed;
}

/*
 * The caller has set the fields of the header that depend on the payload (`records`, `flags` and
 * the times); fields that neither the caller nor this function sets stay 0. The block gets the next
 * number of its type. That number counts as used only when the block is in the file.
 */
void ptx_log_meta_ready(struct ptx_log *log, enum ptx_log_type type, size_t payload_bytes,
			uint64_t offset)
{
	struct ptx_log_block *block = (struct ptx_log_block *)(void *)log->meta.bytes;

	block->type = (uint16_t)type;
	block->log_id = log->header->log_id;
	block->number = log->number[type];
	/*
	 * In a log of slots, the first events of the current block may be in the file. Those events
	 * precede the block in the metadata buffer.
	 */
	block->first_record = log->block.first_record + ptx_log_loop_written(log);
	log->meta.len = ptx_log_finish_block(&log->compressor, block, payload_bytes,
					     meta_room(log, block, payload_bytes), &log->meta.out);
	log->meta.offset = offset;
	log->sent = 0;
}

/*
 * After a success the function updates the state in memory: the offset and the number of the next
 * block, and the sets of written names and lists. A failed call changes only log->sent and
 * log->file_bytes.
 */
int ptx_log_meta_send(struct ptx_log *log)
{
	const struct ptx_log_block *block = (const void *)log->meta.bytes;
	int err;

	if (!log->meta.len)
		return 0;
	err = ptx_log_send(log, log->meta.out, log->meta.len, log->meta.offset);
	if (err)
		return err;
	/*
	 * In a sequence and in a tail, each block follows the block before it. Blocks in an area of
	 * a log of slots are at other offsets.
	 */
	if (log->meta.offset == log->at)
		log->at += log->meta.len;
	/* The number is used: the file has a block with this number (FORMAT D3, N2). */
	log->number[block->type]++;
	if (block->type == PTX_LOG_NAMES)
		ptx_log_names_sent(log);
	else if (block->type >= PTX_LOG_SCHEMAS && block->type <= PTX_LOG_MAPPINGS)
		ptx_log_lists_sent(log, block->type);
	log->meta.len = 0;
	return 0;
}

/*
 * Fills the closing area of a log that is being written: its state, and the guardian if there is
 * one.
 */
static void open_closing(struct ptx_log *log)
{
	struct ptx_log_closing *closing = &log->header->closing;

	/* The sum and the total are zero unless the log is closed (FORMAT 2.2). */
	memset(closing, 0, sizeof(*closing));
	/* A reader of a pipe cannot determine whether the writer still runs (FORMAT 2.2). */
	memcpy(closing->state, log->positional ? PTX_LOG_WRITING : PTX_LOG_STREAMED,
	       sizeof(closing->state));
	closing->guardian_pid = log->guardian_pid;
	closing->guardian_start = log->guardian_start;
	ptx_log_seal_closing(closing);
}

/*
 * For a pipe this function is called once, before any block. For a file it is called again after
 * each clear (FORMAT W5).
 */
int ptx_log_write_header(struct ptx_log *log)
{
	open_closing(log);
	ptx_log_seal_header(log->header);
	log->sent = 0;
	return ptx_log_send(log, log->header, sizeof(*log->header), 0);
}

/*
 * Makes a log on `fd` that has written nothing yet. *own becomes the log's own descriptor, or -1 if
 * the log uses `fd`. This function never closes `fd`. Returns 0, or the error of ptx_log_new() or
 * write_file_examine(), or EBADF.
 */
static int prepare_log(int fd, const struct ptx_log_facts *facts,
		       const struct ptx_log_origin *origin, int *own, struct ptx_log **result)
{
	struct ptx_log *log;
	int err;

	err = ptx_log_new(facts, origin, &log);
	if (err)
		return err;
	err = write_file_examine(log, fd, own);
	if (err)
		goto undo_new;
	/* The log uses its own open file description, if there is one. */
	log->fd = *own >= 0 ? *own : fd;
	/*
	 * Before each use of the descriptor, the log checks that the descriptor still leads to this
	 * file.
	 */
	err = EBADF;
	if (!ptx_file_identify(log->fd, &log->file))
		goto undo_own;
	*result = log;
	return 0;
undo_own:
	if (*own >= 0)
		ptx_io_close(*own);
undo_new:
	ptx_log_free(log);
	return err;
}

/*
 * `fd` is closed only when no step can fail any more. So after an error the caller still has `fd`,
 * open and unchanged.
 */
int ptx_log_create_from(int fd, const struct ptx_log_facts *facts,
			const struct ptx_log_origin *origin, struct ptx_log **result)
{
	struct ptx_log *log;
	int own, err = prepare_log(fd, facts, origin, &own, &log);

	if (err)
		return err;
	err = ptx_log_write_header(log);
	if (err) {
		if (own >= 0)
			ptx_io_close(own);
		ptx_log_free(log);
		return err;
	}
	/* If the log has its own descriptor, the program's descriptor is no longer needed. */
	if (own >= 0)
		ptx_io_close(fd);
	*result = log;
	return 0;
}

/* facts->host replaces this machine's name, if the events were recorded on another machine. */
static void determine_origin(int fd, const struct ptx_log_facts *facts,
			     struct ptx_log_origin *origin)
{
	/* The identity of the file is determined by `fd`, before the log opens the file again. */
	ptx_log_origin_here(fd, origin);
	/* facts->host is set in the log of a stream that another machine sent. */
	if (*facts->host)
		memcpy(origin->host, facts->host, sizeof(origin->host));
	/* A log that is written again keeps the time at which the original log began. */
	if (facts->begin_ns)
		origin->begin_ns = facts->begin_ns;
}

int ptx_log_create(int fd, const struct ptx_log_facts *facts, struct ptx_log **log)
{
	struct ptx_log_origin origin;
	int err, saved = errno;

	determine_origin(fd, facts, &origin);
	err = ptx_log_create_from(fd, facts, &origin, log);
	errno = saved;
	return err;
}

/*
 * The flags (F_GETFL) are checked before the duplicate is made, so the result for a read-only `fd`
 * is EBADF and not EMFILE.
 */
int ptx_log_prepare_beside(int fd, const struct ptx_log_facts *facts, struct ptx_log **log)
{
	struct ptx_log_origin origin;
	int err, beside, own, saved = errno, flags = fcntl(fd, F_GETFL);

	errno = saved;
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return EBADF;
	err = ptx_file_duplicate(fd, &beside);
	if (err)
		return err;
	determine_origin(beside, facts, &origin);
	err = prepare_log(beside, facts, &origin, &own, log);
	if (err || own >= 0)
		ptx_io_close(beside);
	errno = saved;
	return err;
}

/*
 * The shield (base/shield.h) blocks SIGXFSZ and SIGPIPE for this thread, and consumes the signals
 * that the write has raised.
 */
int ptx_log_begin(struct ptx_log *log, uint32_t guardian_pid, uint64_t guardian_start)
{
	struct ptx_shield shield;
	int err;

	/* No guardian completes a log in a pipe (FORMAT 2.2). */
	if (log->positional) {
		log->guardian_pid = guardian_pid;
		log->guardian_start = guardian_start;
	}
	ptx_shield_raise(&shield);
	err = ptx_log_write_header(log);
	ptx_shield_lower(&shield);
	return err;
}

int ptx_log_create_beside(int fd, const struct ptx_log_facts *facts, struct ptx_log **log)
{
	int err = ptx_log_prepare_beside(fd, facts, log);

	if (err)
		return err;
	err = ptx_log_begin(*log, 0, 0);
	if (err)
		ptx_log_destroy(*log);
	return err;
}

void ptx_log_limit_wait(struct ptx_log *log)
{
	log->wait_ms = WAIT_MS;
}

/* The descriptor is closed only if it still leads to the log's file (base/file.h). */
void ptx_log_destroy(struct ptx_log *log)
{
	ptx_file_close(log->fd, &log->file);
	ptx_log_free(log);
}

/* first_record counts the events of all ended blocks, written or overwritten. */
uint64_t ptx_log_append_count(const struct ptx_log *log)
{
	return log->block.first_record + log->appender.records;
}

/* The result is constant for the life of the log, so any thread may call this function. */
uint32_t ptx_log_policy(const struct ptx_log *log)
{
	return log->policy;
}

/* The descriptor may be the log's own descriptor, not that of ptx_log_create(). */
int ptx_log_descriptor(const struct ptx_log *log)
{
	return log->fd;
}

const uint8_t *ptx_log_uuid(const struct ptx_log *log)
{
	return log->header->uuid;
}
