/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why_failures.c - crashes and failures as text and JSON: how a process ended, where it crashed,
 * and which calls failed before.
 *
 * Names and paths come from the log, so they are written through text_safe() or text_quoted() only.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/brief.h"
#include "base/errnames.h"
#include "base/path.h"
#include "base/text.h"
#include "live/ended.h"
#include "symbols/symbols.h"
#include "why/objects.h"
#include "why/stuck.h"
#include "why/why.h"

/* the most crashes with a recorded place, the most without, and the most failures of a chain */
#define ENDS  4
#define PLACE 300
#define LEAK  16    /* this number of descriptors of one place, or more, are a leak */
#define FUNCTIONS 8 /* the most functions of a crash that are printed */
#define NULL_POINTER 4096 /* an access below this address is one through a null pointer */

static void put_safe(struct out *out, const char *text)
{
	text_safe(out, text, strlen(text));
}

/* Returns a text of the history. 'index' is the index of the text + 1; 0: no text. */
static const char *text_at(const struct why *why, uint32_t index)
{
	return index ? why->history.text[index - 1] : "";
}

/* Returns the name of a process, or "". */
static const char *name_of(const struct why *why, pid_t pid, int64_t time_ns)
{
	const uint32_t thread = history_find_at(&why->history, pid, pid, time_ns);

	return thread == HISTORY_NONE ? "" : why->history.thread[thread].name;
}

static void put_process(struct out *out, const struct why *why, pid_t pid, int64_t time_ns)
{
	const char *name = name_of(why, pid, time_ns);

	out_printf(out, "process %d", (int)pid);
	if (!*name)
		return;
	out_str(out, " (");
	put_safe(out, name);
	out_char(out, ')');
}

/* Writes a time before the end of a process as "1.2ms". A hostile log may have any times. */
static void put_span(struct out *out, int64_t from_ns, int64_t to_ns)
{
	char text[32];

	out_str(out, brief_ns(text, (double)to_ns - (double)from_ns));
}

/* ------------------------------------------------------------------ crashes */

/* Returns whether the name of a module's file begins with a text. */
static bool is_module(const char *module, const char *name)
{
	return !strncmp(path_last(module), name, strlen(name));
}

/*
 * Returns whether a frame is hidden. Frames of the preload library are hidden, because it only
 * wraps functions of the C library. After SIGABRT, frames of the libraries of C and C++ are hidden,
 * too, because abort() and std::terminate() are in these libraries. The frames before crash->first
 * belong to the handler of a fault and are hidden, too.
 */
static bool is_hidden(const struct why *why, const struct failures_crash *crash, unsigned index)
{
	const char *module = text_at(why, crash->frame[index].module);

	return is_module(module, "libposixtrace-preload") ||
	       crash->frame[index].number < crash->first ||
	       ((is_module(module, "libc.so") || is_module(module, "libc-2") ||
		 is_module(module, "libgcc_s") || is_module(module, "libstdc++")) &&
		!strcmp(text_at(why, crash->signal), "SIGABRT"));
}

/*
 * Returns whether all frames would be hidden. In this case they are printed, because nothing else
 * is known.
 */
static bool hides_all(const struct why *why, const struct failures_crash *crash)
{
	for (unsigned i = 0; i < crash->frames; i++)
		if (!is_hidden(why, crash, i))
			return false;
	return true;
}

/* Returns the length of the function's name in the recorder's text, such as "main+0x5e". */
static int function_len(const char *text)
{
	const char *offset = strstr(text, "+0x");

	return offset ? (int)(offset - text) : (int)strlen(text);
}

/*
 * Returns whether a text begins with a name. The compiler may split a function and call a part of
 * it sum.part.0. Such a name is compared as "sum".
 */
static bool begins_with(const char *text, const char *name, int len)
{
	const char *dot = memchr(name, '.', (size_t)len);

	if (dot && dot > name)
		len = (int)(dot - name);
	return !strncmp(text, name, (size_t)len) && (!text[len] || strchr(" (+.", text[len]));
}

