/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check.c - the command check: tests a log against a file of rules. */
#include <errno.h>
#include <unistd.h>
#include <string.h>

#include "base/nearest.h"
#include "base/out.h"
#include "base/say.h"
#include "base/tool.h"
#include "log/field.h"
#include "rules/judge.h"
#include "rules/verdict.h"

extern const struct tool_command check_command;

/*
 * Two exit statuses of this command have another meaning than in enum tool_exit: 1 means that a
 * rule is violated, 2 means any failure.
 */
#define CHECK_VIOLATED 1
#define CHECK_FAILED   2

/* The form of the verdict. If several options select a form, the last one is used. */
enum check_form { CHECK_TEXT, CHECK_TAP, CHECK_JUNIT };

struct check {
	struct rules rules;
	struct judge judge;
	struct wanted wanted;
	struct logfile log;
	enum check_form form;
	bool utc, syntax;
	bool durations_possible; /* events of at least one type can have a duration */
};

/* Returns true if a type of the log has a field with this name. */
static bool knows_field(const struct logfile *log, const char *name)
{
	for (size_t i = 0; i < log->types; i++)
		if (field_index(log->list[i]->schema, name) >= 0)
			return true;
	return false;
}

/* Prints that no type has the field, with the most similar name. */
static void say_no_field(const struct rule *rule, const char *path, const struct logfile *log,
			 const char *name)
{
	struct nearest nearest;

	nearest_begin(&nearest, name);
	for (size_t i = 0; i < log->types; i++)
		for (unsigned f = 0; log->list[i]->schema && f < log->list[i]->schema->fields; f++)
			nearest_offer(&nearest, log->list[i]->schema->field[f].name);
	say("%s:%u: no event type of %s has a field %s%s", path, rule->line, log->path, name,
	    nearest_hint(&nearest));
}

/* Checks that the log has the names of an expression. Returns false after it printed an error. */
static bool where_fits(const struct check *check, const struct logfile *log, struct where *where)
{
	if (!where)
		return true;
	if (check->durations_possible)
		where_declare_duration(where);
	for (size_t i = 0; i < log->types; i++)
		if (log->list[i]->schema)
			where_mark_names(where, log->list[i]->schema);
	return !where_say_unknown(where);
}

/* Returns true if this event of a rule has an expression that uses durations. */
static bool uses_duration(const struct rule_event *event)
{
	return event->where && where_uses_duration(event->where);
}

/*
 * Checks the names in all rules. If no event type has a field of a name, the name is probably
 * mistyped. The function prints all errors, not only the first one.
 */
static bool rules_fit(struct check *check)
{
	/*
	 * The struct durations is used only to find out whether events of the log can have
	 * durations. No event is read here.
	 */
	const struct rules *rules = &check->rules;
	struct logfile *log = &check->log;
	struct durations durations;
	bool fit = true;

	for (size_t i = 0; i < rules->count; i++)
		check->wanted.uses_duration |= uses_duration(&rules->rule[i].first) ||
					       uses_duration(&rules->rule[i].second);
	if (!durations_begin(&durations, &check->wanted, log))
		return false;
	check->durations_possible = durations.on && durations.possible;
	durations_end(&durations);
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rule[i];

		if (!where_fits(check, log, rule->first.where) ||
		    !where_fits(check, log, rule->second.where))
			fit = false;
		for (unsigned f = 0; f < rule->fields; f++)
			if (!knows_field(log, rule->field[f])) {
				say_no_field(rule, rules->path, log, rule->field[f]);
				fit = false;
			}
	}
	return fit;
}

/*
 * Returns the exit status. If any rule is violated, the status says so, even if other rules are
 * undecided.
 */
static int status_of(const struct check *check, int status)
{
	for (size_t i = 0; i < check->rules.count; i++)
		if (check->rules.rule[i].violations)
			return CHECK_VIOLATED;
	for (size_t i = 0; i < check->rules.count; i++)
		if (check->rules.rule[i].undecided)
			status = CHECK_FAILED;
	return status ? CHECK_FAILED : TOOL_OK;
}

/*
 * The reading begins at the first event of the log, even if --begin gives a later time. The events
 * before that time show which types the filter excludes and whether the stream is stopped.
 */
static int begin_reading(struct check *check, struct reading *reading)
{
	int err = reading_begin(reading, &check->log, &check->wanted);

	return err ? err : posix_trace_rewind(check->log.trid);
}

/* Reads the log, judges it and prints the verdict. */
static int judge_log(struct check *check)
{
	struct reading reading;
	/*
	 * judge_end() is called after reading_status(), because judge_end() must know whether the
	 * log is damaged. In a damaged log open obligations are undecided.
	 */
	int err = begin_reading(check, &reading), status;

	while (!err && !check->judge.err && reading_next(&reading, &err))
		judge_event(&check->judge, &reading);
	reading_end(&reading);
	if (!err)
		err = check->judge.err;
	if (err) {
		say("%s: %s", check->log.path, strerror(err));
		return CHECK_FAILED;
	}
	status = reading_status(&reading);
	judge_end(&check->judge, status != TOOL_OK);
	if (check->judge.err) {
		say("%s: %s", check->log.path, strerror(check->judge.err));
		return CHECK_FAILED;
	}
	if (check->form == CHECK_TAP)
		verdict_tap(&out_stdout, &check->rules);
	else if (check->form == CHECK_JUNIT)
		verdict_junit(&out_stdout, &check->rules, check->log.path);
	else
		verdict_text(&out_stdout, &check->rules);
	/* Warnings are printed on standard error, after the result. */
	verdict_warn(&check->rules, &check->log);
	return status_of(check, status);
}

