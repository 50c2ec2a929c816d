/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why.c - the command why: its options, and the times that it explains.
 *
 * The command reads the log once. Meanwhile it pairs spans and keeps the windows that it has to
 * explain: the slowest spans, or all spans for --aggregate. If no option asks for spans, it chooses
 * a window after the log was read: a time of a server, or the time of a thread.
 */
#include "why/why.h"

#include <errno.h>
#include <fnmatch.h>
#include <unistd.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "choose/at.h"
#include "choose/bound.h"
#include "choose/function_names.h"
#include "symbols/symbols.h"
#include "why/repeats.h"
#include "why/served.h"
#include "why/why_live.h"

extern const struct tool_command why_command;

/*
 * The greatest value of --slowest. The value is limited, because each window is one page of text,
 * and because each span may move all kept windows in keep_window().
 */
#define SLOWEST_MOST 1000
#define SPANS_MOST   (1u << 22) /* the number of spans that --aggregate keeps at most */

/*
 * A wait for an upstream server is the reason of a slow request if the wait takes at least
 * UPSTREAM_NS, which a person notices. The wait must also be at least UPSTREAM_TIMES as long as the
 * longest time in which the server was busy.
 */
#define UPSTREAM_NS    UINT64_C(10000000)
#define UPSTREAM_TIMES 10

/* A server that tries a call in vain at least this number of times counts as doing nothing else. */
#define SPIN_TIMES 100

/*
 * The values of the options. The texts belong to argv. The members 'from' and 'to' are valid if
 * from_text is set.
 */
struct options {
	const char *span, *thread, *from_text, *to_text;
	struct bound from, to;
	uint64_t slowest;
	bool aggregate;
};

/*
 * The state while the log is read. It is static because one command runs in a process; the
 * callbacks of pairing and history use it directly.
 */
static struct why why;
static struct options options;
static struct pairing pairing;
static struct wanted wanted;
static struct at logs;
static struct why_live live;
static size_t most; /* the number of windows to keep at most; 0: no option asks for spans */

/* ------------------------------------------------------------------ spans */

/*
 * Keeps a window if it is one of the longest. The last window is the shortest of the kept windows.
 * With --aggregate, keeps all windows up to the limit, in the order in which they are found.
 * Returns false if memory is lacking.
 */
static bool keep_window(const struct window *window)
{
	size_t at = why.windows;

	if (at == most) {
		if (options.aggregate || window_ns(window) <= window_ns(&why.window[at - 1]))
			return true;
		at--;
	} else if (!vec_grow(&why.window, why.windows, 1)) {
		return false;
	} else {
		why.windows++;
	}
	/* With --aggregate this loop does nothing: why_aggregate() sorts all windows later. */
	for (; !options.aggregate && at && window_ns(&why.window[at - 1]) < window_ns(window);
	     at--)
		why.window[at] = why.window[at - 1];
	why.window[at] = *window;
	return true;
}

/*
 * Returns the name by which --span selects a series, or NULL. The series of a function has two
 * names: its own name, and the name for all functions.
 */
static const char *selected_name(const struct series *series)
{
	if (!options.span || !fnmatch(options.span, series->name, 0))
		return series->name;
	if (fnmatch(options.span, series->of->name, 0))
		return NULL;
	/* The text of --aggregate describes all functions together. */
	return options.aggregate ? series->of->name : series->name;
}

/*
 * A span belongs to the thread in which it began. A span is skipped if the history lacks this
 * thread or the log lacks the begin of the span, because nothing could be explained.
 * pairing_event() calls this function, which stores ENOMEM in pairing.err if there is no memory.
 */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct window window = {
		.kind = WINDOW_SPAN, .name = selected_name(span->series), .from_ns = span->begin_ns,
		.to_ns = span->end_ns,
		.thread = history_find_at(&why.history, span->pid, span->begin_tid,
					  span->begin_ns),
	};

	(void)arg;
	(void)end;
	if (!window.name || window.thread == HISTORY_NONE || window.from_ns == INT64_MIN)
		return;
	if (!keep_window(&window))
		pairing.err = ENOMEM;
}

