/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verify.c - the command verify: checks a log completely and reports each fault. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/meter.h"
#include "base/json.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "log/equation.h"
#include "log/logfile.h"
#include "log/losses.h"

extern const struct tool_command verify_command;

/* The options of this run. The command runs once in a process. */
struct verify {
	uint64_t limit;
	bool json;
	bool fail_on_loss;
};

/* The default limit keeps the report about a heavily damaged log readable. */
static struct verify verify = { .limit = 100 };

struct report {
	const struct logfile *log;
	struct json json;
	uint64_t printed; /* number of faults that were printed */
	/* the library has already reported that the number of events in the ledger is wrong */
	bool has_count;
};

/* Writes a fault as an element of the array that begin_json() opened. */
static void fault_json(struct report *report, const struct posix_trace_fault_np *fault)
{
	json_object(&report->json, NULL);
	json_unsigned(&report->json, "offset", fault->offset);
	json_unsigned(&report->json, "bytes", fault->bytes);
	json_string_member(&report->json, "reason", fault->reason);
	json_end_object(&report->json);
}

/*
 * The library calls this function for each fault. Each fault is printed immediately and not kept,
 * since a log may have millions of faults. Faults beyond the limit are only counted.
 */
static void report_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	struct report *report = arg;

	if (!strncmp(fault->reason, "the ledger reports ", strlen("the ledger reports ")))
		report->has_count = true;
	if (report->printed == verify.limit)
		return;
	if (verify.json)
		fault_json(report, fault);
	else
		logfile_say_fault(report->log, fault);
	report->printed++;
}

/*
 * Returns the verdict in words. An incomplete log is never called sound, even if it has no faults.
 */
static const char *verify_verdict(const struct posix_trace_check_np *check, bool sound)
{
	if (!check->complete)
		return check->faults ? "damaged and never closed" : "never closed";
	return sound ? "sound" : "damaged";
}

/*
 * Prints the result as text. "shown" is the number of faults that were printed before. An
 * incomplete log has no ledger to check.
 */
static void result_text(const char *path, const struct posix_trace_check_np *check,
			uint64_t shown, bool sound)
{
	struct out *out = &out_stdout;

	if (check->faults > shown)
		say("%s: and %llu more fault%s", path, (unsigned long long)(check->faults - shown),
		    text_plural(check->faults - shown));
	text_safe(out, path, strlen(path));
	out_printf(out, ": %s: %llu block%s, %llu event%s, %llu byte%s, %llu fault%s\n",
		   verify_verdict(check, sound), (unsigned long long)check->blocks,
		   text_plural(check->blocks), (unsigned long long)check->events,
		   text_plural(check->events), (unsigned long long)check->bytes,
		   text_plural(check->bytes),
		   (unsigned long long)check->faults, text_plural(check->faults));
	if (!check->complete) {
		say("%s: its writer has not closed it, or it was cut: it has no ledger to verify",
		    path);
		return;
	}
	text_safe(out, path, strlen(path));
	out_str(out, ": ");
	equation_text(out, &check->ledger);
	out_char(out, '\n');
}

/*
 * Reports a fault if the number of events is not the number in the ledger. The library does not
 * report this difference if other damage of the log may be its cause.
 */
static void report_count(struct report *report, struct posix_trace_check_np *check)
{
	char reason[128];
	struct posix_trace_fault_np fault = { .reason = reason };

	if (!check->complete || check->events == check->ledger.reported || report->has_count)
		return;
	snprintf(reason, sizeof(reason), "%llu event%s found where the ledger reports %llu",
		 (unsigned long long)check->events, text_plural(check->events),
		 (unsigned long long)check->ledger.reported);
	report_fault(report, &fault);
	check->faults++;
}

/* Completes the object that begin_json() began. */
static void result_json(struct json *json, const struct posix_trace_check_np *check, bool sound)
{
	json_end_array(json);
	json_unsigned(json, "fault_count", check->faults);
	json_bool(json, "sound", sound);
	json_bool(json, "complete", check->complete);
	json_unsigned(json, "blocks", check->blocks);
	json_unsigned(json, "events", check->events);
	json_unsigned(json, "bytes", check->bytes);
	equation_json(json, "ledger", &check->ledger);
	json_end_line(json);
}

/*
 * The function checks the equation and the number of events with the tool's own code. The library
 * has already checked both, but the verdict should not depend on a single implementation.
 */
static bool is_sound(const struct posix_trace_check_np *check)
{
	return !check->faults && check->complete && equation_holds(&check->ledger) &&
	       check->events == check->ledger.reported;
}

/*
 * Begins the JSON object of a log. Later result_json(), or verify_open_log() after an error,
 * completes the object, so that the line is valid JSON.
 */
static void begin_json(struct json *json, const struct logfile *log)
{
	*json = json_begin(&out_stdout);
	json_object(json, NULL);
	json_string_member(json, "log", log->path);
	json_array(json, "faults");
}

