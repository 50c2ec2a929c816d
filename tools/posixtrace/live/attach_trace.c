/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach_trace.c - one trace of a running process, from the check of the process to the complete
 * log.
 */
#include <string.h>

#include "base/tool.h"
#include "base/until.h"
#include "inject/inject.h"
#include "live/attach.h"
#include "live/blocked.h"
#include "live/open_calls.h"
#include "live/opened.h"
#include "live/patch_late.h"
#include "live/rotation.h"
#include "live/trap_late.h"
#include "live/enter.h"
#include "live/untraced.h"

/*
 * Returns true if the trace is over. With --inherit the trace continues after the end of the
 * process until the stream has no members any more. No event reports the end of the last member, so
 * the function reads the number of members at each look.
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
		/* from now on the members of the stream decide whether the trace is over */
		until_without_process(until);
	*end = ATTACH_TARGET_ENDED;
	return until->process < 0 && capture_look_at_own().members == 0;
}

/* The stream of a trace, and its status: TOOL_OK until an error ends the trace. */
struct follow {
	struct capture *capture;
	struct kernel *kernel;
	int status;
};

/* Processes the stream and the kernel's records, also while a complete log is written again. */
static void look_at_all(void *arg)
{
	struct follow *follow = arg;

	if (!follow->status)
		follow->status = capture_look_if_due(follow->capture);
	kernel_look(follow->kernel);
}

/* Waits for the end of the trace. Meanwhile it processes the stream and the kernel's records. */
static int follow_trace(struct capture *capture, struct rotation *rotation,
			struct patches *functions, struct kernel *kernel, struct until *until,
			enum attach_end *end)
{
	struct follow follow = { .capture = capture, .kernel = kernel };
	struct patch_late late = { .plan = NULL };
	struct trap_late trap_late = { .plan = NULL };
	struct blocked blocked = { .threads = 0 };

	rotation->meanwhile = (struct kernel_meanwhile){ look_at_all, &follow };
	if ((capture->plan->choose.include.count || capture->plan->choose.exclude.count) &&
	    until->look_ms > CAPTURE_FILTER_MS)
		until->look_ms = CAPTURE_FILTER_MS;
	if (kernel->is_active) {
		if (until->look_ms > kernel_look_ms(kernel))
			until->look_ms = kernel_look_ms(kernel);
		until->wake = kernel_wake(kernel);
	}
	if (capture->plan->budget && until->look_ms > BUDGET_LOOK_MS)
		until->look_ms = BUDGET_LOOK_MS;
	if (!kernel->syscalls) {
		capture_say_waiting(capture->plan->pid);
		untraced_say_go(capture->plan->pid);
	}
	if (kernel->traps && functions->traps.is_forced)
		trap_late_begin(&trap_late, functions, kernel, capture,
				capture->plan->quiet);
	if (trap_late.plan)
		until->wake = trap_late.mapped.wake;
	if (patch_is_wanted(functions) && !functions->traps.is_forced) {
		patch_late_begin(&late, functions, capture->plan->pid, false,
				 capture->plan->quiet);
		if (until->look_ms > PATCH_LATE_LOOK_MS)
			until->look_ms = PATCH_LATE_LOOK_MS;
	}
	while (!is_over(capture->plan, until, end)) {
		look_at_all(&follow);
		rotation_look(rotation, capture->trid, kernel);
		if (follow.status) {
			*end = capture->log_failed ? ATTACH_FLUSH_ERROR : ATTACH_ERROR;
			break;
		}
		patch_late_look(&late);
		trap_late_look(&trap_late);
		blocked_look(&blocked, capture);
	}
	blocked_end(&blocked, capture);
	patch_late_end(&late);
	until->wake = -1;
	trap_late_end(&trap_late);
	rotation->meanwhile.call = NULL;
	return follow.status;
}

/*
 * Records how the process ended. If its children have continued the trace, the pidfd has been
 * closed, and the status is recorded as unknown.
 */
static void note_end(struct capture *capture, const struct until *until)
{
	const pid_t pid = capture->plan->pid;
	struct ended ended = { .is_known = false };

	if (until->process >= 0)
		ended = ended_of(until->process, pid);
	capture_note_end(capture, capture->inner_pid, &ended);
}

/*
 * Traces into the new file. The file gets its final name only when the stream exists, so that an
 * earlier failure leaves an old log untouched.
 */