/* Returns the function of a frame; empty if the recorder found no symbol, only MODULE+0xOFFSET. */
static const char *recorded_function(const struct why *why, const struct failures_frame *frame)
{
	const char *function = text_at(why, frame->function);
	const char *module = path_last(text_at(why, frame->module));
	const size_t len = strlen(module);

	return len && !strncmp(function, module, len) && !strncmp(function + len, "+0x", 3)
		       ? "" : function;
}

/*
 * Writes the function of a frame. If there is no symbol, writes the name that the recorder found.
 */
static void frame_text(const struct why *why, const struct failures_crash *crash, unsigned index,
		       char *text, size_t size)
{
	const struct failures_frame *frame = &crash->frame[index];
	const char *function = recorded_function(why, frame);
	const char *module = text_at(why, frame->module);

	symbols_place(why->log.trid, crash->pid, frame->pc, crash->time_ns, !index, text, size);
	if (*text && !strstr(text, "+0x"))
		return;
	if (*function)
		snprintf(text, size, "%.*s", function_len(function), function);
	else if (!*text)
		snprintf(text, size, "0x%llx%s%s", (unsigned long long)frame->pc,
			 *module ? " of " : "", path_last(module));
}

/* Returns whether a name is "main", and not for example "main.run" of a Go program. */
static bool is_main(const char *name, size_t len)
{
	return len == 4 && !memcmp(name, "main", len);
}

/* Writes the function to which several frames belong, without a line. */
static void repeat_text(const struct why *why, const struct failures_crash *crash,
			const struct failures_repeat *repeat, char *text, size_t size)
{
	const char *function = text_at(why, repeat->function);

	if (*function)
		snprintf(text, size, "%s", function);
	else
		symbols_place(why->log.trid, crash->pid, repeat->pc, crash->time_ns, false, text,
			      size);
	if (!*text)
		snprintf(text, size, "0x%llx of %.200s", (unsigned long long)repeat->pc,
			 path_last(text_at(why, repeat->module)));
}

/*
 * Returns the index in crash->repeat of the function of a frame, or -1 if it is not there. 'text'
 * is the text of the frame. A function without a name is compared by the text.
 */
static int repeat_of(const struct why *why, const struct failures_crash *crash, unsigned index,
		     const char *text)
{
	const char *function = recorded_function(why, &crash->frame[index]);
	const size_t len = (size_t)function_len(function);

	for (unsigned i = 0; i < crash->repeats; i++) {
		const char *other = text_at(why, crash->repeat[i].function);
		char place[PLACE];

		if (*other || len) {
			if (strlen(other) == len && !memcmp(function, other, len))
				return (int)i;
			continue;
		}
		repeat_text(why, crash, &crash->repeat[i], place, sizeof(place));
		if (!strcmp(place, text))
			return (int)i;
	}
	return -1;
}

static bool is_overflow(const struct why *why, const struct failures_crash *crash)
{
	return !strcmp(text_at(why, crash->reason), "stack overflow");
}

/*
 * Writes the functions of a crash, the innermost first. A function with several frames is printed
 * once. The callers of main() are not printed. If a function was inlined, the function of the
 * symbol table follows. Names of C++ are not compared, because the symbol table has them in another
 * form.
 */
