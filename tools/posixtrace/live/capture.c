/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * capture.c - creates, watches and completes the stream of a command, with messages that name the
 * options to change.
 */
#include "live/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "base/out.h"
#include "base/path.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/until.h"
#include "inject/target.h"
#include "live/ended.h"
#include "live/families.h"
#include "live/process.h"
#include "log/equation.h"
#include "log/logfile.h"
#include "log/losses.h"

/*
 * The least times between two looks of capture_look_if_due(): with a filter, which must notice new
 * event types soon, and without.
 */
#define FILTER_NS INT64_C(15000000)
#define STATUS_NS INT64_C(100000000)

/*
 * Gives the stream the name of its log, so that the command list shows its purpose. A name that is
 * too long is truncated.
 */
static void name_stream(trace_attr_t *attr, const char *path)
{
	char name[TRACE_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%s", path_last(path));
	posix_trace_attr_setname(attr, name);
}

/*
 * Sets the attributes of the plan. Returns 0 or an error number. Values that do not fit together
 * are refused later, by the creation of the stream.
 */
static int set_attributes(const struct capture_plan *plan, trace_attr_t *attr)
{
	int err = posix_trace_attr_setstreamfullpolicy(attr, plan->stream_policy);
	size_t most;

	name_stream(attr, plan->path);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(attr, plan->log_policy);
	if (!err && plan->inherit)
		err = posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_attr_setstreamsize(attr, plan->stream_size);
	if (!err && plan->log_size)
		err = posix_trace_attr_setlogsize(attr, plan->log_size);
	if (!err)
		err = posix_trace_attr_setlogcompression_np(attr, plan->compression);
	/*
	 * With --data an event also has the bytes that a call moved, so the greatest size of an
	 * event's data grows by their number. Otherwise such events would be truncated.
	 */
	if (!err && plan->content)
		err = posix_trace_attr_getmaxdatasize(attr, &most);
	if (!err && plan->content)
		err = posix_trace_attr_setmaxdatasize(attr, most + plan->content);
	return err;
}

/*
 * The library reports ENOMEM also if a filter of system calls refuses the file for the memory of
 * the stream, or if the file would exceed the limit of file sizes. So this function tries to make
 * such a file, and reads the limit.
 */
void capture_say_no_memory(pid_t pid, size_t bytes, const char *size_key)
{
	const int file = memory_file("posixtrace");
	const int err = errno;
	struct rlimit limit;

	if (file >= 0) {
		close(file);
		if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
			say("process %d: a stream of %zu bytes exceeds the limit of file sizes, "
			    "%llu bytes; see ulimit -f, and %s", (int)pid, bytes,
			    (unsigned long long)limit.rlim_cur, size_key);
			return;
		}
		say("process %d: no memory for a stream of %zu bytes; see %s", (int)pid, bytes,
		    size_key);
		return;
	}
	say("process %d: the memory of the stream cannot be made: memfd_create(2): %s", (int)pid,
	    say_strerror(err));
	if (err == EPERM || err == EACCES || err == ENOSYS)
		say("a filter of system calls, as in a container, can refuse this call");
}

bool capture_is_of_log(int err)
{
	return err == ENOSPC || err == EDQUOT || err == EFBIG || err == EIO || err == EROFS;
}

void capture_say_too_many(pid_t pid)
{
	say("process %d: there are too many streams: at most %d of a user, and 64 of a process; "
	    "'posixtrace list' shows them", (int)pid, TRACE_SYS_MAX);
}

/*
 * Stores and prints the reason why the stream cannot be created. For errors of the library, the
 * message names the option that causes them.
 */
static int capture_say_why(struct capture *capture, int err)
{
	const struct capture_plan *plan = capture->plan;

	capture->err = err;
	switch (err) {
	case EINVAL:
		say("--log-size %zu: too small for this --policy and --log-policy",
		    plan->log_size);
		break;
	case ENOMEM:
		capture_say_no_memory(plan->pid, plan->stream_size, plan->size_key);
		break;
	case EAGAIN:
		capture_say_too_many(plan->pid);
		break;
	default:
		if (!capture_is_of_log(err))
			return process_say_why(plan->pid, err);
		say("%s: the log of process %d cannot be written: %s", plan->path, (int)plan->pid,
		    say_strerror(err));
	}
	return TOOL_FAILURE;
}