/*
 * With --tap or --junit, prints that no rule could be checked. Otherwise a program that reads only
 * standard output could mistake the missing result for success.
 */
static int check_fail(const struct check *check)
{
	if (check->form == CHECK_TAP)
		verdict_tap_none(&out_stdout);
	if (check->form == CHECK_JUNIT)
		verdict_junit_none(&out_stdout);
	return CHECK_FAILED;
}

/* Reads the rules and checks the log. With --syntax it only reads the rules. */
static int check_log(struct check *check, const char *rules, const char *path)
{
	int status;

	if (!rules_read(&check->rules, rules) || check->rules.errors)
		return check_fail(check);
	if (check->syntax)
		return TOOL_OK;
	if (reading_open(&check->log, path, &check->wanted))
		return check_fail(check);
	if (!rules_fit(check)) {
		status = check_fail(check);
	} else if (!judge_init(&check->judge, &check->rules, &check->log)) {
		say("%s", strerror(ENOMEM));
		status = check_fail(check);
	} else {
		status = judge_log(check);
	}
	logfile_close(&check->log);
	return status;
}

enum {
	OPT_TAP = 256,
	OPT_JUNIT,
	OPT_SYNTAX,
	OPT_UTC,
};

static const struct option_row option_rows[] = {
	{ "tap", OPT_TAP, NULL, "print the results in the Test Anything Protocol" },
	{ "junit", OPT_JUNIT, NULL, "print the results as XML like that of JUnit" },
	{ "syntax", OPT_SYNTAX, NULL, "only read RULES; no LOG" },
	{ .rows = wanted_choice_rows },
	{ "utc", OPT_UTC, NULL, "times in options are in UTC" },
	OPTION_HELP,
	OPTION_END
};

/*
 * Processes an option. Returns false if the option or its value is wrong; the error has been
 * printed.
 */
static bool parse_option(struct check *check, int option)
{
	bool good;

	if (wanted_option(&check->wanted, option, optarg, &good))
		return good;
	switch (option) {
	case OPT_TAP:
		check->form = CHECK_TAP;
		return true;
	case OPT_JUNIT:
		check->form = CHECK_JUNIT;
		return true;
	case OPT_SYNTAX:
		check->syntax = true;
		return true;
	case OPT_UTC:
		check->utc = true;
		return true;
	}
	return false; /* tool_option() has printed the error */
}

/*
 * Parses the options and checks the log. Each failure before the log is read has the status of
 * usage errors.
 */
static int check_rules(struct check *check, int argc, char **argv)
{
	int option;

	while ((option = tool_option(argc, argv, &check_command)) != -1) {
		if (option == 'h')
			return tool_help(&check_command);
		if (!parse_option(check, option))
			return tool_usage(&check_command);
	}
	if (!wanted_ready(&check->wanted, check->utc))
		return tool_usage(&check_command);
	if (argc - optind != (check->syntax ? 1 : 2)) {
		say("check: %s", check->syntax ? "the name of the rules is missing" :
						 "give the names of the rules and of one log");
		return tool_usage(&check_command);
	}
	/* Standard input can be read only once. */
	if (!check->syntax && !strcmp(argv[optind], "-") && !strcmp(argv[optind + 1], "-")) {
		say("check: rules and log cannot both be standard input");
		return tool_usage(&check_command);
	}
	if (logfile_is_log(argv[optind])) {
		say("check: %s: this is a log; the rules come first: posixtrace check RULES LOG",
		    argv[optind]);
		check_fail(check);
		return tool_usage(&check_command);
	}
	return check_log(check, argv[optind], argv[optind + 1]);
}

/* Runs the command and frees all memory in any case. */
static int check_run(int argc, char **argv)
{
	static struct check check;
	int status;

	wanted_init(&check.wanted);
	status = check_rules(&check, argc, argv);
	judge_fini(&check.judge);
	rules_fini(&check.rules);
	wanted_fini(&check.wanted);
	return status;
}

const struct tool_command check_command = {
	.name = "check",
	.usage = "[OPTION]... RULES LOG\n"
		"--syntax RULES",
	.about =
		"Checks LOG (- is standard input) against the rules of the file RULES, one rule "
		"a line:\n"
		"\n"
		"    every req_begin is followed by req_end of the same id within 5ms\n"
		"    never io.* where \"error != 0\"\n"
		"    never lock A then B\n"
		"    count worker_start <= 4\n"
		"    rate log.line <= 100 per 1s\n"
		"\n"
		"posixtrace-check(1) has the language. A name with a colon may precede a rule.",
	.options = option_rows,
	.notes =
		WANTED_TIME_NOTE
		"Exit status: 0 ok, all rules are kept; 1 a rule is violated; 2 RULES or the "
		"command line is wrong, LOG cannot be read or is damaged, or a rule could not "
		"be decided because events were lost.",
	.operands = OPTION_LOG,
	.run = check_run,
};