static void put_frames(struct out *out, const struct why *why, const struct failures_crash *crash)
{
	const bool shows_all = hides_all(why, crash);
	bool is_printed[FAILURES_REPEATS] = { false };
	const char *before = " in ";

	for (unsigned i = 0, printed = 0; i < crash->frames && printed < FUNCTIONS; i++) {
		const char *function = recorded_function(why, &crash->frame[i]);
		const int len = function_len(function);
		char text[PLACE];
		int repeat;

		if (!shows_all && is_hidden(why, crash, i))
			continue;
		frame_text(why, crash, i, text, sizeof(text));
		repeat = repeat_of(why, crash, i, text);
		if (repeat >= 0 && is_printed[repeat])
			continue;
		out_str(out, before);
		before = " < ";
		printed++;
		put_safe(out, text);
		if (len && strncmp(function, "_Z", 2) != 0 && !begins_with(text, function, len)) {
			out_str(out, " < ");
			text_safe(out, function, (size_t)len);
		}
		if (repeat >= 0) {
			is_printed[repeat] = true;
			if (!is_overflow(why, crash))
				out_printf(out, " (%llu times)",
					   (unsigned long long)crash->repeat[repeat].times);
		}
		if (is_main(text, strcspn(text, " ")) || is_main(function, (size_t)len))
			break;
	}
}

/*
 * Writes which functions filled the stack. Functions that are on the stack seldom, compared to the
 * first one, are not part of the recursion.
 */
static void put_recursion(struct out *out, const struct why *why,
			  const struct failures_crash *crash)
{
	const char *at_least = crash->is_cut ? "more than " : "";
	unsigned count = 0;
	char text[PLACE];

	while (count < crash->repeats &&
	       crash->repeat[count].times >= crash->repeat[0].times / 2)
		count++;
	for (unsigned i = 0; i < count; i++) {
		const unsigned long long times = crash->repeat[i].times;

		repeat_text(why, crash, &crash->repeat[i], text, sizeof(text));
		out_str(out, !i ? ": " : i + 1 < count ? ", " : " and ");
		put_safe(out, text);
		if (count == 1)
			out_printf(out, " called itself %s%llu time%s", at_least,
				   times ? times - 1 : 0, text_plural(times ? times - 1 : 0));
		else
			out_printf(out, " (%s%llu times)", at_least, times);
	}
	if (count > 1)
		out_str(out, " called each other");
}

/*
 * Returns the signal to which the reason of the crash belongs. If a handler of a signal crashed,
 * this is the handled signal.
 */
static const char *signal_of(const struct why *why, const struct failures_crash *crash)
{
	const char *handled = text_at(why, crash->handler);

	return *handled ? handled : text_at(why, crash->signal);
}

/* Writes the message of a crash: a text of the program, or a detail that the recorder found. */
static void put_message(struct out *out, const struct why *why,
			const struct failures_crash *crash)
{
	const char *message = text_at(why, crash->message);

	if (!*message)
		return;
	if (!strcmp(signal_of(why, crash), "SIGABRT") &&
	    strncmp(text_at(why, crash->reason), "sent by", 7) != 0 && !is_overflow(why, crash)) {
		out_str(out, ", ");
		text_quoted(out, message, strlen(message));
		return;
	}
	out_str(out, " (");
	put_safe(out, message);
	out_char(out, ')');
}

/* Writes which access to memory failed, or another reason of the signal. */
static void put_reason(struct out *out, const struct why *why, const struct failures_crash *crash)
{
	const char *reason = text_at(why, crash->reason), *signal = signal_of(why, crash);
	const bool is_memory = !strcmp(signal, "SIGSEGV") || !strcmp(signal, "SIGBUS");
	char own[32];

	snprintf(own, sizeof(own), "sent by process %d", (int)crash->pid);
	/* Older logs have this reason for a process that called abort(). */
	if (!*reason || (!strcmp(reason, own) && !strcmp(signal, "SIGABRT")))
		return;
	out_str(out, ": ");
	put_safe(out, strcmp(reason, own) ? reason : "the process sent it to itself");
	if (is_overflow(why, crash)) {
		put_message(out, why, crash);
		put_recursion(out, why, crash);
		return;
	}
	if (is_memory && strncmp(reason, "sent by", 7) != 0 && !strstr(reason, "null pointer") &&
	    !strstr(reason, "not an address")) {
		out_printf(out, ", 0x%llx", (unsigned long long)crash->fault);
		if (crash->fault < NULL_POINTER && !strcmp(reason, "address not mapped"))
			out_str(out, " (a null pointer)");
	}
	put_message(out, why, crash);
}