/* Creates the stream with these attributes, sets its filter and starts it. */
static int capture_create(struct capture *capture, trace_attr_t *attr, int fd)
{
	const struct capture_plan *plan = capture->plan;
	int err = set_attributes(plan, attr);

	if (err == ENOTSUP) {
		say("--compress: libzstd.so.1 cannot be loaded, or posixtrace was built without "
		    "it");
		return TOOL_FAILURE;
	}
	if (!err)
		err = posix_trace_create_withlog(plan->pid, attr, fd, &capture->trid);
	if (err)
		return capture_say_why(capture, err);
	/* The filter must be complete before the first event. */
	err = admit_begin(&capture->admit, capture->trid);
	if (!err)
		err = posix_trace_start(capture->trid);
	if (err) {
		posix_trace_shutdown(capture->trid);
		return capture_say_why(capture, err);
	}
	return TOOL_OK;
}

/* Returns whether the process has a limit of its memory. */
static bool has_limit(pid_t pid)
{
	struct rlimit limit;

	return (!prlimit(pid, RLIMIT_AS, NULL, &limit) && limit.rlim_cur != RLIM_INFINITY) ||
	       (!prlimit(pid, RLIMIT_DATA, NULL, &limit) && limit.rlim_cur != RLIM_INFINITY);
}

/*
 * Keeps the limit because of which the process may have no memory for a stream. The limit is read
 * while the process lives, because afterwards its number may be another process's.
 */
static void note_limit(struct capture *capture)
{
	const struct capture_plan *plan = capture->plan;
	const char *limit = "";

	if (capture->has_limit)
		limit = target_short_limit(plan->pid, TARGET_LOAD_ROOM + 2 * plan->stream_size);
	if (*limit)
		snprintf(capture->limit, sizeof(capture->limit), "%s", limit);
}

int capture_begin(struct capture *capture, const struct capture_plan *plan, int fd)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	*capture = (struct capture){ .plan = plan, .admit.choose = &plan->choose,
				     .admit.known = plan->known,
				     .inner_pid = procfile_is_foreign() ? plan->pid :
						  procfile_inner_id(plan->pid, plan->pid),
				     .has_limit = has_limit(plan->pid) };
	if (err)
		return capture_say_why(capture, err);
	/*
	 * budget_begin() measures in a child. It is called before the stream exists, because the
	 * child would otherwise inherit the stream's descriptors.
	 */
	if (plan->budget)
		capture->budget = budget_begin(plan->pid, plan->budget);
	if (plan->budget && !capture->budget) {
		posix_trace_attr_destroy(&attr);
		return TOOL_FAILURE;
	}
	err = capture_create(capture, &attr, fd);
	/* The stream has its own copy of the attributes. */
	posix_trace_attr_destroy(&attr);
	if (err) {
		budget_end(capture->budget);
		capture->budget = NULL;
	} else {
		note_limit(capture);
	}
	return err;
}

void capture_note(struct capture *capture, const char *name, const char *schema, const void *data,
		  size_t len)
{
	trace_event_id_t id;

	if (!choose_type(&capture->plan->choose, name) ||
	    posix_trace_trid_eventid_open(capture->trid, name, &id))
		return;
	posix_trace_trid_describe_np(capture->trid, id, schema);
	posix_trace_trid_event_np(capture->trid, id, data, len);
}

void capture_note_end(struct capture *capture, pid_t pid, const struct ended *ended)
{
	if (choose_type(&capture->plan->choose, ENDED_EVENT))
		ended_record(capture->trid, pid, ended);
}

/* Marks a change of --budget in the stream. */
static void note_budget(void *arg, const void *data, size_t len)
{
	struct capture *capture = arg;

	capture_note(capture, BUDGET_EVENT, BUDGET_SCHEMA, data, len);
}

