/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* attach_trace.c - one trace of a running process. */
#include <string.h>

#include "base/tool.h"
#include "base/until.h"
#include "live/attach.h"

/*
 * Whether that is the end. The process may have left children that inherited the stream; the last
 * of them ends without telling us.
 */
static bool is_over(const struct capture_plan *plan, struct until *until, enum attach_end *end)
{
	static const enum attach_end ends[] = {
		[UNTIL_SIGNAL] = ATTACH_SIGNAL, [UNTIL_TIME] = ATTACH_DURATION,
		[UNTIL_PROCESS_ENDED] = ATTACH_TARGET_ENDED
	};
	enum until_end why;
	bool over = until_some(until, &why);

	if (over)
		*end = ends[why];
	if (!plan->inherit || (over && *end != ATTACH_TARGET_ENDED))
		return over;
	if (over)
		until_without_process(until);
	*end = ATTACH_TARGET_ENDED;
	return until->process < 0 && capture_look_at_own().members == 0;
}

static int follow(struct capture *capture, struct until *until, enum attach_end *end)
{
	int status;

	until_limit(until, capture->plan->duration_ns);
	capture_say_waiting(capture->plan->pid);
	while (!is_over(capture->plan, until, end)) {
		status = capture_look(capture);
		if (status) {
			*end = capture->log_failed ? ATTACH_FLUSH_ERROR : ATTACH_ERROR;
			return status;
		}
	}
	return TOOL_OK;
}

static int trace_into(const struct capture_plan *plan, struct outfile *file, struct until *until,
		      struct attach_result *result)
{
	struct capture capture;
	int status = capture_begin(&capture, plan, file->fd);

	if (status) {
		outfile_drop(file);
		return status;
	}
	status = outfile_keep(file);
	if (status) {
		posix_trace_shutdown(capture.trid);
		outfile_drop(file);
		return status;
	}
	status = follow(&capture, until, &result->end);
	status = tool_worse(status, capture_finish(&capture));
	status = tool_worse(status, capture_read_back(plan, file->fd, &result->capture));
	outfile_close(file);
	return status;
}

int attach_trace(const struct capture_plan *plan, enum outfile_mode mode,
		 struct attach_result *result)
{
	struct until until;
	struct outfile file;
	int status, err;

	memset(result, 0, sizeof(*result));
	result->end = ATTACH_ERROR;
	err = until_begin_asked(&until, plan->pid);
	if (err)
		return process_say_why(plan->pid, err);
	process_name(result->program, plan->pid);
	status = outfile_create(&file, plan->path, mode);
	if (!status)
		status = trace_into(plan, &file, &until, result);
	until_end(&until);
	return status;
}