static void put_crash(struct out *out, const struct why *why, const struct failures_crash *crash)
{
	out_str(out, "Crash: ");
	put_process(out, why, crash->pid, crash->time_ns);
	out_str(out, " got ");
	put_safe(out, crash->signal ? text_at(why, crash->signal) : "a signal");
	if (*text_at(why, crash->handler)) {
		out_str(out, " from its handler of ");
		put_safe(out, text_at(why, crash->handler));
	}
	put_reason(out, why, crash);
	out_str(out, ",");
	put_frames(out, why, crash);
	if (crash->tid != crash->pid)
		out_printf(out, ", thread %d", (int)crash->tid);
	out_str(out, ".\n");
}

/* Returns the thread of a process that recorded the last call before its end, or HISTORY_NONE. */
static uint32_t last_thread(const struct history *history, const struct failures_process *process)
{
	uint32_t found = HISTORY_NONE;

	for (uint32_t i = 0; i < history->threads; i++) {
		const struct history_thread *thread = &history->thread[i];

		if (thread->pid != process->pid || thread->life != process->life ||
		    !thread->last_call)
			continue;
		if (found == HISTORY_NONE ||
		    thread->last_call_ns > history->thread[found].last_call_ns)
			found = i;
	}
	return found;
}

/* Writes the signal that ended a process. */
static void put_signal(struct out *out, int32_t signal)
{
	char text[ENDED_TEXT];

	ended_signal(text, signal);
	out_str(out, text);
}

/* Prints that a signal ended a process whose crash was not recorded, and what it did last. */
static void put_killed(struct out *out, const struct why *why,
		       const struct failures_process *process)
{
	const uint32_t last = last_thread(&why->history, process);

	out_str(out, "Crash: ");
	put_process(out, why, process->pid, process->ended_ns);
	out_str(out, " was killed by ");
	put_signal(out, process->signal);
	if (last != HISTORY_NONE) {
		const struct history_thread *thread = &why->history.thread[last];

		out_str(out, ", ");
		put_span(out, thread->last_call_ns, process->ended_ns);
		out_str(out, " after its last event, ");
		put_safe(out, thread->last_call->name);
		if (thread->tid != thread->pid)
			out_printf(out, " of thread %d", (int)thread->tid);
	}
	out_str(out, "; 'posixtrace record --crash' records the place.\n");
}

/* ------------------------------------------------------------------ failures */

/* Returns the last process.kill call that sent a process the signal that ended it, or NULL. */
static const struct call *killer_of(const struct history *history,
				    const struct failures_process *process)
{
	const uint32_t main = history_find_at(history, process->pid, process->pid,
					      process->ended_ns);
	const int64_t first_ns = main == HISTORY_NONE ? INT64_MIN : history->thread[main].first_ns;

	for (size_t i = history->calls; i-- > 0;) {
		const struct call *call = &history->call[i];

		if (call->cause == CAUSE_KILL && call->key == (uint64_t)process->signal &&
		    call->target_pid == (uint64_t)process->pid && !call->error &&
		    call->begin_ns <= process->ended_ns && call->end_ns >= first_ns)
			return call;
	}
	return NULL;
}

/* Returns whether the recorder saw the sender of the signal that ended a process. */
static bool knows_sender(const struct why *why, const struct failures_process *process)
{
	char text[ENDED_TEXT];

	ended_signal(text, process->signal);
	return process->has_sender && !strcmp(text, text_at(why, process->sent));
}