/* Keeps a window of the history, if it is one of the longest. */
static void take_window(struct window window)
{
	if (!keep_window(&window))
		why.history.err = ENOMEM;
}

/* Makes the window of a turn (why/turns.h). */
static struct window window_of(const struct turn *turn, bool is_busy)
{
	return (struct window){
		.kind = is_busy ? WINDOW_BUSY : WINDOW_TURN,
		.name = is_busy ? TURNS_BUSY : TURNS_TURN, .thread = turn->thread,
		.from_ns = turn->from_ns, .to_ns = turn->to_ns, .ready = turn->ready,
		.parts = turn->parts,
	};
}

/* Keeps a turn. *arg is true if the turn is a busy time. */
static void take_turn(void *arg, const struct turn *turn)
{
	take_window(window_of(turn, *(const bool *)arg));
}

/* Makes a window of the wait for an answer. */
static struct window window_of_answer(const struct answer *answer)
{
	return (struct window){
		.kind = WINDOW_UPSTREAM, .name = ANSWERS_UPSTREAM, .thread = answer->thread,
		.from_ns = answer->from_ns, .to_ns = answer->to_ns, .text = answer->text,
		.end = answer->end, .error = answer->error, .fd = answer->fd,
	};
}

static void take_answer(void *arg, const struct answer *answer)
{
	(void)arg;
	take_window(window_of_answer(answer));
}

/* Makes a window of a request that a thread has handled for a client. */
static struct window window_of_served(const struct served *served)
{
	return (struct window){
		.kind = WINDOW_SERVED, .name = SERVED, .thread = served->thread,
		.from_ns = served->from_ns, .to_ns = served->to_ns, .text = served->client.text,
		.fd = served->client.fd,
	};
}

static void take_served(void *arg, const struct served *served)
{
	(void)arg;
	take_window(window_of_served(served));
}

/*
 * Takes the turns of all threads, the requests they handled, or the waits for answers, if --span
 * names them. --span must be exactly such a name: a pattern selects only spans of the log. Returns
 * 0 or ENOMEM.
 */
static int take_turns(void)
{
	bool is_busy = options.span && !strcmp(options.span, TURNS_BUSY);

	if (options.span && !strcmp(options.span, ANSWERS_UPSTREAM)) {
		answers_each(&why.history, take_answer, NULL);
		return why.history.err;
	}
	if (options.span && !strcmp(options.span, SERVED))
		return served_each(&why.history, take_served, NULL) ? ENOMEM : why.history.err;
	if (!is_busy && (!options.span || strcmp(options.span, TURNS_TURN) != 0))
		return 0;
	for (uint32_t i = 0; i < why.history.threads; i++)
		turns_each(&why.history, i, is_busy, take_turn, &is_busy);
	return why.history.err;
}

/*
 * history_read() calls this for each event of the log, after it has added the event to the history.
 * Spans are paired only if an option asks for spans.
 */
static void add_event(void *arg, const struct reading *reading)
{
	(void)arg;
	failures_take(&why.failures, &why.history, reading);
	if (most)
		pairing_event(&pairing, reading->type, &reading->event, reading->ordinal,
			      reading->is_wanted);
}

/*
 * Returns a hint with the name of a span that the user probably meant with --span. If no name is
 * similar, the hint is the command that lists the names. If --span is one of the names that
 * take_turns() knows, the hint is empty, because that command does not list them.
 */
static const char *span_hint(void)
{
	static struct nearest nearest;
	const char *hint;

	if (!options.span)
		return "";
	nearest_begin(&nearest, options.span);
	for (size_t i = 0; i < pairing.count; i++)
		if (pairing.series[i]->spans)
			nearest_offer(&nearest, pairing.series[i]->name);
	hint = nearest_hint(&nearest);
	if (*hint || !strcmp(options.span, TURNS_TURN) || !strcmp(options.span, TURNS_BUSY) ||
	    !strcmp(options.span, ANSWERS_UPSTREAM) || !strcmp(options.span, SERVED))
		return hint;
	return "; 'posixtrace latency LOG' lists the spans";
}

