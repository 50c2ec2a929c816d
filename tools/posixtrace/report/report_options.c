/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_options.c - the options of posixtrace report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "report/report.h"
#include "symbols/symbols.h"

/*
 * Processes the option -t. A tool that was built without templates accepts this option, too, so
 * that it can print how it was built.
 */
#ifdef ENABLE_TEMPLATES
static bool add_template(struct report *report, const char *path)
{
	const char **more;

	if (!vec_grow(&report->template, report->templates, 1)) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	more = report->template;
	more[report->templates++] = path;
	return true;
}
#else
static bool add_template(struct report *report, const char *path)
{
	(void)report;
	say("report -t %s: this posixtrace was built without templates "
	    "(configure --disable-templates)", path);
	return false;
}
#endif

/* Returns whether "text" is KEY=VALUE with this key. *value is valid only if the result is true. */
static bool is_key(const char *text, const char *key, const char **value)
{
	size_t len = strlen(key);

	*value = text + len + 1;
	return !strncmp(text, key, len) && text[len] == '=';
}

static bool on_or_off(const char *value, bool *on)
{
	*on = !strcmp(value, "on");
	return *on || !strcmp(value, "off");
}

/* Reads one digit from 0 to 3. The member "timestamp" of struct columns explains these values. */
static bool report_options_timestamp(const char *value, unsigned *form)
{
	*form = (unsigned)(*value - '0');
	return *value >= '0' && *value <= '3' && !value[1];
}

/*
 * Processes one of the keys that need templates. If no template is given, report_on() refuses these
 * keys later, when all options are known.
 */
static bool report_options_column(struct report *report, const char *text)
{
	struct columns *columns = &report->columns;
	const char *value;

	report->columns_given = true;
	if (is_key(text, "ids", &value))
		return on_or_off(value, &columns->ids);
	if (is_key(text, "exec", &value))
		return on_or_off(value, &columns->exec);
	if (is_key(text, "pid", &value))
		return on_or_off(value, &columns->pid);
	if (is_key(text, "tid", &value))
		return on_or_off(value, &columns->tid);
	return is_key(text, "timestamp", &value) &&
	       report_options_timestamp(value, &columns->timestamp);
}

/* Processes any key of -O. The keys "starttime" and "endtime" apply to tables as well. */
static bool report_options_keyed(struct report *report, const char *text)
{
	struct select *select = &report->select;
	const char *value;

	if (is_key(text, "starttime", &value)) {
		select->has_start = true;
		return select_seconds(value, &select->start_ns);
	}
	if (is_key(text, "endtime", &value)) {
		select->has_end = true;
		return select_seconds(value, &select->end_ns);
	}
	return report_options_column(report, text);
}

/*
 * Processes the keys of one -O. As with trcrpt of AIX, one -O may have several keys, with commas
 * between them. The function copies the list because strsep(3) stores null bytes in it.
 */
static bool parse_keys(struct report *report, const char *list)
{
	char *copy = strdup(list), *rest = copy, *text;
	bool good = copy != NULL;

	while (good && (text = strsep(&rest, ","))) {
		good = report_options_keyed(report, text);
		if (!good)
			say("-O %s: there is no such key, or it cannot have this value", text);
	}
	free(copy);
	return good;
}

enum {
	OPT_CHECK = REPORT_HELP + 1,
	OPT_LIST,
	OPT_UTC,
	OPT_RAW,
	OPT_FORCE,
};

const struct option_row report_options[] = {
	{ "template", 't', "FILE",
		"templates; may be repeated, later files add to earlier ones", OPTION_FILE,
		.excludes = "fields" },
	{ "check", OPT_CHECK, NULL, "only read the templates: exit with 0 or 2",
		.excludes = "list" },
	{ "list", OPT_LIST, NULL, "only list the templates: key and label" },
	{ .rows = wanted_rows },
	{ .rows = pick_rows },
	{ .rows = symbols_rows },
	{ .rows = merge_rows },
	{ NULL, 'd', "LIST", "only these event types: hexadecimal numbers or @names, with commas" },
	{ NULL, 'k', "LIST", "all but these event types" },
	{ NULL, 'p', "LIST", "only these processes" },
	{ NULL, 'T', "LIST", "only these threads, by posix_thread_id" },
	{ NULL, 'h', NULL, "no header" },
	{ "output", 'o', "FILE",
		"write the report to FILE; a file that exists is refused", OPTION_FILE },
	{ "force", OPT_FORCE, NULL, "overwrite a file that exists", .needs = "output" },
	{ "utc", OPT_UTC, NULL, "times in UTC" },
	{ "raw", OPT_RAW, NULL, "times in nanoseconds since 1970", .excludes = "utc" },
	{ NULL, 'O', "KEY=VALUE",
		"columns and times to show; may be repeated, or a list with commas; "
		"all but the last two need --template:\n"
		"       ids=on|off         event type numbers, on\n"
		"       exec=on|off        program names, off\n"
		"       pid=on|off         process numbers, off\n"
		"       tid=on|off         thread numbers, off\n"
		"       timestamp=N        0 elapsed s and delta ms, 1 elapsed, 2 delta in us, "
		"3 neither\n"
		"       starttime=S        from S seconds after the first event on\n"
		"       endtime=S          up to that time",
		OPTION_CHOICE, "ids= exec= pid= tid= timestamp= starttime= endtime=" },
	{ "help", REPORT_HELP, NULL, "this text" },
	OPTION_END
};

/*
 * wanted_option() processes the options that several commands share. If a value is wrong,
 * wanted_option() prints the message, and "good" is false.
 */
bool report_option(struct report *report, int option, const char *value)
{
	bool good;

	if (wanted_option(&report->wanted, option, value, &good))
		return good;
	switch (option) {
	case 't':
		return add_template(report, value);
	case PICK_FIELDS:
		return pick_parse(&report->pick, value);
	case SYMBOLS_DEBUG_DIR:
	case SYMBOLS_DEMANGLE:
	case SYMBOLS_NO_DEMANGLE:
		return symbols_option(option, value);
	case MERGE_CLOCK_ERROR:
		return merge_add_error(&report->merge, value);
	case OPT_CHECK:
		report->check = true;
		return true;
	case OPT_LIST:
		report->list = true;
		return true;
	case OPT_UTC:
		report->when = WHEN_UTC;
		return true;
	case OPT_RAW:
		report->when = WHEN_RAW;
		return true;
	case 'd':
		return select_add_types(&report->select.only, "-d", value);
	case 'k':
		return select_add_types(&report->select.but, "-k", value);
	case 'p':
		return select_add_numbers(&report->select.pids, "-p", value);
	case 'T':
		return select_add_numbers(&report->select.tids, "-T", value);
	case 'h':
		report->header = false;
		return true;
	case 'o':
		report->output = value;
		return true;
	case OPT_FORCE:
		report->force = true;
		return true;
	case 'O':
		return parse_keys(report, value);
	}
	return false; /* tool_option() has printed the reason */
}
