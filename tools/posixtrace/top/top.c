/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top.c - the command top: shows the current activity of a process.
 *
 * The command has one thread. It reads events more often than it shows a page, because its stream
 * overwrites old events, even if they were not read. The counts are exact nevertheless, because
 * they come from the ledger. Durations and locks come only from the events that the command has
 * read before they were overwritten.
 */
#include "top/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/quantity.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/until.h"
#include "live/preload.h"
#include "live/process.h"

extern const struct tool_command top_command;

#ifdef HAVE_NCURSES
# define HAS_SCREEN true
#else
# define HAS_SCREEN false
#endif

#define FAULTS 10 /* faults of a log that are printed */

enum { OPT_ONCE = 256, OPT_ROWS, OPT_TRACE };

static const struct option_row option_rows[] = {
	{ "pid", 'p', "PID", "the process; its program needs no preparation", OPTION_PID },
	{ "trace", OPT_TRACE, "FAMILIES",
		"the calls to count in a program without libposixtrace, as for record; none: load "
		"nothing into it",
		OPTION_LIST, PRELOAD_FAMILIES },
	{ "delay", 'd', "TIME",
		"the time between two pages: 1s, or another time such as 200ms or 5" },
	{ "count", 'n', "N", "end after N pages" },
	{ "batch", 'b', NULL, "print the pages as text on standard output" },
	{ "once", OPT_ONCE, NULL, "print one page: --batch --count 1" },
	{ "rows", OPT_ROWS, "N", "at most N lines for each part of a page; 10 by default" },
	{ "size", 's', "BYTES", "size of the stream: 1M, or another number with K, M or G" },
	OPTION_HELP,
	OPTION_END
};

/* The options of this run. The command runs once in a process. */
static pid_t pid;
static int64_t delay_ns = 1000000000;
static uint64_t pages, rows = 10; /* 'pages': 0 means without end */
static bool batch;
static const char *families; /* NULL: the default */
static size_t stream_size = (size_t)1 << 20;

/*
 * Processes one option. Returns false after an error was printed; tool_option() has printed the
 * error for an unknown option.
 */
static bool take_option(int option)
{
	switch (option) {
	case 'p':
		return process_once("--pid", optarg, &pid);
	case OPT_TRACE:
		return preload_take_families(&families, optarg);
	case 'd':
		return quantity_span("--delay", optarg, &delay_ns);
	case 'n':
		return tool_number("--count", optarg, &pages);
	case 'b':
		batch = true;
		return true;
	/* A single page is of use only as text. */
	case OPT_ONCE:
		batch = true;
		pages = 1;
		return true;
	case OPT_ROWS:
		return tool_number("--rows", optarg, &rows);
	case 's':
		return quantity_bytes("--size", optarg, &stream_size);
	}
	return false;
}

/*
 * Writes one page to standard output. A log has no current rates, so its rows are in the order of
 * the totals.
 */
static void write_page(const struct top_source *source, const struct top *top)
{
	struct top_page page;

	top_page_make(&page, source, top, TOP_ALL, source->pid == 0, rows);
	for (size_t i = 0; i < page.lines; i++) {
		out_str(&out_stdout, page.line[i].text);
		out_char(&out_stdout, '\n');
	}
	top_page_fini(&page);
}

/*
 * Writes pages until --count is reached, the process ends, or a signal arrives. If the process
 * ends, one more page is written. Returns a status of the tool.
 */
static int write_pages(struct top_source *source, struct top *top)
{
	struct until until;
	enum until_end end = UNTIL_TIME;
	sigset_t set;
	int err = until_begin(&until, source->pid);

	if (err)
		return process_say_why(source->pid, err);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	err = until_signals(&until, &set);
	until.look_ms = TOP_READ_MS;
	for (uint64_t n = 0; !err && end == UNTIL_TIME && (!pages || n < pages); n++) {
		until_limit(&until, delay_ns);
		while (!until_some(&until, &end))
			top_read(source, top);
		source->ended = end == UNTIL_PROCESS_ENDED;
		err = top_update(source, top);
		if (err)
			break;
		if (n)
			out_char(&out_stdout, '\n');
		write_page(source, top);
		if (out_flush(&out_stdout))
			break;
	}
	until_end(&until);
	return err ? process_say_why(source->pid, err) : TOOL_OK;
}

/*
 * Shows the source on the screen or as text. A log has one page as text, since it does not change.
 */
static int show_source(struct top_source *source, struct top *top)
{
#ifdef HAVE_NCURSES
	if (!batch)
		return top_screen(source, top, delay_ns, pages);
#endif
	if (source->pid)
		return write_pages(source, top);
	write_page(source, top);
	return TOOL_OK;
}

/*
 * Opens the source, shows it and closes it. 'path' is NULL for a process. The stream is closed also
 * after an error, so that the process does not continue to record.
 */
static int watch_source(const char *path)
{
	struct top *top = malloc(sizeof(*top)); /* too large for the stack */
	struct top_source source;
	int status;

	if (!top) {
		say("out of memory");
		return TOOL_FAILURE;
	}
	if (!top_init(top)) {
		say("%s", strerror(ENOMEM));
		top_fini(top);
		free(top);
		return TOOL_FAILURE;
	}
	status = path ? top_open_log(&source, path, top)
		      : top_open_process(&source, top, pid, families, stream_size);
	if (!status) {
		status = show_source(&source, top);
		if (path)
			/* A damaged log is shown as far as it can be read; its faults follow. */
			status = tool_worse(status, logfile_say_faults(&source.log, FAULTS));
		top_close(&source);
	}
	top_fini(top);
	free(top);
	return status;
}

/* Parses the options, then shows a process or one log. */
static int top_run(int argc, char **argv)
{
	int option;

	while ((option = tool_option(argc, argv, &top_command)) != -1) {
		if (option == 'h')
			return tool_help(&top_command);
		if (!take_option(option))
			return tool_usage(&top_command);
	}
	if (pid ? optind != argc : optind + 1 != argc) {
		say("top: give a process with -p, or one log");
		return tool_usage(&top_command);
	}
	/* Without a terminal the keys would have no effect. */
	if (!HAS_SCREEN || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		batch = true;
	return watch_source(pid ? NULL : argv[optind]);
}

const struct tool_command top_command = {
	.name = "top",
	.usage = "[OPTION]... -p PID\n"
		"[OPTION]... LOG",
	.about =
		"Shows what the process PID does, and the children that it has from now on: "
		"event types by rate, durations, the busiest threads and how long they ran, were "
		"ready to run or blocked, contended locks, how full its streams are, losses. It "
		"creates a stream of its own, so other traces of the process do not change. For "
		"a LOG it shows the same of all its events.",
	.options = option_rows,
	.notes =
		"Keys: q quits, Tab shows the next part alone, a shows all parts, s sorts by "
		"total or rate, p pauses, r resets durations and locks, arrows and pages scroll.\n"
		"\n"
		"Exit status: 0 ok, 1 failure, 2 usage, 3 a log is damaged or was never closed.",
	.operands = OPTION_LOG,
	.run = top_run,
};