/* ------------------------------------------------------------------ threads and times */

/*
 * Returns the first thread with this name, or HISTORY_NONE. *count becomes the number of threads
 * with this name.
 */
static uint32_t thread_of_name(const char *name, size_t *count)
{
	const struct history *history = &why.history;
	uint32_t first = HISTORY_NONE;

	*count = 0;
	for (size_t i = 0; i < history->threads; i++)
		if (!strcmp(history->thread[i].name, name) && !(*count)++)
			first = (uint32_t)i;
	return first;
}

/* Prints that the log has no thread of --thread, and a similar name that it has. */
static void say_no_thread(const char *text)
{
	const struct history *history = &why.history;
	struct nearest nearest;

	nearest_begin(&nearest, text);
	for (size_t i = 0; i < history->threads; i++)
		if (*history->thread[i].name)
			nearest_offer(&nearest, history->thread[i].name);
	say("--thread %s: %s has no events of such a thread%s", text, why.log.path,
	    nearest_hint(&nearest));
}

/* Returns the time from the first event of a thread to its last one. */
static uint64_t thread_ns(const struct history_thread *thread)
{
	return (uint64_t)thread->last_ns - (uint64_t)thread->first_ns;
}

/*
 * Returns whether a thread was blocked for most of its time. Returns true also if the log has no
 * states of the thread.
 */
static bool was_mostly_blocked(const struct history_thread *thread)
{
	double blocked = 0;

	for (size_t i = 0; i < thread->stays; i++) {
		const int64_t end = i + 1 < thread->stays ? thread->stay[i + 1].from_ns :
							    thread->last_ns;

		if (thread->stay[i].state == STATE_BLOCKED)
			blocked += (double)end - (double)thread->stay[i].from_ns;
	}
	return !thread->stays || blocked > (double)thread_ns(thread) / 2;
}

/*
 * Returns whether the recorder attached to a process whose main thread made no call that returned,
 * and was mostly blocked. The main thread of a server with a thread for each client waits for
 * clients, and the main threads of some runtimes wait for the end of the program.
 */
static bool has_idle_main(void)
{
	const struct history *history = &why.history;
	uint32_t found;

	if (history->attached <= 0)
		return false;
	found = history_find_at(history, history->attached, history->attached, history->first_ns);
	return found == HISTORY_NONE || (!history->thread[found].last_call &&
					 was_mostly_blocked(&history->thread[found]));
}

/*
 * Returns whether the log shows anything that a thread of the program did. The recorder's own
 * events, such as posixtrace_record, may be the only ones of the main thread.
 */
static bool has_facts(const struct history_thread *thread)
{
	return thread->last_call || thread->pieces || thread->stays || thread->samples ||
	       thread->faults;
}

/*
 * Returns the thread with the longest time from its first to its last event, among all threads or
 * among those of which the log shows something; HISTORY_NONE if there is none.
 */
static uint32_t longest_thread(bool needs_facts)
{
	const struct history *history = &why.history;
	uint32_t found = HISTORY_NONE;

	for (size_t i = 0; i < history->threads; i++)
		if ((!needs_facts || has_facts(&history->thread[i])) &&
		    (found == HISTORY_NONE ||
		     thread_ns(&history->thread[i]) > thread_ns(&history->thread[found])))
			found = (uint32_t)i;
	return found;
}

/*
 * Returns the main thread of the recorded process. If it recorded nothing while the recorder was
 * attached, returns the thread of this process with the most calls, because that thread does the
 * work. If the log shows nothing of a main thread, returns the thread with the longest time from
 * its first to its last event; HISTORY_NONE if the log has no thread.
 */
static uint32_t main_thread(void)
{
	const struct history *history = &why.history;
	uint32_t found = history_find_at(history, why.log.info.pid, why.log.info.pid,
					 history->first_ns), longest;
	size_t pieces = 0;

	for (size_t i = 0; has_idle_main() && i < history->threads; i++) {
		const struct history_thread *thread = &history->thread[i];

		if (thread->pid == history->attached && thread->pieces > pieces) {
			pieces = thread->pieces;
			found = (uint32_t)i;
		}
	}
	if (found != HISTORY_NONE && has_facts(&history->thread[found]))
		return found;
	longest = longest_thread(true);
	return longest != HISTORY_NONE ? longest : found != HISTORY_NONE ? found :
	       longest_thread(false);
}