int capture_look_budget(struct capture *capture)
{
	int err = budget_look(capture->budget, capture->trid, note_budget, capture);

	if (!err)
		return TOOL_OK;
	say("process %d: --budget: %s", (int)capture->plan->pid, say_strerror(err));
	return TOOL_FAILURE;
}

int capture_look(struct capture *capture)
{
	struct posix_trace_status_info status;
	int err;

	note_limit(capture);
	if (capture->budget && capture_look_budget(capture))
		return TOOL_FAILURE;
	err = admit_refresh(&capture->admit, capture->trid);

	if (err) {
		say("process %d: its event types cannot be filtered: %s",
		    (int)capture->plan->pid, say_strerror(err));
		return TOOL_FAILURE;
	}
	/*
	 * If a flush has failed, none of the calls above returns the error, but the stream's status
	 * has it. posix_trace_get_status() would reset the overrun, which the log's last status and
	 * posixtrace status report.
	 */
	err = posix_trace_peek_status_np(capture->trid, &status);
	if (err || !status.posix_stream_flush_error)
		return TOOL_OK;
	capture->log_failed = true;
	say("%s: %s", capture->plan->path, say_strerror(status.posix_stream_flush_error));
	return TOOL_FAILURE;
}

int capture_look_if_due(struct capture *capture)
{
	const struct choose *choose = &capture->plan->choose;
	const int64_t now_ns = until_now_ns();

	if (now_ns < capture->next_look_ns)
		return capture->budget ? capture_look_budget(capture) : TOOL_OK;
	capture->next_look_ns = now_ns + (choose->include.count || choose->exclude.count ?
					  FILTER_NS : STATUS_NS);
	return capture_look(capture);
}

/*
 * The function makes all three calls even if one of them fails, so that the log is as complete as
 * possible. It prints the first error.
 */
int capture_finish(struct capture *capture)
{
	int stopped = posix_trace_stop(capture->trid);
	int flushed = posix_trace_flush(capture->trid);
	int shut = posix_trace_shutdown(capture->trid);
	int err = stopped ? stopped : flushed ? flushed : shut;

	budget_end(capture->budget);
	capture->budget = NULL;
	if (err && !capture->log_failed) /* capture_look() has printed the error of the log */
		say("%s: %s", capture->plan->path, say_strerror(err));
	return err ? TOOL_FAILURE : TOOL_OK;
}

/*
 * Opens a complete log by a copy of fd; fd stays open. It is called for complete logs only, because
 * logfile_open_given() would print the error of a damaged log again. Returns a status of the tool.
 */
static int open_complete(struct logfile *log, const char *path, int fd)
{
	const int own = dup(fd);

	if (own >= 0)
		return logfile_open_given(log, own, path);
	say("%s: %s", path, say_strerror(errno));
	return TOOL_FAILURE;
}

/* Reads how many calls the shim of the traced program could not trace. */
static int read_shim(const char *path, int fd, struct shimloss *shim)
{
	struct logfile log;
	int err, status = open_complete(&log, path, fd);

	if (status)
		return status;
	err = shimloss_read(shim, &log);
	logfile_close(&log);
	if (err)
		say("%s: %s", path, say_strerror(err));
	return err ? TOOL_FAILURE : TOOL_OK;
}

/* The result has the counts of the log's ledger. A log without a ledger is damaged. */
int capture_read_log(const char *path, int fd, struct capture_result *result)
{
	struct posix_trace_loginfo_np info = { .complete = 0 };
	trace_id_t trid;
	struct stat st;
	int err = posix_trace_open(fd, &trid);

	if (!err) {
		err = posix_trace_get_ledger_np(trid, &result->ledger);
		if (!err)
			err = posix_trace_get_loginfo_np(trid, &info);
		posix_trace_close(trid);
	}
	if (fstat(fd, &st) == 0)
		result->bytes = (uint64_t)st.st_size;
	if (err) {
		say("%s: the log is not whole; 'posixtrace verify' says where", path);
		return TOOL_DAMAGED;
	}
	result->has_counts = true;
	result->is_complete = info.complete;
	/*
	 * Events of the log count the calls that the shim could not trace. Only a complete log has
	 * all of them.
	 */
	return info.complete ? read_shim(path, fd, &result->shim) : TOOL_OK;
}

