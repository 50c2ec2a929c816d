/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_file.c - a log's descriptor: what it must be, how bytes go to it, and where they
 * stopped when they could not.
 *
 * In a file that can seek every write names its place, on an open file description of our own if
 * the system lets us have one: then the program may set O_APPEND or O_NONBLOCK on its descriptor,
 * or move its offset, without harm. Everything else is written from front to back (CH-20).
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

/* A second description of the same file, for writing at given places; or an error. */
static int reopen(int fd, const struct stat *st, int *own)
{
	char path[40];
	struct stat now;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = ptx_io_open(path, O_WRONLY | O_NOCTTY, own);
	if (!err)
		*own = ptx_io_move_up(*own, PTX_FILE_FD_MIN);
	if (!err && (fstat(*own, &now) || now.st_dev != st->st_dev || now.st_ino != st->st_ino)) {
		ptx_io_close(*own);
		err = EINVAL;
	}
	if (err)
		*own = -1;
	return err;
}

/* WITHLOG-02 to -04, -10. *own is a descriptor to use instead of fd, or -1. */
static int examine(struct ptx_log *log, int fd, int *own)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	*own = -1;
	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st))
		return EBADF;
	log->regular = log->positional = S_ISREG(st.st_mode);
	if (!log->regular)
		return log->policy == POSIX_TRACE_APPEND ? 0 : EINVAL;
	if (flags & O_APPEND && st.st_size)
		return EINVAL; /* the log could not begin at offset 0 */
	if (reopen(fd, &st, own) && flags & O_APPEND) {
		/* On Linux pwrite() appends to such a descriptor whatever place it is given. */
		if (log->policy != POSIX_TRACE_APPEND)
			return EINVAL;
		log->positional = false;
	}
	return 0;
}

int ptx_log_check_file(const struct ptx_log *log)
{
	return ptx_file_is(log->fd, &log->file, log->file_bytes) ? 0 : EBADF;
}

int ptx_log_send(struct ptx_log *log, const void *bytes, size_t len, uint64_t offset)
{
	int err = ptx_log_check_file(log);

	if (err)
		return err;
	if (log->positional)
		err = ptx_io_write_at(log->fd, bytes, len, offset, &log->sent);
	else
		err = ptx_io_write(log->fd, bytes, len, &log->sent);
	if (log->positional && offset + log->sent > log->file_bytes)
		log->file_bytes = offset + log->sent;
	if (!err)
		log->sent = 0;
	return err;
}

void *ptx_log_side_payload(struct ptx_log *log, size_t payload_bytes)
{
	struct ptx_log_side *side = &log->side;
	size_t need = sizeof(struct ptx_log_block) + payload_bytes;
	uint8_t *more;

	if (payload_bytes > PTX_LOG_PAYLOAD_MAX)
		return NULL;
	if (need > side->room) {
		int saved = errno;

		more = realloc(side->bytes, need);
		errno = saved;
		if (!more)
			return NULL;
		side->bytes = more;
		side->room = need;
	}
	memset(side->bytes, 0, need);
	return side->bytes + sizeof(struct ptx_log_block);
}

/* The block's other fields were set by whom the payload is, or stay 0. */
void ptx_log_side_ready(struct ptx_log *log, enum ptx_log_type type, size_t payload_bytes,
			uint64_t offset)
{
	struct ptx_log_block *block = (struct ptx_log_block *)(void *)log->side.bytes;

	block->type = (uint16_t)type;
	block->log_id = log->header->log_id;
	block->number = log->number[type];
	block->first_record = log->block.first_record + ptx_log_loop_written(log);
	ptx_log_seal_block(block, payload_bytes);
	log->side.len = sizeof(*block) + payload_bytes;
	log->side.offset = offset;
	log->sent = 0;
}

