/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record_run.c - one recording of a program, from before its start to its exit status. Signals, the
 * end of the program and the time limit arrive in one loop (base/until.h).
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out.h"
#include "base/outfile.h"
#include "base/path.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/until.h"
#include "inject/inject.h"
#include "live/blocked.h"
#include "live/crash.h"
#include "live/enter.h"
#include "live/open_calls.h"
#include "live/opened.h"
#include "live/process.h"
#include "live/patch_late.h"
#include "live/processes.h"
#include "live/progress.h"
#include "live/record.h"
#include "live/rotation.h"
#include "live/trap_late.h"
#include "live/untraced.h"
#include "log/logfile.h"
#include "log/losses.h"

struct run {
	const struct record *record;
	const struct capture_plan *plan;
	struct patches *functions;
	struct capture capture;
	struct outfile file;
	struct rotation rotation; /* the logs; "file" is the present one */
	struct until until;
	struct progress progress;
	struct kernel_plan kernel_plan;
	struct kernel kernel;
	struct patch_late late; /* libraries that are loaded later */
	/* if the kernel records functions: the files that are mapped later */
	struct trap_late trap_late;
	struct blocked blocked;
	unsigned snapshots;
	int urged;          /* number of signals that asked this process to end */
	/* the signal because of which this process no longer waits for the program; 0: none */
	int end_signal;
	bool reaped;        /* the program has ended; its status is in program */
	int program;
	int64_t launched_ns; /* a time before the program has begun */
	struct crash crash; /* with --crash */
	bool has_stream;    /* the stream exists, so that the end of processes is recorded */
	int status;         /* of the stream, TOOL_OK until an error ends the trace */
	struct ended ended; /* the end of a process that record did not start */
	bool has_ended;     /* that process has ended */
	bool is_go_said;    /* a message says that the first program is a program of Go */
	struct processes processes; /* all processes of the log */
};

static bool has_program(const struct run *run)
{
	return run->record->launch.argv != NULL;
}

static bool is_loop(const struct run *run)
{
	return run->plan->stream_policy == POSIX_TRACE_LOOP;
}

/*
 * The signals that this process handles. SIGINT and SIGQUIT come from the terminal, SIGUSR1 is
 * passed on or requests a snapshot.
 */
static sigset_t signals_of(const struct record *record)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (record->launch.argv) {
		sigaddset(&set, SIGQUIT);
		sigaddset(&set, SIGCHLD);
	}
	if (record->launch.argv || (record->snapshot & RECORD_SNAPSHOT_USR1))
		sigaddset(&set, SIGUSR1);
	return set;
}

/*
 * Writes the contents of a stream in loop mode to the log. The stream is stopped meanwhile, so that
 * the snapshot ends at one moment.
 */
static void take_snapshot(struct run *run)
{
	int err = posix_trace_stop(run->capture.trid);

	if (!err)
		err = posix_trace_flush(run->capture.trid);
	if (!err)
		err = posix_trace_start(run->capture.trid);
	progress_clear(&run->progress);
	if (err)
		say("%s: no snapshot: %s", run->plan->path, say_strerror(err));
	else if (++run->snapshots && !run->plan->quiet)
		say("%s: snapshot %u", run->plan->path, run->snapshots);
}

/* Records how a child ended, and keeps the status of the program. */
static void note_end(struct run *run, pid_t pid, int status)
{
	const struct ended ended = { .is_known = true, .status = status };

	if (!run->reaped && pid == run->plan->pid) {
		run->program = status;
		run->reaped = true;
	}
	if (!run->has_stream)
		return;
	/*
	 * With --crash this process is the tracer of all processes, so it notices the ends of all
	 * of them. But a traced process that waits for a child already records the end of this
	 * child. So this function only keeps the ends, and processes_complete() later records the
	 * ends that the log lacks.
	 */
	if (run->record->crash && pid != run->plan->pid && !is_loop(run))
		processes_set_end(&run->processes, pid, status);
	else
		capture_note_end(&run->capture, pid, &ended);
}

/*
 * Reaps every child that has ended: the program, whose status is kept, and orphans. A traced
 * process that becomes an orphan is a child of this process in two cases: with --wait, and if this
 * process is the init process of a container. If no process reaped the orphan, it would remain a
 * zombie, and a program that waits for its disappearance would wait forever. Returns true if no
 * children are left.
 */