/* Adds the only window. Returns a status of the tool. */
static int add_window(const struct window *window)
{
	if (!vec_grow(&why.window, why.windows, 1)) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	why.window[why.windows++] = *window;
	return TOOL_OK;
}

/*
 * Finds the longest time in which a server tried a call in vain again and again, such as accept()
 * without a free descriptor. Each attempt is a turn of its own, so no turn shows the whole time.
 * EAGAIN does not count: a server then only looks whether input has arrived. Returns false if there
 * is no such time.
 */
static bool find_spin(struct window *window)
{
	const struct history *history = &why.history;
	struct repeat longest = { .call = NULL };

	for (uint32_t i = 0; i < history->threads; i++) {
		const struct history_thread *thread = &history->thread[i];
		struct repeat repeat;

		if (!thread->is_server)
			continue;
		repeat = repeats_longest(history, i, thread->first_ns, thread->last_ns);
		if (repeat.call && repeat.call->error != EAGAIN && repeat.count >= SPIN_TIMES &&
		    repeats_ns(&repeat) > repeats_ns(&longest))
			longest = repeat;
	}
	if (!longest.call || repeats_ns(&longest) < UPSTREAM_NS)
		return false;
	*window = (struct window){ .thread = longest.call->thread, .from_ns = longest.from_ns,
				   .to_ns = longest.to_ns };
	return true;
}

/*
 * Adds one window of a server, because the whole run of a server is mostly a wait for requests. The
 * window is the time in which the server tried a call in vain. If there is none, it is the server's
 * worst turn. If the server waited much longer for an upstream, the window is this wait. If a
 * thread handled a request for much longer than the turn, and at least as long as the wait, the
 * window is this request. If the main thread only waits, the window is the longest request, however
 * short it is. Returns false if the log has no server, or an option asks for something else.
 */
static bool take_server(int *status)
{
	struct turn turn = { .from_ns = 0 };
	struct answer answer = { .from_ns = 0 };
	struct served served = { .from_ns = 0 };
	const char *name = options.thread || options.from_text ? NULL :
			   turns_worst(&why.history, &turn);
	const bool is_waiting = !name && has_idle_main();
	struct window window;

	if (options.thread || options.from_text)
		return false;
	if (find_spin(&window)) {
		*status = add_window(&window);
		return true;
	}
	if (served_worst(&why.history, &served)) {
		say("%s", strerror(ENOMEM));
		*status = TOOL_FAILURE;
		return true;
	}
	if (name)
		answers_worst(&why.history, &answer);
	if (is_waiting && served_ns(&served))
		window = window_of_served(&served);
	else if (served_ns(&served) >= UPSTREAM_NS && served_ns(&served) >= answers_ns(&answer) &&
	    served_ns(&served) / UPSTREAM_TIMES >= turn_ns(&turn))
		window = window_of_served(&served);
	else if (!name)
		return false;
	else if (answers_ns(&answer) >= UPSTREAM_NS &&
	    answers_ns(&answer) / UPSTREAM_TIMES >= turn_ns(&turn))
		window = window_of_answer(&answer);
	else
		window = window_of(&turn, !strcmp(name, TURNS_BUSY));
	*status = add_window(&window);
	return true;
}

/*
 * Makes the window of a thread: its whole time, or the part of the time of --between in which the
 * thread existed. Returns false if the window is empty.
 */
static bool thread_window(uint32_t index, struct window *window)
{
	const struct history_thread *thread = &why.history.thread[index];

	*window = (struct window){ .thread = index, .from_ns = thread->first_ns,
				   .to_ns = thread->last_ns };
	if (options.from_text) {
		window->from_ns = bound_at(&options.from, why.history.first_ns,
					   why.history.last_ns, 0);
		window->to_ns = bound_at(&options.to, why.history.first_ns, why.history.last_ns, 0);
		if (window->from_ns < thread->first_ns)
			window->from_ns = thread->first_ns;
		if (window->to_ns > thread->last_ns)
			window->to_ns = thread->last_ns;
	}
	return window->to_ns > window->from_ns;
}