int ptx_log_side_send(struct ptx_log *log)
{
	const struct ptx_log_block *block = (const void *)log->side.bytes;
	int err;

	if (!log->side.len)
		return 0;
	err = ptx_log_send(log, log->side.bytes, log->side.len, log->side.offset);
	if (err)
		return err;
	if (log->side.offset == log->at)
		log->at += log->side.len;
	log->number[block->type]++;
	if (block->type == PTX_LOG_NAMES)
		ptx_log_names_sent(log);
	else if (block->type >= PTX_LOG_SCHEMAS && block->type <= PTX_LOG_MAPPINGS)
		ptx_log_lists_sent(log, block->type);
	log->side.len = 0;
	return 0;
}

static void open_closing(struct ptx_log *log)
{
	struct ptx_log_closing *closing = &log->header->closing;

	memset(closing, 0, sizeof(*closing));
	memcpy(closing->state, log->positional ? PTX_LOG_WRITING : PTX_LOG_STREAMED,
	       sizeof(closing->state));
	closing->guardian_pid = log->guardian_pid;
	closing->guardian_start = log->guardian_start;
	ptx_log_seal_closing(closing);
}

int ptx_log_guarded(struct ptx_log *log, uint32_t pid, uint64_t start)
{
	size_t done = 0;
	int err;

	if (!log->positional)
		return EINVAL;
	log->guardian_pid = pid;
	log->guardian_start = start;
	open_closing(log);
	err = ptx_log_check_file(log);
	return err ? err : ptx_io_write_at(log->fd, &log->header->closing,
					   sizeof(log->header->closing), PTX_LOG_CLOSING_AT, &done);
}

int ptx_log_write_header(struct ptx_log *log)
{
	open_closing(log);
	ptx_log_seal_header(log->header);
	log->sent = 0;
	return ptx_log_send(log, log->header, sizeof(*log->header), 0);
}

int ptx_log_create_from(int fd, const struct ptx_log_facts *facts,
			const struct ptx_log_origin *origin, struct ptx_log **result)
{
	struct ptx_log *log;
	int err, own;

	err = ptx_log_new(facts, origin, &log);
	if (err)
		return err;
	err = examine(log, fd, &own);
	if (err)
		goto undo_new;
	log->fd = own >= 0 ? own : fd;
	err = ptx_file_know(log->fd, &log->file) ? ptx_log_write_header(log) : EBADF;
	if (err)
		goto undo_own;
	if (own >= 0)
		ptx_io_close(fd);
	*result = log;
	return 0;
undo_own:
	if (own >= 0)
		ptx_io_close(own);
undo_new:
	ptx_log_free(log);
	return err;
}

int ptx_log_create(int fd, const struct ptx_log_facts *facts, struct ptx_log **log)
{
	struct ptx_log_origin origin;
	int err, saved = errno;

	ptx_log_origin_here(fd, &origin);
	if (*facts->host)
		memcpy(origin.host, facts->host, sizeof(origin.host));
	err = ptx_log_create_from(fd, facts, &origin, log);
	errno = saved;
	return err;
}

int ptx_log_create_beside(int fd, const struct ptx_log_facts *facts, struct ptx_log **log)
{
	struct ptx_shield shield;
	int err, own, flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return EBADF;
	err = ptx_file_duplicate(fd, &own);
	if (err)
		return err;
	ptx_shield_raise(&shield);
	err = ptx_log_create(own, facts, log);
	ptx_shield_lower(&shield);
	if (err)
		ptx_io_close(own);
	return err;
}

void ptx_log_destroy(struct ptx_log *log)
{
	ptx_file_close(log->fd, &log->file);
	ptx_log_free(log);
}

uint64_t ptx_log_append_count(const struct ptx_log *log)
{
	return log->block.first_record + log->hot.records;
}

uint32_t ptx_log_policy(const struct ptx_log *log)
{
	return log->policy;
}

int ptx_log_descriptor(const struct ptx_log *log)
{
	return log->fd;
}
