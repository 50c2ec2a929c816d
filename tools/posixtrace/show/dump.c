/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dump.c - the command dump: prints every event of a log as a line. */
#include <errno.h>
#include <unistd.h>
#include <string.h>
#include <time.h>

#include "base/say.h"
#include "base/tail.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/when.h"
#include "choose/at.h"
#include "log/logfile.h"
#include "log/losses.h"
#include "log/sysdata.h"
#include "log/value.h"
#include "show/line.h"
#include "show/merge.h"
#include "symbols/data.h"
#include "symbols/symbols.h"

extern const struct tool_command dump_command;

#define FAULTS_MAX 20 /* the most faults that are printed; a damaged log may have millions */
#define TOGETHER   32 /* logs that are open at the same time; bounds the number of descriptors */

struct dump {
	struct wanted wanted;
	struct at at;      /* the logs */
	struct pick pick;
	struct line_form form;
	struct tail tail;
	bool fail_on_loss;
	bool merged;
	bool system;       /* --system was given, or -e, which may name system events */
	bool no_stack;     /* --no-stack */
	struct merge merge;
	struct meter meter;
	struct durations durations;
};

/* The state of the command. It is static because choose_log_type() has no argument for it. */
static struct dump dump;

/* logfile.c calls this function once for each event type of a log. */
static bool choose_log_type(const struct log_type *type)
{
	return choose_type(&dump.wanted.choose, type->name);
}

/* Prints an event, or keeps it for --tail. Returns false after an error. */
static bool show_or_keep(struct logfile *log, const struct log_type *type,
			 const struct posix_trace_event_np *event)
{
	if (dump.tail.limit) {
		if (tail_add(&dump.tail, event, event->data, event->data_len))
			return true;
		say("%s", strerror(ENOMEM));
		/* dump_logs() reads no further log after an error in out_stdout */
		out_stdout.err = out_stdout.err ? out_stdout.err : ENOMEM;
		return false;
	}
	line_put(&out_stdout, &dump.form, log, type, event);
	return !out_stdout.err;
}

/*
 * Prints the kept events. In a kept event the address of the data is no longer valid, so the
 * function replaces this address by the address of the kept data.
 */
static void show_tail(struct logfile *log)
{
	const struct posix_trace_event_np *kept;
	const void *data;

	for (size_t i = 0; dump.tail.limit && (kept = tail_at(&dump.tail, i, &data)); i++) {
		struct posix_trace_event_np event = *kept;

		event.data = data;
		line_put(&out_stdout, &dump.form, log,
			 logfile_type(log, event.info.posix_event_id), &event);
	}
	dump.tail.count = 0;
}

/*
 * Prints the chosen events of a log. Stores in *total the number of all events of the log, or 0 if
 * not all of them were read. Returns 0 or an error number.
 */
static int show_events(struct logfile *log, struct losses *losses, uint64_t *total)
{
	struct posix_trace_event_np event;
	uint64_t read = 0, shown = 0;
	int err, unavailable;

	*total = 0;
	while (!(err = posix_trace_getnext_np(log->trid, &event, &unavailable)) && !unavailable) {
		const struct log_type *type;

		read++;
		meter_step(&dump.meter);
		/*
		 * Losses are reported even if the event is not printed, because they concern every
		 * type.
		 */
		if (event.info.posix_event_id <= POSIX_TRACE_FLUSH_STOP || event.flags)
			losses_event(losses, &event);
		type = logfile_type(log, event.info.posix_event_id);
		durations_event(&dump.durations, type, &event);
		if (dump.form.stacks)
			stacks_take(dump.form.stacks, type, &event);
		if (!type->chosen ||
		    !wanted_event(&dump.wanted, &event, type->name, type->schema, &dump.durations))
			continue;
		if (!dump.system && sysdata_is_hidden(log, type, &event))
			continue;
		if (shown == dump.wanted.limit) /* this event is one more than --limit allows */
			return 0;
		shown++;
		if (!show_or_keep(log, type, &event))
			return 0;
	}
	/*
	 * Without an error, the log was read up to its end, or up to --end. Only at the end of the
	 * log losses_end() reports a gap whose end was not read. Otherwise the gap may end later in
	 * the log. For the same reason the function has returned above at --limit.
	 */
	if (logfile_ends_before(log, dump.wanted.choose.end_ns))
		losses_end(losses);
	if (dump.wanted.choose.begin_ns == INT64_MIN &&
	    logfile_ends_before(log, dump.wanted.choose.end_ns))
		*total = read;
	return err;
}