/* Prints why no time of a thread is between the times of --between. */
static void say_not_between(const struct history_thread *thread)
{
	const struct history *history = &why.history;
	char first[WHEN_BYTES], last[WHEN_BYTES];

	if (bound_at(&options.from, history->first_ns, history->last_ns, 0) >
	    bound_at(&options.to, history->first_ns, history->last_ns, 0))
		say("--between: %s is later than %s", options.from_text, options.to_text);
	else
		say("--between %s %s: thread %d has no two events at different times there; its "
		    "events are from %s to %s%s", options.from_text, options.to_text,
		    (int)thread->tid, when_string(first, thread->first_ns, why.form),
		    when_string(last, thread->last_ns, why.form),
		    /* A time of day or a time since 1970 that is far from the log. */
		    *options.from_text == '+' ? "" :
		    "; a time such as +0.2s counts from the first event");
}

/* Adds the window of one thread. Returns a status of the tool, after a message if it is not 0. */
static int take_one(uint32_t index)
{
	struct window window;

	if (thread_window(index, &window))
		return add_window(&window);
	if (options.from_text)
		say_not_between(&why.history.thread[index]);
	else if (longest_thread(true) == HISTORY_NONE)
		say("%s: it has no events of the program: record without --trace none, or with "
		    "--sample or --sched", why.log.path);
	else
		say("%s: thread %d has no two events at different times", why.log.path,
		    (int)why.history.thread[index].tid);
	return TOOL_FAILURE;
}

/*
 * Adds the windows of the threads of --thread. A number selects all threads with this number,
 * because the kernel uses the numbers of ended threads again. If no thread has this number, the
 * text is a name, which selects the first thread with this name. Without --thread, adds the main
 * thread, or the one of the child that the recorded process has ended. Returns a status of the
 * tool, after a message if it is not TOOL_OK.
 */
static int take_thread(void)
{
	const char *text = options.thread;
	char *end = NULL;
	const long number = text ? strtol(text, &end, 10) : 0;
	const bool is_number = text && *text && !*end;
	const struct history *history = &why.history;
	uint32_t found = HISTORY_NONE;
	int status = TOOL_OK;
	struct window window;
	size_t count = 0;

	for (size_t i = 0; is_number && i < history->threads && !status; i++) {
		if (history->thread[i].tid != number)
			continue;
		found = (uint32_t)i;
		if (why.windows < SLOWEST_MOST && thread_window(found, &window))
			status = add_window(&window);
	}
	if (status || why.windows)
		return status;
	if (found == HISTORY_NONE)
		found = text ? thread_of_name(text, &count) : main_thread();
	if (found != HISTORY_NONE && !text && !options.from_text)
		found = why_ended_child(&why, found);
	if (found == HISTORY_NONE) {
		if (text)
			say_no_thread(text);
		else
			say("%s: it has no events of the program", why.log.path);
		return TOOL_FAILURE;
	}
	if (text && !is_number && count > 1)
		say("--thread %s: %zu threads have this name; this is thread %d, and --thread "
		    "with a number selects another one", text, count,
		    (int)history->thread[found].tid);
	return take_one(found);
}

/* ------------------------------------------------------------------ answers */

/*
 * Divides and prints one window. Returns 0 or an error number. Each window has its own tree, which
 * is freed before the next tree is made, so that --slowest 1000 needs the memory of one tree only.
 */
static int why_answer(const struct window *window, struct json *json, bool *is_cut)
{
	struct division division;
	struct why_causes causes = { .count = 0 };
	int err = division_make(&division, &why.history, window->thread, window->from_ns,
				window->to_ns);

	if (!err && !why_causes(&causes, &division))
		err = ENOMEM;
	if (!err && why.json)
		err = why_json(json, &why, window, &division, &causes);
	else if (!err)
		err = why_text(&out_stdout, &why, window, &division, &causes);
	*is_cut |= division.is_cut;
	free(causes.cause);
	division_fini(&division);
	return err;
}

