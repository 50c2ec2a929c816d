/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_options.c - the options of posixtrace report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "report/report.h"
#include "symbols/symbols.h"

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

static bool timestamp(const char *value, unsigned *form)
{
	*form = (unsigned)(*value - '0');
	return *value >= '0' && *value <= '3' && !value[1];
}

static bool column(struct report *report, const char *text)
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
	return is_key(text, "timestamp", &value) && timestamp(value, &columns->timestamp);
}

static bool keyed(struct report *report, const char *text)
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
	return column(report, text);
}

static bool parse_keys(struct report *report, const char *list)
{
	char *copy = strdup(list), *rest = copy, *text;
	bool good = copy != NULL;

	while (good && (text = strsep(&rest, ","))) {
		good = keyed(report, text);
		if (!good)
			say("-O %s: no such key, or not with this value", text);
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

const struct option report_options[] = {
	{ "template", required_argument, NULL, 't' },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "utc", no_argument, NULL, OPT_UTC },
	{ "raw", no_argument, NULL, OPT_RAW },
	WANTED_OPTIONS,
	PICK_OPTION,
	SYMBOLS_OPTIONS,
	MERGE_OPTION,
	{ "help", no_argument, NULL, REPORT_HELP },
	{ NULL, 0, NULL, 0 }
};

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
	return false; /* tool_option() has said why */
}