/*
 * Returns true if the log is damaged. If the number of events differs from the number in the
 * ledger, a part of the log is damaged although the library did not notice it.
 */
static bool looks_damaged(const struct logfile *log, const struct losses *losses,
			  const struct posix_trace_ledger_np *ledger, uint64_t total)
{
	return logfile_is_damaged(log) || losses->skipped ||
	       (total && total != ledger->reported);
}

/*
 * Prepares the durations for --where, and checks the names in --where and --fields. A name is
 * probably mistyped if no event type has a field or value of this name. Returns false after it
 * printed an error.
 */
static bool names_fit(struct logfile *log)
{
	bool unknown = false;

	if (!durations_begin(&dump.durations, &dump.wanted, log))
		return false;

	for (size_t i = 0; i < log->types; i++) {
		if (!log->list[i]->schema)
			continue;
		pick_mark_fields(&dump.pick, log->list[i]->schema);
		if (dump.wanted.where)
			where_mark_names(dump.wanted.where, log->list[i]->schema);
	}
	if (dump.wanted.where)
		unknown = where_say_unknown(dump.wanted.where);
	return !pick_say_unknown(&dump.pick) && !unknown;
}

/* Prints the events and the losses of an open log. Returns an exit status. */
static int dump_open_log(struct logfile *log)
{
	struct posix_trace_ledger_np ledger;
	struct losses losses;
	uint64_t total = 0;
	int status = TOOL_OK, err;

	if (!names_fit(log))
		return TOOL_USAGE;
	/*
	 * If a pattern matches no type, only a warning is printed, since other logs may have such a
	 * type.
	 */
	choose_say_unknown(&dump.wanted.choose, &(const struct logfile *){ log }, 1);
	losses_init(&losses, log->path, dump.form.when);
	wanted_begin(&dump.wanted, log->info.first_ns, log->info.last_ns);
	err = dump.form.stacks ?
	      stacks_before(dump.form.stacks, log, dump.wanted.choose.begin_ns) : 0;
	if (!err)
		err = logfile_window(log, dump.wanted.choose.begin_ns,
				     dump.wanted.choose.end_ns);
	meter_begin(&dump.meter, logfile_events(log), false);
	if (!err)
		err = show_events(log, &losses, &total);
	meter_end(&dump.meter);
	show_tail(log);
	if (!err)
		err = posix_trace_get_ledger_np(log->trid, &ledger);
	if (!err)
		/*
		 * The losses by cause are printed behind the events. Losses that left no gap are
		 * only in the ledger.
		 */
		err = losses_ledger(&losses, log->trid);
	if (err) {
		say("%s: %s", log->path, strerror(err));
		return TOOL_FAILURE;
	}
	if (looks_damaged(log, &losses, &ledger, total)) {
		/*
		 * The list of faults needs another reading of the whole file. So it is printed only
		 * if the command has read all events anyway.
		 */
		if (total)
			logfile_say_faults(log, FAULTS_MAX);
		else if (log->whole && log->info.complete && !losses.skipped)
			say("%s: damaged; 'posixtrace verify' says where", log->path);
		status = TOOL_DAMAGED;
	}
	if (dump.fail_on_loss && losses_count(&ledger))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

/*
 * Returns whether stacks are printed below events. With --fields only the number of a stack can be
 * printed, and with --hex nothing of a stack is printed.
 */
static bool prints_stacks(void)
{
	return !dump.no_stack && !dump.form.pick && !dump.form.hex;
}

/*
 * Prints one log. If 'several' is true, the command line has several logs, and each log gets a
 * title.
 */
static int dump_log(struct logfile *log, bool several)
{
	struct stacks stacks = { .entries = 0 };
	int status;

	/*
	 * The first event of a log has no event before it, so its line shows no time since an
	 * earlier event.
	 */
	dump.form.any = false;
	dump.form.log = several ? log->path : NULL;
	if (several && !dump.form.json) {
		out_str(&out_stdout, "==> ");
		text_safe(&out_stdout, log->path, strlen(log->path));
		out_str(&out_stdout, " <==\n");
	}
	if (prints_stacks())
		dump.form.stacks = &stacks;
	status = dump_open_log(log);
	dump.form.stacks = NULL;
	stacks_fini(&stacks);
	durations_end(&dump.durations);
	return status;
}

/*
 * Prints logs one by one. All logs are open before the first is printed, because a descriptor that
 * one log of a recording opens then has its name in the next logs, too (log/descriptors.h).
 */
static int dump_together(char **path, size_t paths, bool several)
{
	static struct logfile log[TOGETHER];
	int status = TOOL_OK, opened[TOGETHER];

	for (size_t i = 0; i < paths; i++) {
		opened[i] = logfile_open(&log[i], path[i], choose_log_type);
		status = tool_worse(status, opened[i]);
	}
	for (size_t i = 0; i < paths && !out_stdout.err; i++)
		if (!opened[i])
			status = tool_worse(status, dump_log(&log[i], several));
	for (size_t i = 0; i < paths; i++)
		if (!opened[i])
			logfile_close(&log[i]);
	return status;
}

/* Prints an event of the merged logs, with the name of its log. */
static bool show_merged(void *arg, struct merge_source *source, const struct log_type *type,
			const struct posix_trace_event_np *event)
{
	(void)arg;
	dump.form.log = source->log.path;
	dump.form.log_width = dump.merge.path_columns;
	dump.form.stacks = dump.merge.keeps_stacks ? &source->stacks : NULL;
	line_put(&out_stdout, &dump.form, &source->log, type, event);
	return !out_stdout.err;
}

/* Prints the events of all logs together, in one order. */
static int dump_merged(char **path, size_t paths)
{
	int status;

	dump.merge.wanted = &dump.wanted;
	dump.merge.pick = dump.form.pick;
	dump.merge.choose = choose_log_type;
	dump.merge.when = dump.form.when;
	dump.merge.fail_on_loss = dump.fail_on_loss;
	dump.merge.hides_recorder = !dump.system;
	dump.merge.keeps_stacks = prints_stacks();
	status = merge_run(&dump.merge, path, paths, show_merged, NULL);
	merge_fini(&dump.merge);
	return status;
}

enum {
	OPT_UTC = 256,
	OPT_RAW,
	OPT_SYSTEM,
	OPT_HEX,
	OPT_SYMBOLS,
	OPT_STACK,
	OPT_NO_STACK,
	OPT_JSON,
	OPT_SALVAGE,
	OPT_MERGE,
	OPT_FAIL_ON_LOSS,
};

static const struct option_row option_rows[] = {
	{ .rows = at_rows },
	{ .rows = wanted_rows },
	{ .rows = pick_rows },
	{ "merge", OPT_MERGE, NULL, "the events of all logs in one order, by time" },
	{ .rows = merge_rows },
	{ "utc", OPT_UTC, NULL, "times in UTC" },
	{ "raw", OPT_RAW, NULL, "times in nanoseconds since 1970", .excludes = "utc" },
	{ "system", OPT_SYSTEM, NULL,
		"also the events of the recorder: start, stop, filter, flush" },
	{ "hex", OPT_HEX, NULL, "all data as bytes", .excludes = "fields" },
	{ "symbols", OPT_SYMBOLS, NULL,
		"after each event, the function and the line of its program address" },
	{ "stack", OPT_STACK, NULL,
		"below each sample, its call stack; calls that were recorded with a stack always "
		"have it", .excludes = "hex fields" },
	{ "no-stack", OPT_NO_STACK, NULL, "no call stacks" },
	{ .rows = symbols_rows },
	{ "json", OPT_JSON, NULL, "a JSON object a line" },
	{ "salvage", OPT_SALVAGE, NULL, "has no effect: dump always reads on after damage" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	OPTION_HELP,
	OPTION_END
};

/*
 * Processes an option. Returns false if the option or its value is wrong; the error has been
 * printed.
 */
static bool parse_option(int option)
{
	bool good;

	/*
	 * With -e the events of the recorder are not hidden, because the pattern may match their
	 * types.
	 */
	dump.system |= option == 'e';
	if (wanted_option(&dump.wanted, option, optarg, &good) ||
	    at_option(&dump.at, option, optarg, &good))
		return good;
	switch (option) {
	/* If --fields is given twice, the columns of the second list follow those of the first. */
	case PICK_FIELDS:
		dump.form.pick = &dump.pick;
		return pick_parse(&dump.pick, optarg);
	case OPT_UTC:
		dump.form.when = WHEN_UTC;
		return true;
	case OPT_RAW:
		dump.form.when = WHEN_RAW;
		return true;
	case OPT_SYSTEM:
		dump.system = true;
		return true;
	case OPT_HEX:
		dump.form.hex = true;
		return true;
	case OPT_SYMBOLS:
		dump.form.symbols = true;
		value_symbol = data_symbol;
		return true;
	case OPT_STACK:
	case OPT_NO_STACK:
		dump.form.all_stacks = option == OPT_STACK;
		dump.no_stack = option == OPT_NO_STACK;
		return true;
	case SYMBOLS_DEBUG_DIR:
	case SYMBOLS_DEMANGLE:
	case SYMBOLS_NO_DEMANGLE:
		return symbols_option(option, optarg);
	case OPT_JSON:
		dump.form.json = true;
		return true;
	case OPT_MERGE:
		dump.merged = true;
		return true;
	case MERGE_CLOCK_ERROR:
		return merge_add_error(&dump.merge, optarg);
	/* --salvage has no effect, because salvage is always done. Scripts may still use it. */
	case OPT_SALVAGE:
		return true;
	case OPT_FAIL_ON_LOSS:
		dump.fail_on_loss = true;
		return true;
	}
	return false; /* tool_option() has printed the error */
}

/* Prints the logs one by one or merged. Returns the worst status of all logs. */
static int dump_logs(void)
{
	int status = TOOL_OK;
	size_t most; /* logs that are open at the same time */

	if (dump.merged)
		return dump_merged(dump.at.path, dump.at.paths);
	if (dump.wanted.tail &&
	    !tail_init(&dump.tail, dump.wanted.tail, sizeof(struct posix_trace_event_np))) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	dump.wanted.logs = dump.at.paths;
	/*
	 * With --at only one log is open at a time, so that a message about a missing part of a log
	 * appears next to the events of this log.
	 */
	most = dump.at.url ? 1 : TOGETHER;
	for (size_t i = 0, count; i < dump.at.paths && !out_stdout.err; i += count) {
		count = dump.at.paths - i < most ? dump.at.paths - i : most;
		status = tool_worse(status, dump_together(dump.at.path + i, count,
							  dump.at.paths > 1));
	}
	tail_fini(&dump.tail);
	return status;
}

/* Parses the options and prints the logs. */
static int dump_run(int argc, char **argv)
{
	int option, status;

	wanted_init(&dump.wanted);
	while ((option = tool_option(argc, argv, &dump_command)) != -1) {
		if (option == 'h')
			return tool_help(&dump_command);
		if (!parse_option(option))
			return tool_usage(&dump_command);
	}
	/*
	 * wanted_ready() parses the times of --begin and --end only here, because --utc may be
	 * behind them on the command line.
	 */
	if (!wanted_ready(&dump.wanted, dump.form.when == WHEN_UTC))
		return tool_usage(&dump_command);
	dump.at.wanted = &dump.wanted;
	dump.at.is_merged = dump.merged;
	dump.at.shows_functions = dump.form.symbols || dump.form.pick;
	dump.at.pairs = wanted_uses_duration(&dump.wanted);
	status = at_logs(&dump.at, &dump_command, argv + optind, (size_t)(argc - optind), 1,
			 SIZE_MAX);
	if (!status)
		status = dump_logs();
	at_fini(&dump.at);
	wanted_fini(&dump.wanted);
	return status;
}

const struct tool_command dump_command = {
	.name = "dump",
	.usage = "[OPTION]... LOG...\n"
		 "[OPTION]... --at URL [LOG]...",
	.about =
		"Prints the events of each LOG (- is standard input), one line each: time, "
		"seconds since the event shown before, process, thread, program address, event "
		"type, data.",
	.options = option_rows,
	.notes =
		WANTED_TIME_NOTE
		"A log that is damaged, was cut off or was never closed is read as far as "
		"possible; standard error has the reason. It also has a WARNING line for each "
		"loss, at its place among the events.\n"
		"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed, 4 see "
		"--fail-on-loss.",
	.operands = OPTION_LOG,
	.run = dump_run,
};
