/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stat.c - the command stat: describes a log and counts its events. */
#include "stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/say.h"
#include "base/tool.h"
#include "log/equation.h"
#include "log/losses.h"
#include "log/origin.h"
#include "log/tally_parts.h"
#include "log/thread_name.h"

/* The command is declared here and not in a header, because only main.c uses it. */
extern const struct tool_command stat_command;


/* The options of this run. The command runs once in a process. */
static struct {
	enum when_form form;
	bool json;
	bool fail_on_loss;
	uint64_t threads; /* 0: tally_threads() chooses the number */
} options;

const char *stat_thread_name(const struct stat_report *report, const struct tally_thread *thread)
{
	static struct posix_trace_object_np object;

	if (!report->log->has_objects ||
	    !thread_name_find(report->log->trid, thread->id.pid, (uint64_t)thread->id.thread,
			      thread_life_name_ns(&thread->life, thread->count.last_ns), &object))
		return NULL;
	return object.name;
}

/* In a damaged log the difference of two times may need more than 63 bits. */
int64_t stat_span(const struct tally_count *count)
{
	int64_t span_ns;

	return __builtin_sub_overflow(count->last_ns, count->first_ns, &span_ns) ? INT64_MAX :
	       span_ns;
}

/*
 * The rates of types and threads are also per second of the whole log. So the sum of these rates is
 * the rate of the log.
 */
double stat_rate(const struct tally *tally, const struct tally_count *count)
{
	int64_t span_ns = stat_span(&tally->total);

	return span_ns > 0 ? (double)count->events * 1e9 / (double)span_ns : 0;
}

/*
 * Reads the attributes. An attribute that the stream lacks, because of its policy or because the
 * log is old, remains zero.
 */
static int read_attributes(trace_id_t trid, struct stat_attributes *to)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	memset(to, 0, sizeof(*to));
	if (err)
		return err;
	err = posix_trace_get_attr(trid, &attr);
	if (!err) {
		posix_trace_attr_getname(&attr, to->name);
		posix_trace_attr_getgenversion(&attr, to->generation);
		posix_trace_attr_getinherited(&attr, &to->inheritance);
		posix_trace_attr_getstreamfullpolicy(&attr, &to->stream_policy);
		posix_trace_attr_getlogfullpolicy(&attr, &to->log_policy);
		posix_trace_attr_getstreamsize(&attr, &to->stream_size);
		posix_trace_attr_getlogsize(&attr, &to->log_size);
		posix_trace_attr_getmaxdatasize(&attr, &to->max_data_size);
		posix_trace_attr_getcreatetime(&attr, &to->created);
		posix_trace_attr_getclockres(&attr, &to->resolution);
	}
	posix_trace_attr_destroy(&attr);
	return err;
}

/*
 * Returns true if the log is damaged. If the number of events that were read is not the number in
 * the ledger, salvage has skipped a damaged part without a mark.
 */
static bool looks_damaged(const struct logfile *log, const struct tally *tally)
{
	return logfile_is_damaged(log) || tally->gaps ||
	       tally->total.events != tally->ledger.reported;
}

/*
 * Reads an open log. After an error, which the function prints, the caller need not call
 * tally_fini().
 */
static int read_log(struct stat_report *report, struct logfile *log)
{
	int err = read_attributes(log->trid, &report->attr);

	report->log = log;
	if (!err)
		err = posix_trace_get_status(log->trid, &report->status);
	if (!err)
		/*
		 * The events are read before the call of looks_damaged(), because this function
		 * also considers damage that is found while the log is read.
		 */
		err = tally_count(&report->tally, log,
				  options.threads ? (unsigned)options.threads : tally_threads(log));
	if (!err)
		err = shimloss_read(&report->shim, log);
	if (err) {
		say("%s: %s", log->path, strerror(err));
		tally_fini(&report->tally);
		return TOOL_FAILURE;
	}
	/* Type 0 has the events whose type is not known. A log may lack this line. */
	if (posix_trace_get_ledger_type_np(log->trid, 0, &report->unknown))
		memset(&report->unknown, 0, sizeof(report->unknown));
	report->is_damaged = looks_damaged(log, &report->tally);
	return TOOL_OK;
}

static void say_damaged(const char *path)
{
	say("%s: damaged or not complete; 'posixtrace verify' says where", path);
}

