/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* attach_trace.c - one trace of a running process, from its stream's creation to the whole log. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admit.h"
#include "attach.h"
#include "attach_wait.h"
#include "say.h"
#include "tool.h"

/* The stream bears the log's name, so that a list of streams tells what it is for. */
static void name_stream(trace_attr_t *attr, const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[TRACE_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
	posix_trace_attr_setname(attr, name);
}

static int set_attributes(const struct attach *attach, trace_attr_t *attr)
{
	int err = posix_trace_attr_setstreamfullpolicy(attr, attach->stream_policy);

	name_stream(attr, attach->path);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(attr, attach->log_policy);
	if (!err && attach->inherit)
		err = posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_attr_setstreamsize(attr, attach->stream_size);
	if (!err && attach->log_size)
		err = posix_trace_attr_setlogsize(attr, attach->log_size);
	return err;
}

static int say_why(const struct attach *attach, int err)
{
	switch (err) {
	case EINVAL:
		say("--log-size %zu: too small for this --policy and --log-policy",
		    attach->log_size);
		break;
	case ENOMEM:
		say("process %d: no memory for a stream of %zu bytes; see --size", (int)attach->pid,
		    attach->stream_size);
		break;
	case EAGAIN:
		say("process %d: there are too many streams; 'posixtrace list' shows them",
		    (int)attach->pid);
		break;
	default:
		return process_say_why(attach->pid, err);
	}
	return TOOL_FAILURE;
}

/* Whether it is traced from now on. */
static int begin(const struct attach *attach, struct admit *admit, int fd, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (err)
		return say_why(attach, err);
	err = set_attributes(attach, &attr);
	if (!err)
		err = posix_trace_create_withlog(attach->pid, &attr, fd, trid);
	posix_trace_attr_destroy(&attr);
	if (err)
		return say_why(attach, err);
	err = admit_refresh(admit, *trid);
	if (!err)
		err = posix_trace_start(*trid);
	if (err) {
		posix_trace_shutdown(*trid);
		return say_why(attach, err);
	}
	return TOOL_OK;
}

static bool log_fails(trace_id_t trid, int *err)
{
	struct posix_trace_status_info status;

	*err = 0;
	if (!posix_trace_get_status(trid, &status))
		*err = status.posix_stream_flush_error;
	return *err != 0;
}

/* What others see of our stream; this process has no other one. */
struct own {
	bool waiting;
	size_t members;
};

static void find_own(void *arg, const struct posix_trace_stream_np *stream)
{
	struct own *own = arg;

	if (stream->creator != getpid())
		return;
	own->waiting = stream->waiting;
	own->members = stream->members;
}

static struct own look_at_own(void)
{
	struct own own = { .members = 0 };

	posix_trace_look_np(POSIX_TRACE_EVERY_PROCESS_NP, find_own, &own);
	return own;
}

/*
 * Whether that is the end. The process may have left children that inherited the stream; the last of
 * them ends without telling us.
 */
static bool is_over(const struct attach *attach, struct attach_wait *wait, enum attach_end *end)
{
	bool ends = attach_wait_some(wait, end);

	if (!attach->inherit || (ends && *end != ATTACH_TARGET_ENDED))
		return ends;
	if (ends)
		attach_wait_without_process(wait);
	*end = ATTACH_TARGET_ENDED;
	return wait->process < 0 && look_at_own().members == 0;
}

static int follow(const struct attach *attach, struct admit *admit, trace_id_t trid,
		  struct attach_wait *wait, enum attach_end *end)
{
	int err;

	attach_wait_limit(wait, attach->duration_ns);
	if (look_at_own().waiting)
		say("process %d does not use libposixtrace: it is traced when it executes a program that does",
		    (int)attach->pid);
	while (!is_over(attach, wait, end)) {
		err = admit_refresh(admit, trid);
		if (err) {
			*end = ATTACH_ERROR;
			say("process %d: its event types: %s", (int)attach->pid, strerror(err));
			return TOOL_FAILURE;
		}
		if (log_fails(trid, &err)) {
			*end = ATTACH_FLUSH_ERROR;
			say("%s: %s", attach->path, strerror(err));
			return TOOL_FAILURE;
		}
	}
	return TOOL_OK;
}

/* Everything that was recorded goes to the log, whatever has become of the traced process. said: it
 * has been told that the log cannot be written. */
static int finish(const struct attach *attach, trace_id_t trid, bool said)
{
	int stopped = posix_trace_stop(trid);
	int flushed = posix_trace_flush(trid);
	int shut = posix_trace_shutdown(trid);
	int err = stopped ? stopped : flushed ? flushed : shut;

	if (err && !said)
		say("%s: %s", attach->path, strerror(err));
	return err ? TOOL_FAILURE : TOOL_OK;
}

/* What the log says of itself is what counts: who reads it will find the same. */
static int read_back(const struct attach *attach, int fd, struct attach_result *result)
{
	trace_id_t trid;
	struct stat st;
	int err = posix_trace_open(fd, &trid);

	if (!err) {
		err = posix_trace_get_ledger_np(trid, &result->ledger);
		posix_trace_close(trid);
	}
	if (fstat(fd, &st) == 0)
		result->bytes = (uint64_t)st.st_size;
	if (!err)
		return TOOL_OK;
	say("%s: the log is not whole; 'posixtrace verify' says where", attach->path);
	return TOOL_DAMAGED;
}

static int trace_into(const struct attach *attach, struct outfile *file, struct attach_wait *wait,
		      struct attach_result *result)
{
	struct admit admit = { .choose = &attach->choose };
	trace_id_t trid;
	int status = begin(attach, &admit, file->fd, &trid);

	if (status) {
		outfile_drop(file);
		return status;
	}
	status = outfile_keep(file);
	if (status) {
		posix_trace_shutdown(trid);
		outfile_drop(file);
		return status;
	}
	status = follow(attach, &admit, trid, wait, &result->end);
	status = tool_worse(status, finish(attach, trid, result->end == ATTACH_FLUSH_ERROR));
	status = tool_worse(status, read_back(attach, file->fd, result));
	outfile_close(file);
	return status;
}

int attach_trace(const struct attach *attach, struct attach_result *result)
{
	struct attach_wait wait;
	struct outfile file;
	int status, err;

	memset(result, 0, sizeof(*result));
	result->end = ATTACH_ERROR;
	err = attach_wait_begin(&wait, attach->pid);
	if (err)
		return process_say_why(attach->pid, err);
	process_name(result->program, attach->pid);
	status = outfile_create(&file, attach->path, attach->force);
	if (!status)
		status = trace_into(attach, &file, &wait, result);
	attach_wait_end(&wait);
	return status;
}