/* Writes why a process got a signal that no process sent, or whose sender is not known. */
static void put_unsent(struct out *out, const struct why *why,
		       const struct failures_process *process)
{
	const bool is_sure = knows_sender(why, process);

	if (process->signal == SIGPIPE)
		out_printf(out, ", %sbecause it wrote to a pipe or connection that no process "
			   "reads", is_sure ? "" : "probably ");
	else if (process->signal == SIGALRM || process->signal == SIGVTALRM ||
		 process->signal == SIGPROF)
		out_printf(out, ", %swhen a timer of its own expired", is_sure ? "" : "probably ");
	else if (is_sure && (process->signal == SIGINT || process->signal == SIGHUP))
		out_str(out, ", sent by its terminal");
	else if (is_sure)
		out_str(out, ", sent by the kernel");
	else
		out_str(out, ", and the log does not say by which process");
}

/* Writes "exited with 2" or "was killed by SIGKILL, sent by process 12 (sh)". */
static void put_end(struct out *out, const struct why *why, const struct failures_process *process)
{
	const char *name = text_at(why, process->sender_name);
	const struct call *call;

	if (process->signal <= 0) {
		out_printf(out, " exited with %d", (int)process->code);
		return;
	}
	out_str(out, " was killed by ");
	put_signal(out, process->signal);
	if (knows_sender(why, process) && process->sender > 0) {
		out_str(out, ", sent by ");
		if (process->sender == process->pid) {
			out_str(out, "itself");
		} else if (*name) {
			out_printf(out, "process %d (", (int)process->sender);
			put_safe(out, name);
			out_char(out, ')');
		} else {
			put_process(out, why, process->sender, process->ended_ns);
		}
		return;
	}
	call = killer_of(&why->history, process);
	if (!call) {
		put_unsent(out, why, process);
		return;
	}
	/*
	 * SIGKILL always ends a process. A process may survive another signal, and later get the
	 * same signal from a process that is not traced.
	 */
	out_str(out, process->signal == SIGKILL ? ", sent by " : ", probably sent by ");
	if (why->history.thread[call->thread].pid == process->pid)
		out_str(out, "itself");
	else
		put_process(out, why, why->history.thread[call->thread].pid, call->end_ns);
}

/*
 * Returns how many of the kept failed calls are later than the end of a child. If 'child' is NULL,
 * all of them count. An earlier call is not the reason why a process failed after its child.
 */
static unsigned later_calls(const struct failures_process *process,
			    const struct failures_process *child)
{
	const unsigned kept = process->calls < FAILURES_CALLS ? process->calls : FAILURES_CALLS;
	unsigned count = 0;

	while (count < kept &&
	       (!child || process->call[(process->calls - 1 - count) % FAILURES_CALLS].time_ns >
				  child->ended_ns))
		count++;
	return count;
}

/* A small number from one place is not a leak. */
void why_text_leak(struct out *out, const struct why *why, pid_t pid, int64_t time_ns)
{
	const struct objects_most most = objects_most_open(&why->history, pid, time_ns);
	char place[PLACE];

	if (most.count < LEAK)
		return;
	symbols_place(why->log.trid, pid, most.address, time_ns, false, place, sizeof(place));
	out_printf(out, "; %zu of its %zu open descriptors were made at one place%s", most.count,
		   most.all, *place ? ", in " : "");
	put_safe(out, place);
}

/* Prints the last failed calls of a process, the last one first. */
static void put_calls(struct out *out, const struct why *why,
		      const struct failures_process *process, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct failures_call *call =
			&process->call[(process->calls - 1 - i) % FAILURES_CALLS];
		const char *name = errno_name(call->error), *path = text_at(why, call->text);
		char place[PLACE];

		out_str(out, "  ");
		put_span(out, call->time_ns, process->ended_ns);
		out_str(out, " before: ");
		put_safe(out, call->type->name);
		if (call->text) {
			out_char(out, ' ');
			text_quoted(out, path, strlen(path));
		}
		if (name)
			out_printf(out, ": %s (%s)", name, strerror(call->error));
		else
			out_printf(out, ": error %d", (int)call->error);
		symbols_place(why->log.trid, process->pid, call->address, call->time_ns, false,
			      place, sizeof(place));
		if (*place) {
			out_str(out, " in ");
			put_safe(out, place);
		}
		if (call->error == EMFILE)
			why_text_leak(out, why, process->pid, call->time_ns);
		out_char(out, '\n');
	}
}