/* Prints all answers. Returns 0 or an error number; after an error the JSON is incomplete. */
static int answer_json(void)
{
	struct json json = json_begin(&out_stdout);
	bool is_cut = false;
	int err = 0;

	json_object(&json, NULL);
	json_unsigned(&json, "events", why.history.events);
	json_unsigned(&json, "lost", why.lost);
	json_unsigned(&json, "not_traced", why.untraced);
	json_bool(&json, "sched", why.history.has_states);
	json_unsigned(&json, "gaps", why.history.gaps);
	json_bool(&json, "holds", why.history.holds.count != 0);
	why_json_deadlocks(&json, &why);
	why_json_failures(&json, &why);
	json_array(&json, "answers");
	for (size_t i = 0; !err && i < why.windows; i++)
		err = why_answer(&why.window[i], &json, &is_cut);
	json_end_array(&json);
	json_end_line(&json);
	return err;
}

/* Prints all answers, and the evidence once. */
static int answer_text(void)
{
	bool is_cut = false;
	int err = 0;

	why_text_deadlocks(&out_stdout, &why);
	if (!why.is_part)
		why_text_failures(&out_stdout, &why);
	for (size_t i = 0; !err && i < why.windows; i++) {
		if (i)
			out_char(&out_stdout, '\n');
		err = why_answer(&why.window[i], NULL, &is_cut);
	}
	if (!err)
		why_text_end(&out_stdout, &why, is_cut);
	return err;
}

/*
 * Prints the answers. Returns a status of the tool; it is TOOL_FAILURE if an error has left the
 * output incomplete.
 */
static int answer_all(void)
{
	int err = options.aggregate ? why_aggregate(&out_stdout, &why) :
		  why.json ? answer_json() : answer_text();

	if (!err)
		return TOOL_OK;
	say("%s: %s", why.log.path, strerror(err));
	return TOOL_FAILURE;
}

/*
 * Reads an open log, finds the windows and explains them. Returns a status of the tool. Losses are
 * counted before the answers, because each answer may be wrong where events are missing.
 */
static int explain_log(void)
{
	struct lost lost = { .total = 0 };
	struct posix_trace_ledger_np ledger;
	int err, status = TOOL_OK;

	if (!pairing_begin(&pairing, &why.log))
		return TOOL_USAGE;
	function_names(&pairing, &why.log);
	err = history_read(&why.history, &why.log, &wanted, add_event, NULL);
	if (!err)
		err = pairing.err;
	if (!err)
		err = take_turns();
	if (!err)
		err = lost_take(&lost, &why.log);
	if (err) {
		say("%s: %s", why.log.path, strerror(err));
		failures_fini(&why.failures);
		history_fini(&why.history);
		return TOOL_FAILURE;
	}
	why.lost = lost.total;
	why.untraced = lost.untraced;
	if (!posix_trace_get_ledger_np(why.log.trid, &ledger))
		why.overwritten = ledger.lost[POSIX_TRACE_LOST_OVERWRITTEN_NP] +
				  ledger.lost[POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP];
	why.is_part = most || options.thread || options.from_text || wanted.begin_text ||
		      wanted.end_text;
	lost_fini(&lost);
	if (!most) {
		if (!take_server(&status))
			status = take_thread();
	} else if (!why.windows) {
		say("%s: it has no complete span%s%s%s", why.log.path, options.span ? " " : "",
		    options.span ? options.span : "", span_hint());
		status = TOOL_FAILURE;
	}
	if (!status)
		status = answer_all();
	status = tool_worse(status, reading_status(&why.history.reading));
	failures_fini(&why.failures);
	history_fini(&why.history);
	return status;
}

/* ------------------------------------------------------------------ the command */

enum {
	OPT_SPAN = 256,
	OPT_SLOWEST,
	OPT_THREAD,
	OPT_BETWEEN,
	OPT_AGGREGATE,
	OPT_UTC,
	OPT_RAW,
	OPT_JSON,
	OPT_RUN,
};