/* Prints a report and returns the exit status. */
static int print_report(const struct stat_report *report)
{
	int status = TOOL_OK;

	if (options.json)
		stat_json(&out_stdout, report);
	else
		stat_text(&out_stdout, report, options.form);
	if (report->is_damaged) {
		/* For the logs of a recording, this message is already printed. */
		if (report->paths == 1)
			say_damaged(report->log->path);
		status = TOOL_DAMAGED;
	}
	/* Calls that the shim did not trace are losses for the user, too. */
	if (options.fail_on_loss && (losses_count(&report->tally.ledger) ||
				     shimloss_of(&report->shim, SHIMLOSS_ALL)))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

/* Opens one log, prints its report and closes it. */
static int stat_log(const char *path)
{
	struct logfile log;
	struct stat_report report = { .paths = 1 };
	int status = logfile_open(&log, path, NULL);

	if (status)
		return status;
	/* The log has the name "standard input" if the path is "-". */
	report.path = &log.path;
	status = read_log(&report, &log);
	if (!status) {
		status = print_report(&report);
		tally_fini(&report.tally);
	}
	logfile_close(&log);
	return status;
}

/*
 * Adds an earlier log of the recording to the report. 'whole' is the copy of the last log's struct,
 * to which the function adds the sizes of the earlier log.
 */
static int add_log(struct stat_report *report, struct logfile *whole, const char *path)
{
	struct stat_report other = { .paths = 1 };
	struct logfile log;
	int err, status = logfile_open(&log, path, NULL);

	if (status)
		return status;
	status = read_log(&other, &log);
	if (!status) {
		err = tally_join(&report->tally, &other.tally);
		if (err) {
			say("%s: %s", path, err == EINVAL ?
			    "its event types differ from those of the last log" : strerror(err));
			status = TOOL_FAILURE;
		}
		tally_fini(&other.tally);
	}
	if (!status) {
		shimloss_add(&report->shim, &other.shim);
		equation_add(&report->unknown, &other.unknown);
		report->is_damaged |= other.is_damaged;
		if (other.is_damaged)
			say_damaged(path);
		report->status.posix_stream_overrun_status |=
			other.status.posix_stream_overrun_status;
		report->status.posix_log_overrun_status |= other.status.posix_log_overrun_status;
		if (!report->status.posix_stream_flush_error)
			report->status.posix_stream_flush_error =
				other.status.posix_stream_flush_error;
		whole->info.file_bytes += log.info.file_bytes;
		whole->info.event_bytes += log.info.event_bytes;
		whole->info.blocks += log.info.blocks;
		whole->info.complete &= log.info.complete;
		whole->whole &= log.whole;
	}
	logfile_close(&log);
	return status;
}

/*
 * Prints one report of all logs of a recording, whose paths are in the order of time. The last log
 * has all types and names, because a stream keeps its types and names. So only this log is open all
 * the time.
 */
static int stat_recording(const char *const *path, size_t paths)
{
	struct logfile log, whole;
	struct stat_report report = { .path = path, .paths = paths };
	int status = logfile_open(&log, path[paths - 1], NULL);

	if (status)
		return status;
	status = read_log(&report, &log);
	if (!status) {
		whole = log;
		report.log = &whole;
		if (report.is_damaged)
			say_damaged(log.path);
		for (size_t i = paths - 1; !status && i-- > 0;)
			status = add_log(&report, &whole, path[i]);
		if (!status)
			status = print_report(&report);
		tally_fini(&report.tally);
	}
	logfile_close(&log);
	return status;
}

/*
 * If the operands are the logs of one recording, prints the report of this recording and returns
 * true. Otherwise prints nothing and returns false.
 */
static bool take_recording(char *const *operand, size_t operands, int *status)
{
	size_t *order = operands > 1 ? calloc(operands, sizeof(*order)) : NULL;
	const char **path = order ? calloc(operands, sizeof(*path)) : NULL;
	const bool is_one = path && origin_is_one(operand, operands, order);

	for (size_t i = 0; is_one && i < operands; i++)
		path[i] = operand[order[i]];
	if (is_one)
		*status = stat_recording(path, operands);
	free(path);
	free(order);
	return is_one;
}

enum {
	OPT_UTC = 256,
	OPT_RAW,
	OPT_JSON,
	OPT_FAIL_ON_LOSS,
	OPT_THREADS,
};

/* Options without a letter have values above the values of characters. */
static const struct option_row option_rows[] = {
	{ "utc", OPT_UTC, NULL, "times in UTC" },
	{ "raw", OPT_RAW, NULL, "times in nanoseconds since 1970", .excludes = "utc" },
	{ "json", OPT_JSON, NULL, "a JSON object for each log" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	{ "threads", OPT_THREADS, "N",
		"count with N threads, at most 32; by default as many as there are processors, "
		"and one for logs of less than a million events" },
	OPTION_HELP,
	OPTION_END
};

/*
 * Parses --threads. The number is limited, because the array of workers has a fixed size. Returns
 * false after it printed an error.
 */
static bool threads_given(const char *text)
{
	return tool_number_within("--threads", text, 1, TALLY_THREADS_MAX, &options.threads);
}

/* Parses the options, then prints the logs in order. Returns the worst status of all logs. */
static int stat_run(int argc, char **argv)
{
	int option, status = TOOL_OK;

	while ((option = tool_option(argc, argv, &stat_command)) != -1) {
		switch (option) {
		case 'h':
			return tool_help(&stat_command);
		case OPT_UTC:
			options.form = WHEN_UTC;
			break;
		case OPT_RAW:
			options.form = WHEN_RAW;
			break;
		case OPT_JSON:
			options.json = true;
			break;
		case OPT_FAIL_ON_LOSS:
			options.fail_on_loss = true;
			break;
		case OPT_THREADS:
			if (!threads_given(optarg))
				return tool_usage(&stat_command);
			break;
		default:
			return tool_usage(&stat_command);
		}
	}
	/*
	 * The name of a log is required. If the command read standard input by default, it would
	 * seem to hang when standard input is a terminal.
	 */
	if (optind == argc) {
		say("stat: the name of a log is missing");
		return tool_usage(&stat_command);
	}
	if (take_recording(argv + optind, (size_t)(argc - optind), &status))
		return status;
	/* an error of the output, such as a full disk, ends the loop */
	for (int i = optind; i < argc && !out_stdout.err; i++) {
		/* An empty line separates reports in text form. In JSON each report is one line. */
		if (i > optind && !options.json)
			out_char(&out_stdout, '\n');
		status = tool_worse(status, stat_log(argv[i]));
	}
	return status;
}

const struct tool_command stat_command = {
	.name = "stat",
	.usage = "[OPTION]... LOG...",
	.about =
		"Prints a summary of each LOG (- is standard input): attributes, status, times, "
		"events, rates and bytes by event type and by thread, and losses by type, "
		"thread and cause. If the LOGs are those of one recording with --rotate-size or "
		"--rotate-time, they have one summary.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed, 4 see "
		"--fail-on-loss.",
	.operands = OPTION_LOG,
	.run = stat_run,
};