static int trace_into(const struct capture_plan *plan, struct patches *functions,
		      struct kernel *kernel, const struct kernel_plan *kernel_plan,
		      struct rotation *rotation, struct outfile *file, struct until *until,
		      struct attach_result *result)
{
	struct open_calls open = { .calls = 0 };
	struct capture capture;
	int status = capture_begin(&capture, plan, file->fd), completed;

	if (status) {
		outfile_drop(file);
		return status;
	}
	status = kernel_begin(kernel, kernel_plan, plan->pid, false);
	/* If outfile_keep() fails, the trace ends, since the log would have no name. */
	if (!status)
		status = outfile_keep(file);
	if (status) {
		posix_trace_shutdown(capture.trid);
		budget_end(capture.budget);
		outfile_drop(file);
		return status;
	}
	/*
	 * All events are traced from now on. The duration begins here: the looks below may take
	 * long.
	 */
	until_limit(until, plan->duration_ns);
	patch_say_begun(functions, plan->quiet);
	opened_note(&capture);
	status = follow_trace(&capture, rotation, functions, kernel, until, &result->end);
	if (result->end == ATTACH_TARGET_ENDED)
		note_end(&capture, until);
	/*
	 * The kernel's recording stops before processes_complete() is called. That function may
	 * have to read a long log, and meanwhile the kernel's memory would become full.
	 */
	kernel_stop(kernel);
	if (capture_keeps(plan))
		open_calls_read(&open, functions->open_file - 1);
	processes_complete(&result->processes, &capture, rotation);
	if (capture.budget && !plan->quiet)
		budget_say(capture.budget);
	completed = capture_finish(&capture);
	open_calls_pass(&open, kernel, rotation);
	open_calls_fini(&open);
	completed = tool_worse(completed,
			       kernel_weave(kernel, file, (struct kernel_meanwhile){ NULL, NULL }));
	/* The result is read from the log, which now also has the events of the last flush. */
	completed = tool_worse(completed, capture_read_back(plan, file->path, capture.limit,
							    file->fd, &result->capture));
	capture_add_lost(&result->capture, kernel_uncounted(kernel));
	completed = tool_worse(completed, rotation_add(rotation, &result->capture));
	/* The trace has ended well, but its log is not whole. */
	if (completed && !status)
		result->end = ATTACH_FLUSH_ERROR;
	status = tool_worse(status, completed);
	if (result->capture.bytes && !plan->quiet) {
		untraced_say(rotation, false, kernel_has_calls(&kernel->plan));
		if (kernel->plan.calls != KERNEL_CALLS_ALL)
			untraced_say_go_programs(rotation, false);
		if (!plan->inherit)
			untraced_say_children(rotation);
	}
	outfile_close(file);
	return status;
}

int attach_trace(const struct capture_plan *plan, struct patches *functions,
		 const struct kernel_plan *kernel_plan, enum outfile_mode mode,
		 struct attach_result *result)
{
	struct kernel kernel = { .is_active = false };
	struct kernel_plan kernel_wish = *kernel_plan; /* completed by enter_process() */
	struct inject inject;
	struct until until;
	struct rotation rotation;
	struct outfile file;
	int status, err;

	memset(result, 0, sizeof(*result));
	result->end = ATTACH_ERROR;
	/*
	 * The pidfd is opened before anything else. If the process ends and its number is given to
	 * another process, the pidfd reports the end, so the other process is not mistaken for the
	 * traced one.
	 */
	err = until_begin_with_signals(&until, plan->pid);
	if (err)
		return process_say_why(plan->pid, err);
	process_name(result->program, plan->pid);
	status = rotation_create(&rotation, &file, plan, mode);
	if (!status) {
		/*
		 * The library is loaded before the stream exists. The event types of the library
		 * then have their names when the stream begins, so the filter applies from their
		 * first event.
		 */
		status = enter_process(&inject, plan, &kernel_wish, functions);
		if (!status && patch_is_wanted(functions))
			status = patch_process(functions, plan->pid);
		if (status)
			outfile_drop(&file);
		else
			status = trace_into(plan, functions, &kernel, &kernel_wish, &rotation,
					    &file, &until, result);
		kernel_fini(&kernel);
		inject_end(&inject);
		/*
		 * The code is restored after an error, too, because the process may already have
		 * jumps for this tracer.
		 */
		if (patch_is_wanted(functions) && !functions->traps.is_forced)
			inject_unpatch(plan->pid);
	}
	rotation_fini(&rotation);
	until_end(&until);
	return status;
}