static const struct option_row option_rows[] = {
	{ "pid", 'p', "PID", "record the running process PID, and explain that", OPTION_PID },
	{ "duration", 'd', "TIME", "with --pid, record for this time; the default is 5s" },
	{ "run", OPT_RUN, NULL, "record PROGRAM from its start to its end, and explain that" },
	{ "output", 'o', "LOG", "with --pid or --run, keep the log for further questions",
		OPTION_FILE },
	{ "span", OPT_SPAN, "GLOB",
		"the slowest spans whose name matches: begin and end, a call, a function" },
	{ "slowest", OPT_SLOWEST, "N",
		"the N slowest spans; the default is 1; without --span, spans of any name" },
	{ "thread", OPT_THREAD, "T", "the whole run of this thread: its Linux number or its name" },
	{ "between", OPT_BETWEEN, "A B",
		"the time from A to B, of the main thread or of --thread" },
	{ "aggregate", OPT_AGGREGATE, NULL,
		"with --span, what the slowest 1 % do that the others do not" },
	{ "utc", OPT_UTC, NULL, "times in UTC" },
	{ "raw", OPT_RAW, NULL, "times in nanoseconds since 1970", .excludes = "utc" },
	{ "json", OPT_JSON, NULL, "a JSON object" },
	{ .rows = at_rows },
	{ .rows = wanted_time_rows },
	{ .rows = symbols_rows },
	OPTION_HELP,
	OPTION_END
};

/* --between has two values; the second is the next argument. */
static bool take_between(int argc, char **argv)
{
	if (optind >= argc) {
		say("--between %s: the second time is missing", optarg);
		return false;
	}
	options.from_text = optarg;
	options.to_text = argv[optind++];
	return true;
}

/* Processes an option. Returns false after an error was printed. */
static bool parse_option(int option, int argc, char **argv)
{
	bool good;

	if (wanted_option(&wanted, option, optarg, &good) ||
	    at_option(&logs, option, optarg, &good))
		return good;
	switch (option) {
	case OPT_SPAN:
		options.span = optarg;
		return true;
	case OPT_SLOWEST:
		return tool_number_within("--slowest", optarg, 1, SLOWEST_MOST, &options.slowest);
	case OPT_THREAD:
		options.thread = optarg;
		return true;
	case OPT_BETWEEN:
		return take_between(argc, argv);
	case OPT_AGGREGATE:
		options.aggregate = true;
		return true;
	case OPT_UTC:
		why.form = WHEN_UTC;
		return true;
	case OPT_RAW:
		why.form = WHEN_RAW;
		return true;
	case OPT_JSON:
		why.json = true;
		return true;
	case 'p':
		live.pid = optarg;
		return true;
	case 'd':
		live.duration = optarg;
		return true;
	case 'o':
		live.output = optarg;
		return true;
	case OPT_RUN:
		live.runs_program = true;
		return true;
	default:
		return symbols_option(option, optarg);
	}
}

/*
 * Parses a time of --between, if there is one. Returns false after it printed an error. Call it
 * after all options were read, because --utc decides how a time is read and may follow --between.
 */
static bool parse_bound(const char *text, struct bound *bound)
{
	if (!text || bound_parse(text, why.form == WHEN_UTC, bound))
		return true;
	bound_say_wrong("--between", text);
	return false;
}

/*
 * Checks which options may be used together. Returns false after it printed an error. Options for
 * spans and options for threads exclude each other, because a span has its own thread and time.
 */
static bool options_fit(void)
{
	bool wants_spans = options.span || options.slowest;
	bool is_live = live.pid || live.runs_program;

	if (live.pid && live.runs_program)
		say("why: --pid records a process that runs, and --run starts one: give only one");
	else if ((live.output && !is_live) || (live.duration && !live.pid))
		say("why: %s", live.duration ? "--duration needs --pid" :
		    "--output needs --pid or --run");
	else if (is_live && logs.url)
		say("why: --at reads a log of a database, so --pid and --run have no meaning");
	else if (options.aggregate && !options.span)
		say("why: --aggregate needs --span");
	else if (wants_spans && (options.thread || options.from_text))
		say("why: --span and --slowest choose spans, but --thread and --between choose a "
		    "thread: give only one kind");
	else if (options.aggregate && options.slowest)
		say("why: --aggregate uses all spans, so --slowest has no meaning");
	else
		return parse_bound(options.from_text, &options.from) &&
		       parse_bound(options.to_text, &options.to);
	return false;
}