/*
 * Returns the recorded process if it failed. If it did not fail, failures of its children had no
 * effect: for example, a script runs commands to test whether files exist. The function then
 * returns a process that failed after its parent had ended, such as a daemon, or NULL.
 */
static const struct failures_process *root_of(const struct why *why)
{
	const struct failures_process *process;
	const pid_t pid = why->log.info.pid;
	const uint32_t thread = history_find_at(&why->history, pid, pid, why->history.first_ns);

	process = failures_of(&why->failures, pid,
			      thread == HISTORY_NONE ? 0 : why->history.thread[thread].life);
	return process ? process : failures_orphan(&why->failures);
}

/*
 * Returns whether a thread of the process was in a call when a signal of an unknown sender ended
 * the process. If so, a user has probably ended the process because it hung, and the answer shows
 * where the process hung.
 */
static bool has_hung(const struct why *why, const struct failures_process *process)
{
	const struct history *history = &why->history;

	if (process->signal <= 0 || killer_of(history, process) ||
	    (knows_sender(why, process) && process->sender > 0))
		return false;
	for (uint32_t i = 0; i < history->stucks && i < history->threads; i++)
		if (history->stuck[i].open && history->thread[i].pid == process->pid &&
		    history->thread[i].life == process->life)
			return true;
	return false;
}

/* Returns whether the log has a call of a process. A child may have run without the library. */
static bool has_calls(const struct why *why, const struct failures_process *process)
{
	return last_thread(&why->history, process) != HISTORY_NONE;
}

/* Returns another process that sent a process the signal that ended it; 0: none, or unknown. */
static pid_t sender_of(const struct why *why, const struct failures_process *process)
{
	const struct call *call;
	pid_t sender = 0;

	if (process->signal <= 0 || failures_is_crash(process->signal) ||
	    failures_has_crash(&why->failures, process))
		return 0;
	if (knows_sender(why, process))
		sender = process->sender;
	else if ((call = killer_of(&why->history, process)) != NULL)
		sender = why->history.thread[call->thread].pid;
	return sender > 0 && sender != process->pid ? sender : 0;
}

/*
 * Writes the label of the greatest part of a time of a thread. Returns whether this part is more
 * than a half of the time. If there is no part, the text is empty. Sets *kind to its kind.
 */
static bool greatest_part(struct why *why, uint32_t thread, int64_t from_ns, int64_t to_ns,
			  enum why_kind *kind, char *text, size_t size)
{
	struct division division;
	bool is_most = false;
	uint32_t part;

	*text = '\0';
	if (!division_make(&division, &why->history, thread, from_ns, to_ns) &&
	    why_children(&division, 0, &part, 1)) {
		const struct why_node *node = &division.node[part];

		*kind = node->kind;
		is_most = node->ns > division.node[0].ns / 2;
		snprintf(text, size, "%s", node->label ? node->label : "");
	}
	division_fini(&division);
	return is_most;
}

/*
 * Writes what the main thread of a process did when another process ended it by a signal: the
 * greatest part of the time since its last event. A user who has set a time limit wants to know
 * where the program hung. The text is empty if no other process of known number ended it.
 */
static void last_state_text(struct why *why, const struct failures_process *process, char *text,
			    size_t size)
{
	const uint32_t main = history_find_at(&why->history, process->pid, process->pid,
					      process->ended_ns);
	const struct history_thread *thread;
	enum why_kind kind;
	int64_t from_ns;

	*text = '\0';
	if (main == HISTORY_NONE || !sender_of(why, process))
		return;
	thread = &why->history.thread[main];
	from_ns = thread->last_call ? thread->last_call_ns : thread->first_ns;
	if (thread->life != process->life || from_ns >= thread->last_ns)
		return;
	greatest_part(why, main, from_ns, thread->last_ns, &kind, text, size);
}