static bool reap_children(struct run *run)
{
	pid_t pid;
	int status;

	do {
		pid = waitpid(-1, &status, WNOHANG | (run->record->crash ? __WALL : 0));
		if (pid > 0 && (!run->record->crash || crash_status(&run->crash, pid, status)))
			note_end(run, pid, status);
	} while (pid > 0 || (pid < 0 && errno == EINTR));
	return pid < 0;
}

/*
 * Processes a signal; returns true if it ends the trace. If a running process is traced, SIGINT,
 * SIGTERM and SIGHUP end the trace. If this command has started a program, a signal that the
 * terminal sends also reaches the program, which decides what to do. A signal that a process sent
 * only to this process is passed on to the program. After an earlier SIGTERM or SIGHUP, a SIGTERM
 * ends the trace even if the program continues. A further SIGHUP does not end the trace, because
 * the kernel, the shell and posixtrace why may all send SIGHUP when a terminal ends.
 */
static bool ends_by(struct run *run, int sig, bool sent)
{
	if (sig == SIGCHLD) {
		reap_children(run);
		return false;
	}
	if (sig == SIGUSR1 && (run->record->snapshot & RECORD_SNAPSHOT_USR1)) {
		take_snapshot(run);
		return false;
	}
	if (!has_program(run))
		return true;
	/* after the program was reaped, another process may have its number */
	if (sent && !run->reaped)
		kill(run->plan->pid, sig);
	if (sig != SIGTERM && sig != SIGHUP)
		return false;
	if (run->urged++ == 0 || sig == SIGHUP)
		return false;
	run->end_signal = sig;
	return true;
}

/*
 * Processes all pending signals. If a signal ends the trace, returns true. Later signals then
 * remain pending.
 */
static bool ends_by_signal(struct run *run)
{
	bool sent, ends = false;
	int sig;

	while (!ends && until_signal(&run->until, &sig, &sent))
		ends = ends_by(run, sig, sent);
	return ends;
}