/* Records the process or program, and takes the log. Returns a status of the tool. */
static int take_live(char **operands, int count)
{
	int status;

	if (live.pid ? count > 0 : count == 0) {
		say(live.pid ? "why: --pid records a log, so no LOG is read" :
		    "why: --run needs a program");
		return tool_usage(&why_command);
	}
	status = why_live_record(&live, operands);
	if (!status)
		return at_logs(&logs, &why_command, &live.path, 1, 1, 1);
	if (status == TOOL_FAILURE && live.pid && live.has_tried)
		why_live_threads(&live);
	return status;
}

/*
 * Returns how many operands getopt_long() has skipped before the last option. 'first' is the value
 * of optind before this option. The option itself was one word, or two words with its value.
 */
static int skipped_operands(char **argv, int first)
{
	const int words = optind - first;

	return words - (words > 1 && optarg == argv[optind - 1] ? 2 : words > 0);
}

static int why_run(int argc, char **argv)
{
	int option, status = TOOL_OK, first = optind, before = 0;

	wanted_init(&wanted);
	pairing_init(&pairing, take_span, NULL);
	while (!status && (option = tool_option(argc, argv, &why_command)) != -1) {
		if (option == 'h')
			return tool_help(&why_command);
		before += skipped_operands(argv, first);
		if (!parse_option(option, argc, argv))
			status = tool_usage(&why_command);
		first = optind;
		if (!status && live.runs_program && before) {
			say("why: --run records a log, so no LOG is read");
			status = tool_usage(&why_command);
		}
		/* The options after the first operand belong to the program, not to why. */
		if (live.runs_program && optind < argc && argv[optind][0] != '-')
			break;
	}
	if (!status && (!options_fit() || !wanted_ready(&wanted, why.form == WHEN_UTC))) {
		status = tool_usage(&why_command);
	} else if (!status && (live.pid || live.runs_program)) {
		status = take_live(argv + optind, argc - optind);
	} else if (!status) {
		logs.wanted = &wanted;
		logs.pairs = true;
		logs.joins = true;
		logs.shows_functions = true;
		status = at_logs(&logs, &why_command, argv + optind, (size_t)(argc - optind), 1, 1);
	}
	if (options.span || options.slowest)
		/*
		 * If no option asks for spans, 'most' remains 0, and the time of a server or thread
		 * is explained.
		 */
		most = options.aggregate ? SPANS_MOST : options.slowest ? options.slowest : 1;
	if (!status && !(status = reading_open(&why.log, logs.path[0], &wanted))) {
		why_live_opened(&live);
		why.is_live = live.pid || live.runs_program;
		status = explain_log();
		logfile_close(&why.log);
		if (status == TOOL_FAILURE && live.pid)
			why_live_threads(&live);
	}
	status = tool_worse(status, logs.status);
	free(why.window);
	pairing_fini(&pairing);
	at_fini(&logs);
	why_live_end(&live);
	wanted_fini(&wanted);
	return status;
}

const struct tool_command why_command = {
	.name = "why",
	.usage = "[OPTION]... LOG...\n"
		 "[OPTION]... -p PID\n"
		 "[OPTION]... --run -- PROGRAM [ARGUMENT]...\n"
		 "[OPTION]... --at URL [LOG]",
	.about =
		"Says why something in LOG (- is standard input) took so long: what the thread "
		"did, what it waited for, which thread caused that, and what that thread did "
		"meanwhile. Without an option: why the main thread of the recorded program took "
		"so long; if the program crashed or failed, first where and why.",
	.options = option_rows,
	.notes =
		WANTED_TIME_NOTE
		"Exit status: 0 ok, 1 failure or nothing found, 2 usage, 3 damaged or never "
		"closed.",
	.operands = OPTION_LOG,
	.run = why_run,
};