/* Prints the last state of the main thread of a process. */
static void put_last_state(struct out *out, struct why *why,
			   const struct failures_process *process)
{
	char text[STUCK_TEXT];

	last_state_text(why, process, text, sizeof(text));
	if (!*text)
		return;
	out_str(out, "  at the end: ");
	put_safe(out, text);
	out_char(out, '\n');
}

/* Returns whether a process has one child only, as far as the log shows. */
static bool is_only_child(const struct failures *failures, const struct failures_process *child)
{
	for (size_t i = 0; i < failures->processes; i++) {
		const struct failures_process *other = &failures->process[i];

		if (other != child && other->parent == child->parent &&
		    other->parent_life == child->parent_life)
			return false;
	}
	return true;
}

uint32_t why_ended_child(struct why *why, uint32_t thread)
{
	const struct history_thread *parent = &why->history.thread[thread];
	const struct failures_process *process, *child;
	enum why_kind kind = WHY_RUN;
	char text[STUCK_TEXT];
	uint32_t found;

	process = failures_of(&why->failures, parent->pid, parent->life);
	child = process ? failures_child(&why->failures, process) : NULL;
	if (!child || sender_of(why, child) != process->pid ||
	    !is_only_child(&why->failures, child))
		return thread;
	found = history_find_at(&why->history, child->pid, child->pid, child->ended_ns);
	if (found == HISTORY_NONE || why->history.thread[found].life != child->life ||
	    why->history.thread[found].last_ns <= why->history.thread[found].first_ns)
		return thread;
	return greatest_part(why, thread, parent->first_ns, parent->last_ns, &kind, text,
			     sizeof(text)) && kind == WHY_PEER ? found : thread;
}

/*
 * Prints a chain: a failed process, its child whose failure is the probable reason, and so on. For
 * each process, prints the failed calls after the end of its child. For a process without such a
 * child, prints all failed calls that were kept. The chain ends before a process that crashed,
 * because the crash was printed. Nothing is printed if the first process was killed while it hung.
 */
static void put_failures(struct out *out, struct why *why)
{
	const struct failures_process *process = root_of(why);

	for (unsigned i = 0; process && i < ENDS; i++) {
		const struct failures_process *child =
			failures_child(&why->failures, process);

		const unsigned calls = later_calls(process, child);

		if (process->signal > 0 && (failures_is_crash(process->signal) ||
					    failures_has_crash(&why->failures, process)))
			return; /* it was printed as a crash */
		if (!i && has_hung(why, process))
			return;
		out_str(out, i ? "Failure before: " :
			process->pid == why->log.info.pid ? "Failure: " :
			"Failure in the background: ");
		put_process(out, why, process->pid, process->ended_ns);
		put_end(out, why, process);
		if (calls)
			out_str(out, "; its last calls that failed:\n");
		else if (child)
			out_str(out, ".\n");
		else if (has_calls(why, process))
			out_str(out, "; none of its recorded calls failed.\n");
		else
			out_str(out, "; the log has none of its calls.\n");
		put_calls(out, why, process, calls);
		put_last_state(out, why, process);
		process = child;
	}
}

/* Returns whether a process crashed, and the log lacks the place of the crash. */
static bool is_killed(const struct failures *failures, const struct failures_process *process)
{
	return process->is_over && failures_is_crash(process->signal) &&
	       !failures_has_crash(failures, process);
}

