/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dump.c - posixtrace dump: every event of a log as a line. */
#include <getopt.h>
#include <string.h>
#include <time.h>

#include "choose.h"
#include "line.h"
#include "logfile.h"
#include "losses.h"
#include "say.h"
#include "text.h"
#include "tool.h"
#include "when.h"

#define SECOND_NS  INT64_C(1000000000)
#define FAULTS_MAX 20

/*
 * An event whose writer was held up stands after younger ones. So the first event past --end does
 * not end the dump; one this much past it does, or a dump of a large log's first second would
 * read all of it.
 */
#define LATE_NS SECOND_NS

static const char help[] =
	"Usage: posixtrace dump [OPTION]... LOG...\n"
	"Prints the events of each LOG (- is standard input), a line an event: time, seconds since\n"
	"the event shown before, process, thread, program address, event type, data.\n"
	"\n"
	"  -e, --event GLOB     only event types whose name matches; may be repeated\n"
	"  -x, --exclude GLOB   no event types whose name matches; may be repeated\n"
	"      --pid N          only this process; may be repeated\n"
	"      --tid N          only this thread (its Linux number); may be repeated\n"
	"      --begin TIME     only events not before TIME; uses the log's index\n"
	"      --end TIME       only events not after TIME\n"
	"      --limit N        at most N events of each log\n"
	"      --utc            times in UTC\n"
	"      --raw            times in nanoseconds since 1970\n"
	"      --hex            all data as bytes\n"
	"      --json           a JSON object a line\n"
	"      --salvage        read on after damage; always the case\n"
	"      --fail-on-loss   exit with 4 when events were lost\n"
	"  -h, --help           this text\n"
	"\n"
	"TIME is 2025-02-03T10:15:32.123456789, or less of that from the right; local time, or UTC\n"
	"with --utc or a Z behind it, or with an offset such as +01:00; or seconds since 1970.\n"
	"A log that is damaged, was cut or was never closed is read as far as it is whole; standard\n"
	"error says what is wrong. Lost events are told there too, as WARNING lines in their place.\n"
	"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed, 4 see --fail-on-loss.\n";

struct dump {
	struct choose choose;
	struct line_form form;
	const char *begin, *end;
	uint64_t limit;
	bool fail_on_loss;
};

/* choose() of a log's types has no argument of its own. */
static struct dump dump = { .limit = UINT64_MAX };

static bool choose_log_type(const struct log_type *type)
{
	return choose_type(&dump.choose, type->name);
}

static int seek(const struct logfile *log, int64_t when_ns)
{
	struct timespec when = { .tv_sec = when_ns / SECOND_NS, .tv_nsec = when_ns % SECOND_NS };

	/* Before 1970 there is nothing to skip. */
	return when_ns <= 0 ? 0 : posix_trace_seek_np(log->trid, &when);
}

static bool is_past_end(int64_t time_ns)
{
	int64_t last_ns;

	return !__builtin_add_overflow(dump.choose.end_ns, LATE_NS, &last_ns) && time_ns > last_ns;
}

/* *total is every event of the log, or 0 when not all were looked at. */
static int events(struct logfile *log, struct losses *losses, uint64_t *total)
{
	struct posix_trace_event_np event;
	uint64_t read = 0, shown = 0;
	int err, unavailable;

	*total = 0;
	while (!(err = posix_trace_getnext_np(log->trid, &event, &unavailable)) && !unavailable) {
		const struct log_type *type;

		read++;
		if (event.time_ns > dump.choose.end_ns && is_past_end(event.time_ns))
			return 0;
		/* Also of types that are not shown: what is missing concerns every type. */
		if (event.info.posix_event_id <= POSIX_TRACE_FLUSH_STOP || event.flags)
			losses_event(losses, &event);
		type = logfile_type(log, event.info.posix_event_id);
		if (!type->chosen || !choose_event(&dump.choose, &event))
			continue;
		if (shown == dump.limit)
			return 0;
		shown++;
		line_put(&out_stdout, &dump.form, log, type, &event);
		if (out_stdout.err)
			return 0;
	}
	losses_end(losses);
	if (dump.choose.begin_ns == INT64_MIN)
		*total = read;
	return err;
}

/* Damage that reading did not run into shows in the count: the ledger knows how many there are. */
static bool looks_damaged(const struct logfile *log, const struct losses *losses,
			  const struct posix_trace_ledger_np *ledger, uint64_t total)
{
	return !log->whole || !log->info.complete || losses->skipped || ledger->lost[POSIX_TRACE_LOST_DAMAGED_NP] ||
	       (total && total != ledger->reported);
}