/* Waits for the end of the program and keeps its status. */
static void wait_for_end(struct run *run)
{
	pid_t pid = 0;
	int status = 0;

	while (!run->reaped && (pid = waitpid(run->plan->pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (pid > 0)
		note_end(run, pid, status);
	run->reaped = true;
}

/*
 * Handles the end of the process, which the pidfd has reported. If this command has started the
 * process, the function reaps the process now. The status of any other process may be unknown.
 * ended_of() explains why.
 */
static void process_ended(struct run *run)
{
	if (has_program(run)) {
		wait_for_end(run);
		return;
	}
	run->has_ended = true;
	run->ended = ended_of(run->until.process, run->plan->pid);
	capture_note_end(&run->capture, run->plan->pid, &run->ended);
}

/*
 * Returns whether all children of this process are guardians of streams. A guardian is an orphan,
 * too. It is a child of this process in two cases: if it began after prctl(2), as the guardian of a
 * further log does, and if this process is the init process of a container. Returns false if the
 * kernel does not show all children: a list that fills the buffer may have lost its end.
 */
static bool has_only_guardians(void)
{
	char path[64], list[PROCFILE_BYTES], program[PATH_MAX], *end;
	long child;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (!procfile_read(path, list, sizeof(list)) || strlen(list) == sizeof(list) - 1)
		return false;
	for (char *at = list; (child = strtol(at, &end, 10)) > 0; at = end)
		if (!procfile_program((pid_t)child, program, sizeof(program)) ||
		    strcmp(path_last(program), "posixtrace-guardian") != 0)
			return false;
	return true;
}

/*
 * Returns true if the program or process, which has ended, has no descendants left. Descendants of
 * a program are children of this process as soon as their own parents have ended. Descendants of
 * another process are the members of the stream, which they have inherited.
 */
static bool has_no_children(struct run *run)
{
	return has_program(run) ? reap_children(run) || has_only_guardians() :
				  capture_look_at_own().members == 0;
}

/* Waits for the next event and returns true if the trace is over. */
static bool is_over(struct run *run)
{
	enum until_end why;

	if (until_some(&run->until, &why))
		switch (why) {
		case UNTIL_SIGNAL:
			if (ends_by_signal(run))
				return true;
			break;
		case UNTIL_TIME:
			return true;
		case UNTIL_PROCESS_ENDED:
			process_ended(run);
			if (!run->record->wait_for_children)
				return true;
			until_without_process(&run->until);
		}
	return run->until.process < 0 && has_no_children(run);
}

/* Processes the stream. The function must be called from time to time. */
static void look_at_stream(struct run *run)
{
	if (!run->status)
		run->status = capture_look_if_due(&run->capture);
}

/* Does the work that cannot wait, while a complete log is written again. */
static void serve_recording(void *arg)
{
	struct run *run = arg;

	look_at_stream(run);
	kernel_look(&run->kernel);
	/* With --crash, children wait until this process has seen their signals. */
	if (has_program(run))
		reap_children(run);
}

/*
 * The loop of the trace. If events are filtered by name, the sleeps must be short, because new
 * names are noticed only between two sleeps.
 */
static int follow_trace(struct run *run)
{
	run->rotation.meanwhile = (struct kernel_meanwhile){ serve_recording, run };
	if (run->plan->choose.include.count || run->plan->choose.exclude.count)
		run->until.look_ms = CAPTURE_FILTER_MS;
	if (run->kernel.is_active) {
		if (run->until.look_ms > kernel_look_ms(&run->kernel))
			run->until.look_ms = kernel_look_ms(&run->kernel);
		run->until.wake = kernel_wake(&run->kernel);
	}
	if (run->plan->budget && run->until.look_ms > BUDGET_LOOK_MS)
		run->until.look_ms = BUDGET_LOOK_MS;
	if (run->kernel.traps && run->functions->traps.is_forced)
		trap_late_begin(&run->trap_late, run->functions, &run->kernel, &run->capture,
				run->plan->quiet);
	if (run->trap_late.plan)
		run->until.wake = run->trap_late.mapped.wake;
	if (patch_is_wanted(run->functions) && !run->functions->traps.is_forced) {
		patch_late_begin(&run->late, run->functions, run->plan->pid, has_program(run),
				 run->plan->quiet);
		if (run->until.look_ms > PATCH_LATE_LOOK_MS)
			run->until.look_ms = PATCH_LATE_LOOK_MS;
	}
	while (!run->status && !is_over(run)) {
		look_at_stream(run);
		rotation_look(&run->rotation, run->capture.trid, &run->kernel);
		kernel_look(&run->kernel);
		patch_late_look(&run->late);
		trap_late_look(&run->trap_late);
		blocked_look(&run->blocked, &run->capture);
		progress_show(&run->progress, run->capture.trid, run->file.fd);
	}
	blocked_end(&run->blocked, &run->capture);
	progress_clear(&run->progress);
	patch_late_end(&run->late);
	run->until.wake = -1;
	trap_late_end(&run->trap_late);
	return run->status;
}

/*
 * Returns the signal by which the program crashed, or 0 if it did not crash. Signals by which users
 * end programs are not crashes. The program may not have been reaped yet. With WNOWAIT its status
 * remains for exit_status().
 */
static int crash_of(const struct run *run)
{
	siginfo_t info = { .si_pid = 0 };
	int sig = 0;

	if (run->reaped)
		sig = WIFSIGNALED(run->program) ? WTERMSIG(run->program) : 0;
	else if (has_program(run) &&
		 !waitid(P_PID, (id_t)run->plan->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
		 info.si_pid && info.si_code != CLD_EXITED)
		sig = info.si_status;
	switch (sig) {
	case SIGHUP:
	case SIGINT:
	case SIGTERM:
	case SIGPIPE:
		return 0;
	}
	return sig;
}

/*
 * Clears a stream in loop mode if its contents must not be written at the end. If a snapshot was
 * taken, the stream is always written, because posix_trace_clear() would also remove the snapshots
 * from the log.
 */
static void discard_unwanted(struct run *run)
{
	const struct record *record = run->record;

	if (!record->snapshot || run->snapshots || (record->snapshot & RECORD_SNAPSHOT_EXIT) ||
	    ((record->snapshot & RECORD_SNAPSHOT_CRASH) && crash_of(run)))
		return;
	posix_trace_clear(run->capture.trid);
	say("%s: no snapshot was taken", run->plan->path);
}

/* Writes how the program or the process ended, for the last line. */
static void end_text(const struct run *run, char *text, size_t bytes)
{
	const struct ended program = { .is_known = true, .status = run->program };
	bool has_ended = has_program(run) ? run->reaped : run->has_ended;
	char how[ENDED_TEXT] = "runs on";

	if (has_ended)
		ended_text(how, has_program(run) ? &program : &run->ended);
	if (has_program(run))
		snprintf(text, bytes, "program %s", how);
	else
		snprintf(text, bytes, "process %d %s", (int)run->plan->pid, how);
}

/*
 * Completes the log and prints the result. The result is printed on standard error, because
 * standard output belongs to the program.
 */
static int complete_log(struct run *run)
{
	struct capture_result result = { .bytes = 0 };
	struct open_calls open = { .calls = 0 };
	static struct out err = { .fd = STDERR_FILENO };
	int status;

	/*
	 * The kernel's recording stops before processes_complete() is called. That function may
	 * have to read a long log, and the kernel's memory would become full meanwhile.
	 */
	kernel_stop(&run->kernel);
	if (capture_keeps(run->plan))
		open_calls_read(&open, run->functions->open_file - 1);
	discard_unwanted(run);
	processes_complete(&run->processes, &run->capture, &run->rotation);
	run->has_stream = false;
	run->crash.capture = NULL;
	if (run->capture.budget && !run->plan->quiet)
		budget_say(run->capture.budget);
	status = capture_finish(&run->capture);
	open_calls_pass(&open, &run->kernel, &run->rotation);
	open_calls_fini(&open);
	status = tool_worse(status, kernel_weave(&run->kernel, &run->file,
						 (struct kernel_meanwhile){ NULL, NULL }));
	status = tool_worse(status, capture_read_back(run->plan, run->file.path,
						      run->capture.limit, run->file.fd, &result));
	capture_add_lost(&result, kernel_uncounted(&run->kernel));
	status = tool_worse(status, rotation_add(&run->rotation, &result));
	/*
	 * With --quiet the result is printed only if events were lost, if losses are not known, or
	 * if a loss makes the command exit with 4.
	 */
	if (result.bytes && (!run->plan->quiet || !result.has_counts ||
			     losses_count(&result.ledger) ||
			     (run->record->fail_on_loss && capture_has_lost(&result)))) {
		end_text(run, result.end, sizeof(result.end));
		out_str(&err, "posixtrace: ");
		capture_result_text(&err, run->plan->path, &result);
		out_flush(&err);
	}
	if (result.bytes && !run->plan->quiet) {
		untraced_say(&run->rotation, run->record->untraced,
			     kernel_has_calls(&run->kernel.plan));
		if (run->kernel.plan.calls != KERNEL_CALLS_ALL)
			untraced_say_go_programs(&run->rotation, run->is_go_said);
		if (is_loop(run))
			processes_read(&run->processes, &run->rotation);
		processes_text(&err, &run->processes);
		out_flush(&err);
	}
	processes_fini(&run->processes);
	if (run->record->fail_on_loss && capture_has_lost(&result))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

/*
 * Waits for the program after the trace has ended, for example by --duration. Returns the program's
 * exit status, as a shell would. If a signal ends the wait, returns 128 and the number of this
 * signal.
 */
static int wait_for_program(struct run *run)
{
	enum until_end why;

	until_limit(&run->until, 0);
	run->urged = 0;
	while (!run->end_signal && !run->reaped)
		if (until_some(&run->until, &why)) {
			if (why == UNTIL_PROCESS_ENDED)
				wait_for_end(run);
			else
				ends_by_signal(run);
		}
	if (!run->reaped)
		return RECORD_SIGNAL + run->end_signal;
	return WIFSIGNALED(run->program) ? RECORD_SIGNAL + WTERMSIG(run->program) :
					   WEXITSTATUS(run->program);
}

/*
 * Returns the exit status of the program if it is not 0. If it is 0, returns TOOL_OK, TOOL_LOST, or
 * RECORD_FAILURE if the trace failed. If no program was started, returns the status of the trace.
 */
static int exit_status(struct run *run, int status)
{
	int program;

	if (!has_program(run))
		return status;
	program = wait_for_program(run);
	if (program)
		return program;
	return status == TOOL_OK || status == TOOL_LOST ? status : RECORD_FAILURE;
}

/*
 * Records that the program cannot load the library. If a program that is executed later cannot load
 * the library, the library in its predecessor records this, with the same event type.
 */
static void note_untraced(struct run *run)
{
	const char *why = run->record->untraced;
	char data[1024];
	int32_t pid = run->plan->pid;
	int len;

	if (!why)
		return;
	memcpy(data, &pid, sizeof(pid));
	len = snprintf(data + 4, sizeof(data) - 5, "%s%s%c%.900s", why,
		       kernel_has_calls(&run->kernel.plan) ?
		       "; system calls by kernel tracing" : "", '\0',
		       run->record->launch.argv[0]);
	capture_note(&run->capture, UNTRACED_EVENT, "s32 pid; str why; str program", data,
		     (size_t)len + 5);
}

/*
 * Gives the log its name, and then traces. If the log cannot get its name, the trace ends, but the
 * program continues.
 */
static int trace_to_end(struct run *run)
{
	int status = outfile_keep(&run->file);

	if (status) {
		posix_trace_shutdown(run->capture.trid);
		outfile_drop(&run->file);
		return exit_status(run, status);
	}
	until_limit(&run->until, run->plan->duration_ns);
	if (!has_program(run)) {
		patch_say_begun(run->functions, run->plan->quiet);
		if (!run->kernel.syscalls)
			capture_say_waiting(run->plan->pid);
		opened_note(&run->capture);
	}
	run->has_stream = true;
	note_untraced(run);
	/*
	 * The program may be a server that runs for long. So a message at the begin of the
	 * recording, and not only at the end, says that calls are missing.
	 */
	if (run->kernel.plan.has_library && run->kernel.plan.calls != KERNEL_CALLS_ALL &&
	    !run->plan->quiet)
		run->is_go_said = untraced_say_go(run->plan->pid);
	progress_begin(&run->progress, !run->plan->quiet);
	status = follow_trace(run);
	status = tool_worse(status, complete_log(run));
	outfile_close(&run->file);
	return exit_status(run, status);
}

/*
 * The recorder renames an existing file of the log to LOG.old, which replaces an older file of that
 * name. Returns whether this is permitted: LOG or LOG.old does not exist, or LOG.old is an empty
 * file or a log that can be read. Otherwise the function prints an error.
 */
static bool may_age(const char *path)
{
	enum logfile_kind kind = LOGFILE_READABLE;
	char why[LOGFILE_WHY_BYTES] = "";
	struct stat st;
	char *old;

	if (lstat(path, &st))
		return true;
	if (asprintf(&old, "%s.old", path) < 0) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	if (!lstat(old, &st) && (!S_ISREG(st.st_mode) || st.st_size))
		kind = S_ISREG(st.st_mode) ? logfile_kind(old, why) : LOGFILE_NO_LOG;
	if (kind != LOGFILE_READABLE)
		say("%s: the file exists and %s%s%s, so %s cannot get this name; give another name "
		    "after -o, or --force", old,
		    kind == LOGFILE_NO_LOG ? "is not a log" :
		    kind == LOGFILE_REFUSED ? "is a log that cannot be read" : "cannot be read",
		    *why ? ": " : "", why, path);
	free(old);
	return kind == LOGFILE_READABLE;
}

/*
 * Creates the file of the log. The file gets its final name only in trace_to_end(), so if nothing
 * can be traced, an old log is not changed. LOG.old is examined here, so that no program is started
 * in vain. trace_to_end() examines LOG.old again, because another process may have made LOG or
 * LOG.old meanwhile.
 */
static int create_log(struct run *run)
{
	int status;

	if (!run->record->force && !rotation_is_wanted(&run->plan->rotate) &&
	    !may_age(run->plan->path))
		return TOOL_FAILURE;
	status = rotation_create(&run->rotation, &run->file, run->plan,
				 run->record->force ? OUTFILE_REPLACE : OUTFILE_AGE);
	run->file.may_age = may_age;
	return status;
}

/* Begins the kernel's recording. After an error, which was printed, no log remains. */
static int begin_kernel(struct run *run, bool starts)
{
	int status = kernel_begin(&run->kernel, &run->kernel_plan, run->plan->pid, starts);

	if (!status)
		return TOOL_OK;
	posix_trace_shutdown(run->capture.trid);
	outfile_drop(&run->file);
	return status;
}

/*
 * Records a running process. Returns the exit status of the command. The pidfd is opened first, so
 * that the end of the process cannot be missed.
 */
static int trace_process(struct run *run)
{
	sigset_t set = signals_of(run->record);
	struct inject inject = { .is_attached = false };
	int err = until_begin(&run->until, run->plan->pid), status;

	if (err)
		return process_say_why(run->plan->pid, err);
	err = until_signals(&run->until, &set);
	if (err)
		status = process_say_why(run->plan->pid, err);
	else
		status = create_log(run);
	if (!status) {
		/* As long as capture_begin() has not succeeded, an error removes the new log. */
		status = enter_process(&inject, run->plan, &run->kernel_plan,
				       run->functions);
		if (!status && patch_is_wanted(&run->record->functions))
			status = patch_process(run->functions, run->plan->pid);
		if (!status)
			status = capture_begin(&run->capture, run->plan, run->file.fd);
		if (status)
			outfile_drop(&run->file);
		else if (begin_kernel(run, false))
			status = TOOL_FAILURE;
		else
			status = trace_to_end(run);
		kernel_fini(&run->kernel);
		inject_end(&inject);
		/*
		 * The code is restored after an error, too, because the process may already have
		 * jumps for this tracer.
		 */
		if (patch_is_wanted(run->functions) && !run->functions->traps.is_forced)
			inject_unpatch(run->plan->pid);
	}
	until_end(&run->until);
	return status;
}

static int say_not_executed(const char *program, int err)
{
	say("%s: %s", program, say_strerror(err));
	return err == ENOENT ? RECORD_NOT_FOUND : RECORD_NOT_EXECUTABLE;
}

/*
 * launch_execute() calls this function from time to time. With --crash, a signal that arrives
 * before the program begins stops the child. Then reap_children() lets the child continue.
 */
static void serve_stops(void *arg)
{
	reap_children(arg);
}

/*
 * launch_execute() calls this function while the child executes the program, so that the program
 * need not wait.
 */
static void note_inherited(void *arg)
{
	struct run *run = arg;

	opened_note_inherited(&run->capture, run->launched_ns);
}

/* Traces the waiting child. If no stream can be created, the program is not executed. */
static int trace_child(struct run *run, struct launch *launch, sigset_t *set)
{
	int err = until_begin(&run->until, launch->pid), status = RECORD_FAILURE;

	if (!err)
		err = until_signals(&run->until, set);
	if (err) {
		process_say_why(launch->pid, err);
	} else if (!capture_begin(&run->capture, run->plan, run->file.fd)) {
		/*
		 * Orphans become children of this process from now on. The guardian of the first
		 * log does not become a child of this process, because it became an orphan before
		 * this call. The guardians of further logs do: has_only_guardians().
		 */
		if (run->record->wait_for_children)
			prctl(PR_SET_CHILD_SUBREAPER, 1);
		if (begin_kernel(run, true)) {
			launch_cancel(launch);
			return RECORD_FAILURE;
		}
		if (run->record->crash) {
			err = crash_begin(&run->crash, &run->capture, launch->pid);
			if (err)
				say("--crash: %s: %s", run->record->launch.argv[0],
				    say_strerror(err));
			launch->serve = serve_stops;
		}
		patch_say_begun(run->functions, run->plan->quiet);
		launch->begun = note_inherited;
		launch->arg = run;
		run->launched_ns = until_now_ns();
		err = launch_execute(launch);
		if (!err)
			return trace_to_end(run);
		status = say_not_executed(run->record->launch.argv[0], err);
		posix_trace_shutdown(run->capture.trid);
		outfile_drop(&run->file);
		return status;
	}
	launch_cancel(launch);
	outfile_drop(&run->file);
	return status;
}

/*
 * Records a program from its start. 'pid' points into the plan, because capture_begin() reads the
 * number there.
 */
static int trace_program(struct run *run, pid_t *pid)
{
	sigset_t set = signals_of(run->record);
	struct launch launch = { .serve = NULL };
	int err, status;

	if (create_log(run))
		return RECORD_FAILURE;
	err = launch_begin(&launch, &run->record->launch, &set);
	if (err) {
		say("%s: no process can be started: %s", run->record->launch.argv[0],
		    say_strerror(err));
		outfile_drop(&run->file);
		return RECORD_FAILURE;
	}
	*pid = launch.pid;
	status = trace_child(run, &launch, &set);
	crash_end(&run->crash);
	kernel_fini(&run->kernel);
	if (run->until.process >= 0 || run->until.signals >= 0) /* until_begin() was called */
		until_end(&run->until);
	return status;
}

int record_run(struct record *record)
{
	struct run run = { .record = record, .plan = &record->plan,
			   .kernel_plan = record->kernel,
			   .functions = &record->functions,
			   .until = { .signals = -1, .process = -1, .wake = -1 } };

	const int status = record->launch.argv ? trace_program(&run, &record->plan.pid) :
						 trace_process(&run);

	rotation_fini(&run.rotation);
	return status;
}