/* Prints the last crashes, because the last one usually ended the program. */
static void put_crashes(struct out *out, const struct why *why)
{
	const struct failures *failures = &why->failures;
	size_t killed = 0, first, skipped;

	for (size_t i = 0; i < failures->processes; i++)
		killed += is_killed(failures, &failures->process[i]);
	first = failures->crashes > ENDS ? failures->crashes - ENDS : 0;
	skipped = killed > ENDS ? killed - ENDS : 0;
	if (first + skipped)
		out_printf(out, "%zu earlier crash%s %s not shown.\n", first + skipped,
			   first + skipped == 1 ? "" : "es", first + skipped == 1 ? "is" : "are");
	for (size_t i = first; i < failures->crashes; i++)
		put_crash(out, why, &failures->crash[i]);
	for (size_t i = 0; i < failures->processes; i++) {
		if (!is_killed(failures, &failures->process[i]))
			continue;
		if (skipped)
			skipped--;
		else
			put_killed(out, why, &failures->process[i]);
	}
}

void why_text_failures(struct out *out, struct why *why)
{
	put_crashes(out, why);
	put_failures(out, why);
}

/* ------------------------------------------------------------------ JSON */

static void json_crash(struct json *json, const struct why *why,
		       const struct failures_crash *crash)
{
	json_object(json, NULL);
	json_signed(json, "pid", crash->pid);
	json_signed(json, "tid", crash->tid);
	json_string_member(json, "name", name_of(why, crash->pid, crash->time_ns));
	json_string_member(json, "signal", text_at(why, crash->signal));
	json_string_member(json, "reason", text_at(why, crash->reason));
	json_string_member(json, "message", text_at(why, crash->message));
	json_address(json, "fault", crash->fault);
	why_json_time(json, "at", "at_ns", crash->time_ns);
	json_array(json, "frames");
	for (unsigned i = 0; i < crash->frames; i++) {
		char text[PLACE];

		frame_text(why, crash, i, text, sizeof(text));
		json_string_member(json, NULL, text);
	}
	json_end_array(json);
	json_array(json, "repeats");
	for (unsigned i = 0; i < crash->repeats; i++) {
		char text[PLACE];

		repeat_text(why, crash, &crash->repeat[i], text, sizeof(text));
		json_object(json, NULL);
		json_string_member(json, "function", text);
		json_unsigned(json, "times", crash->repeat[i].times);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void json_failure(struct json *json, struct why *why,
			 const struct failures_process *process)
{
	const unsigned count = process->calls < FAILURES_CALLS ? process->calls : FAILURES_CALLS;
	char last[STUCK_TEXT];

	json_object(json, NULL);
	json_signed(json, "pid", process->pid);
	json_string_member(json, "name", name_of(why, process->pid, process->ended_ns));
	json_signed(json, "code", process->code);
	json_signed(json, "signal", process->signal);
	why_json_time(json, "at", "at_ns", process->ended_ns);
	last_state_text(why, process, last, sizeof(last));
	json_string_member(json, "at_end", last);
	json_array(json, "failed_calls");
	for (unsigned i = 0; i < count; i++) {
		const struct failures_call *call =
			&process->call[(process->calls - 1 - i) % FAILURES_CALLS];
		char place[PLACE];

		symbols_place(why->log.trid, process->pid, call->address, call->time_ns, false,
			      place, sizeof(place));
		json_object(json, NULL);
		json_string_member(json, "event", call->type->name);
		json_string_member(json, "path", text_at(why, call->text));
		json_signed(json, "error", call->error);
		json_string_member(json, "error_name",
				   errno_name(call->error) ? errno_name(call->error) : "");
		json_string_member(json, "function", place);
		why_json_time(json, "at", "at_ns", call->time_ns);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

void why_json_failures(struct json *json, struct why *why)
{
	const struct failures *failures = &why->failures;
	const struct failures_process *process = why->is_part ? NULL : root_of(why);

	json_array(json, "crashes");
	for (size_t i = 0; i < failures->crashes && !why->is_part; i++)
		json_crash(json, why, &failures->crash[i]);
	json_end_array(json);
	json_array(json, "failures");
	for (unsigned i = 0; process && i < ENDS; i++) {
		json_failure(json, why, process);
		process = failures_child(failures, process);
	}
	json_end_array(json);
}