static int dump_open_log(struct logfile *log)
{
	struct posix_trace_ledger_np ledger;
	struct losses losses;
	uint64_t total = 0;
	int status = TOOL_OK, err = 0;

	losses_init(&losses, log->path, dump.form.when);
	if (dump.choose.begin_ns != INT64_MIN)
		err = seek(log, dump.choose.begin_ns);
	if (!err)
		err = events(log, &losses, &total);
	if (!err)
		err = posix_trace_get_ledger_np(log->trid, &ledger);
	if (!err)
		err = losses_ledger(&losses, log->trid);
	if (err) {
		say("%s: %s", log->path, strerror(err));
		return TOOL_FAILURE;
	}
	if (looks_damaged(log, &losses, &ledger, total)) {
		/* It reads the whole file, as the dump did unless it was told to stop early. */
		if (total)
			logfile_say_faults(log, FAULTS_MAX);
		status = TOOL_DAMAGED;
	}
	if (dump.fail_on_loss && losses_count(&ledger))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

static int dump_log(const char *path, bool several)
{
	struct logfile log;
	int status = logfile_open(&log, path, choose_log_type);

	if (status)
		return status;
	dump.form.any = false;
	dump.form.log = several ? log.path : NULL;
	if (several && !dump.form.json) {
		out_str(&out_stdout, "==> ");
		text_safe(&out_stdout, log.path, strlen(log.path));
		out_str(&out_stdout, " <==\n");
	}
	status = dump_open_log(&log);
	logfile_close(&log);
	return status;
}

static bool parse_time(const char *option, const char *text, int64_t *time_ns)
{
	if (!text || when_parse(text, dump.form.when == WHEN_UTC, time_ns))
		return true;
	say("%s %s: no time", option, text);
	return false;
}

static bool parse_number(const char *option, const char *text, struct choose_numbers *numbers)
{
	if (choose_add_number(numbers, text))
		return true;
	say("%s %s: no number", option, text);
	return false;
}

enum {
	OPT_PID = 256,
	OPT_TID,
	OPT_BEGIN,
	OPT_END,
	OPT_LIMIT,
	OPT_UTC,
	OPT_RAW,
	OPT_HEX,
	OPT_JSON,
	OPT_SALVAGE,
	OPT_FAIL_ON_LOSS,
};

static const struct option options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "exclude", required_argument, NULL, 'x' },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "tid", required_argument, NULL, OPT_TID },
	{ "begin", required_argument, NULL, OPT_BEGIN },
	{ "end", required_argument, NULL, OPT_END },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "utc", no_argument, NULL, OPT_UTC },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "hex", no_argument, NULL, OPT_HEX },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "salvage", no_argument, NULL, OPT_SALVAGE },
	{ "fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static bool parse_option(int option)
{
	switch (option) {
	case 'e':
		return choose_add_name(&dump.choose.include, optarg);
	case 'x':
		return choose_add_name(&dump.choose.exclude, optarg);
	case OPT_PID:
		return parse_number("--pid", optarg, &dump.choose.pid);
	case OPT_TID:
		return parse_number("--tid", optarg, &dump.choose.tid);
	case OPT_BEGIN:
		dump.begin = optarg;
		return true;
	case OPT_END:
		dump.end = optarg;
		return true;
	case OPT_LIMIT:
		return tool_number("--limit", optarg, &dump.limit);
	case OPT_UTC:
		dump.form.when = WHEN_UTC;
		return true;
	case OPT_RAW:
		dump.form.when = WHEN_RAW;
		return true;
	case OPT_HEX:
		dump.form.hex = true;
		return true;
	case OPT_JSON:
		dump.form.json = true;
		return true;
	case OPT_SALVAGE: /* what happens anyway */
		return true;
	case OPT_FAIL_ON_LOSS:
		dump.fail_on_loss = true;
		return true;
	}
	return false; /* tool_option() has said why */
}

static int run(int argc, char **argv)
{
	int option, status = TOOL_OK;

	choose_init(&dump.choose);
	while ((option = tool_option(argc, argv, ":e:x:h", options)) != -1) {
		if (option == 'h')
			return tool_help(&dump_command);
		if (!parse_option(option))
			return tool_usage(&dump_command);
	}
	if (!parse_time("--begin", dump.begin, &dump.choose.begin_ns) ||
	    !parse_time("--end", dump.end, &dump.choose.end_ns))
		return tool_usage(&dump_command);
	if (optind == argc) {
		say("dump: which log?");
		return tool_usage(&dump_command);
	}
	for (int i = optind; i < argc && !out_stdout.err; i++)
		status = tool_worse(status, dump_log(argv[i], argc - optind > 1));
	choose_fini(&dump.choose);
	return status;
}

const struct tool_command dump_command = {
	.name = "dump",
	.summary = "prints every event, as text or JSON",
	.help = help,
	.run = run,
};