/*
 * Returns 0 if the library can open the file, perhaps only with salvage. Otherwise returns an error
 * number. posix_trace_check_np() reports a file that cannot be opened as one fault with the reason.
 */
static int try_to_open(const struct logfile *log)
{
	trace_id_t trid;
	int err = logfile_open_strict(log, &trid);

	if (err)
		err = posix_trace_open_np(log->fd, LOGFILE_REOPEN, &trid);
	if (!err)
		posix_trace_close(trid);
	return err;
}

/* Returns the size of the log's file for the progress line, or 0 if it is unknown. */
static uint64_t size_of(const struct logfile *log)
{
	struct stat st;

	return fstat(log->fd, &st) ? 0 : (uint64_t)st.st_size;
}

/* Checks an open log, prints the result and returns the status. */
static int verify_open_log(const struct logfile *log)
{
	struct posix_trace_check_np check;
	struct report report = { .log = log };
	int err = try_to_open(log), status;
	struct meter meter;
	bool sound;

	/*
	 * If the file is not a log, the function prints no list of faults. The message names the
	 * format of the file if possible.
	 */
	if (err && !verify.json)
		return logfile_say_why(log, err);
	if (verify.json)
		begin_json(&report.json, log);
	/* Members that the library does not set are zero. */
	memset(&check, 0, sizeof(check));
	/*
	 * In text mode the progress line may be shown even if standard output is a terminal. Only
	 * say() prints before the end, and it removes the line first.
	 */
	meter_begin(&meter, 0, !verify.json);
	/*
	 * The library's check is one call that does not report its progress. So the progress line
	 * shows how many bytes the process has read.
	 */
	meter_follow(&meter, size_of(log));
	err = posix_trace_check_np(log->fd, report_fault, &report, &check);
	meter_end(&meter);
	if (err) {
		if (verify.json) {
			/*
			 * The array of faults and the object must be closed although the check
			 * failed.
			 */
			json_end_array(&report.json);
			json_string_member(&report.json, "error", strerror(err));
			json_end_object(&report.json);
			out_char(&out_stdout, '\n');
		}
		return logfile_say_why(log, err);
	}
	report_count(&report, &check);
	sound = is_sound(&check);
	if (verify.json)
		result_json(&report.json, &check, sound);
	else
		result_text(log->path, &check, report.printed, sound);
	/* As in all commands, an incomplete log has the same exit status as a damaged log. */
	status = sound ? TOOL_OK : TOOL_DAMAGED;
	if (verify.fail_on_loss && losses_count(&check.ledger))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

/* Opens only the file and not the log, because posix_trace_check_np() reads the file itself. */
static int verify_log(const char *path)
{
	struct logfile log;
	int status = logfile_open_fd(&log, path);

	if (status)
		return status;
	status = verify_open_log(&log);
	logfile_close(&log);
	return status;
}

enum {
	OPT_LIMIT = 256,
	OPT_JSON,
	OPT_FAIL_ON_LOSS,
};

static const struct option_row option_rows[] = {
	{ "limit", OPT_LIMIT, "N", "print at most N faults of each log (100); all are counted" },
	{ "json", OPT_JSON, NULL, "a JSON object for each log, with the faults" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	OPTION_HELP,
	OPTION_END
};

/* Parses the options, then checks the logs in order. Returns the worst status of all logs. */
static int verify_run(int argc, char **argv)
{
	int option, status = TOOL_OK;

	while ((option = tool_option(argc, argv, &verify_command)) != -1) {
		switch (option) {
		case 'h':
			return tool_help(&verify_command);
		case OPT_LIMIT:
			if (!tool_number("--limit", optarg, &verify.limit))
				return tool_usage(&verify_command);
			break;
		case OPT_JSON:
			verify.json = true;
			break;
		case OPT_FAIL_ON_LOSS:
			verify.fail_on_loss = true;
			break;
		default:
			return tool_usage(&verify_command);
		}
	}
	if (optind == argc) {
		say("verify: the name of a log is missing");
		return tool_usage(&verify_command);
	}
	for (int i = optind; i < argc && !out_stdout.err; i++)
		status = tool_worse(status, verify_log(argv[i]));
	return status;
}

const struct tool_command verify_command = {
	.name = "verify",
	.usage = "[OPTION]... LOG...",
	.about =
		"Verifies each LOG (- is standard input): every checksum and length, the counts "
		"of every block against its events, and that the loss ledger accounts for every "
		"event, in total, by type and by thread:\n"
		"\n"
		"  called = reported + unread + lost\n"
		"\n"
		"Each fault is printed on standard error as LOG:OFFSET: REASON.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed, 4 see "
		"--fail-on-loss.",
	.operands = OPTION_LOG,
	.run = verify_run,
};