void capture_add(struct capture_result *to, const struct capture_result *result)
{
	to->has_counts &= result->has_counts;
	equation_add(&to->ledger, &result->ledger);
	to->shim.early += result->shim.early;
	to->shim.early_alloc += result->shim.early_alloc;
	to->shim.early_any += result->shim.early_any;
	to->shim.unnamed += result->shim.unnamed;
	to->shim.holds += result->shim.holds;
}

void capture_add_lost(struct capture_result *to, uint64_t events)
{
	to->ledger.called += events;
	to->ledger.lost[POSIX_TRACE_LOST_FLUSH_ERROR_NP] += events;
}

/*
 * Prints the patterns that matched nothing. If the recording has several logs, an event of the type
 * may be in any of them, so the function prints nothing.
 */
static void say_unmatched(const struct capture_plan *plan, const char *path, int fd)
{
	struct logfile log;

	if ((!plan->choose.include.count && !plan->choose.exclude.count) ||
	    rotation_is_wanted(&plan->rotate) || open_complete(&log, path, fd))
		return;
	families_say_unmatched(plan->families, &plan->choose, &log);
	logfile_close(&log);
}

int capture_read_back(const struct capture_plan *plan, const char *path, const char *limit, int fd,
		      struct capture_result *result)
{
	const int status = capture_read_log(path, fd, result);

	if (*limit && result->ledger.lost[POSIX_TRACE_LOST_NO_MEMORY_NP])
		say("process %d: events were lost for lack of memory%s", (int)plan->pid, limit);
	if (!status && result->is_complete)
		say_unmatched(plan, path, fd);
	return status;
}

/* Calls that the shim could not trace are losses for the user, although no ledger has them. */
bool capture_has_lost(const struct capture_result *result)
{
	return losses_count(&result->ledger) || shimloss_of(&result->shim, SHIMLOSS_ALL);
}

/* The visitor of capture_look_at_own(). It uses the only stream that this process has created. */
static void visit_own(void *arg, const struct posix_trace_stream_np *stream)
{
	struct capture_own *own = arg;

	if (stream->creator != getpid())
		return;
	own->waiting = stream->waiting;
	own->members = stream->members;
}

struct capture_own capture_look_at_own(void)
{
	struct capture_own own = { .members = 0 };

	posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, visit_own, &own);
	return own;
}

void capture_say_waiting(pid_t pid)
{
	if (capture_look_at_own().waiting)
		say("process %d does not use libposixtrace: it is traced when it executes a "
		    "program that does",
		    (int)pid);
}

void capture_result_text(struct out *out, const char *path, const struct capture_result *result)
{
	text_safe(out, path, strlen(path));
	out_str(out, ": ");
	if (*result->end) {
		out_str(out, result->end);
		out_str(out, ": ");
	}
	if (result->has_counts) {
		out_unsigned(out, result->ledger.reported);
		out_printf(out, " event%s, ", text_plural(result->ledger.reported));
		out_unsigned(out, equation_lost(&result->ledger));
		out_str(out, " lost");
		equation_causes(out, &result->ledger);
	} else {
		out_str(out, "the numbers of events and losses are not known");
	}
	out_str(out, ", ");
	/*
	 * Most logs have no such calls. shimloss_text() prints their numbers by reason, as in the
	 * command stat.
	 */
	if (shimloss_of(&result->shim, SHIMLOSS_ALL)) {
		out_str(out, "calls not traced: ");
		shimloss_text(out, &result->shim);
		out_str(out, ", ");
	}
	out_unsigned(out, result->bytes);
	out_str(out, " bytes");
	if (result->logs)
		out_printf(out, " in %llu log%s",
			   (unsigned long long)(result->logs - result->removed),
			   text_plural(result->logs - result->removed));
	if (result->removed)
		out_printf(out, "; %llu older log%s with %llu event%s removed",
			   (unsigned long long)result->removed, text_plural(result->removed),
			   (unsigned long long)result->removed_events,
			   result->removed_events == 1 ? " was" : "s were");
	out_char(out, '\n');
}
