/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict.c - prints the results of the rules as text, TAP and JUnit's XML. */
#include "rules/verdict.h"

#include <string.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "log/logfile.h"

/*
 * Returns true if the log has no event type, or lock, that matches the first pattern of the rule.
 */
static bool is_about_nothing(const struct rule *rule)
{
	return !rule->first.exists;
}

/*
 * Returns true if the rule was not tested because the log lacks its first event type. A rule
 * "count" is always tested, since the number 0 is a result, too.
 */
static bool is_skipped(const struct rule *rule)
{
	return is_about_nothing(rule) && rule->kind != RULE_COUNT && !rule->violations &&
	       !rule->undecided;
}

/* Returns the reason why a rule was not tested. */
static const char *missing_text(const struct rule *rule)
{
	return rule->kind == RULE_ORDER ? "the log has no such lock" :
	       "the log has no such event type";
}

/*
 * Offers the names of all objects of the log to the search for a similar name. A name is valid only
 * until the next object is read, so the most similar name is copied.
 */
static void offer_locks(struct nearest *nearest, const struct logfile *log)
{
	static char best[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1];
	struct posix_trace_object_np object;
	int unavailable = 0;

	/* A log without objects has no names to offer. */
	if (!log->has_objects)
		return;
	posix_trace_object_rewind_np(log->trid);
	while (!posix_trace_object_getnext_np(log->trid, &object, &unavailable) && !unavailable) {
		nearest_offer(nearest, object.name);
		if (nearest->name != object.name)
			continue;
		memcpy(best, object.name, sizeof(best));
		nearest->name = best;
	}
}

/*
 * Warns if nothing in the log matches the pattern of an event or lock, or if all matching types
 * lack a field of the rule.
 */
static void warn_unmatched(const struct rules *rules, const struct rule *rule,
			   const struct rule_event *event, const struct logfile *log)
{
	struct nearest nearest;

	if (event->exists && rule->fields && !event->has_fields)
		say_warning("%s:%u: %s: no event type of this name has the fields of the rule",
			    rules->path, rule->line, event->pattern);
	if (event->exists)
		return;
	nearest_begin(&nearest, event->pattern);
	if (rule->kind == RULE_ORDER)
		offer_locks(&nearest, log);
	for (size_t i = 0; rule->kind != RULE_ORDER && i < log->types; i++)
		nearest_offer(&nearest, log->list[i]->name);
	say_warning("%s:%u: %s: %s%s", rules->path, rule->line, event->pattern,
		    missing_text(rule), nearest_hint(&nearest));
}

/* The second pattern is used only by rules "every" and rules about the order of locks. */
void verdict_warn(const struct rules *rules, const struct logfile *log)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rule[i];

		warn_unmatched(rules, rule, &rule->first, log);
		if (rule->kind == RULE_EVERY || rule->kind == RULE_ORDER)
			warn_unmatched(rules, rule, &rule->second, log);
	}
}

/* Returns the name of a rule, or its text if it has no name. */
static const char *name_of(const struct rule *rule)
{
	return rule->name ? rule->name : rule->text;
}

/* Returns the text of a violation, or "" if memory was lacking for the text. */
static const char *verdict_reason(const struct rule *rule, uint64_t i)
{
	return rule->reason[i] ? rule->reason[i] : "";
}

/* Returns the number of violations that have a text. */
static uint64_t reason_count(const struct rule *rule)
{
	return rule->violations < RULES_REASONS ? rule->violations : RULES_REASONS;
}

/* Returns the result of a rule in one word. */
static const char *result_word(const struct rule *rule)
{
	return rule->violations ? "violated" : rule->undecided ? "undecided" :
	       is_skipped(rule) ? "skipped" : "ok";
}

/* Writes the numbers of a result: events, violations, undecided cases and losses. */
static void put_numbers(struct out *out, const struct rule *rule)
{
	out_printf(out, "%llu event%s, %llu violation%s", (unsigned long long)rule->cases,
		   text_plural(rule->cases), (unsigned long long)rule->violations,
		   text_plural(rule->violations));
	/* If a rule "count" is violated in spite of losses, the losses leave nothing undecided. */
	if (rule->undecided && !(rule->kind == RULE_COUNT && rule->violations))
		out_printf(out, ", %llu undecided", (unsigned long long)rule->undecided);
	if (rule->lost)
		out_printf(out, "; %llu event%s of its types %s lost",
			   (unsigned long long)rule->lost, text_plural(rule->lost),
			   rule->lost == 1 ? "was" : "were");
	if (is_about_nothing(rule))
		out_printf(out, "; %s", missing_text(rule));
}

/* Prints a line for each rule, and below it the rule's first violations. */
void verdict_text(struct out *out, const struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rule[i];

		text_safe(out, rules->path, strlen(rules->path));
		out_printf(out, ":%u: %s: ", rule->line, result_word(rule));
		text_safe(out, name_of(rule), strlen(name_of(rule)));
		out_str(out, " (");
		put_numbers(out, rule);
		out_str(out, ")\n");
		for (uint64_t j = 0; j < reason_count(rule); j++) {
			out_str(out, "    ");
			text_safe(out, verdict_reason(rule, j), strlen(verdict_reason(rule, j)));
			out_char(out, '\n');
		}
		if (rule->violations > RULES_REASONS)
			out_printf(out, "    and %llu more\n",
				   (unsigned long long)(rule->violations - RULES_REASONS));
	}
}

/* Writes a description for TAP, in which # begins a directive. */
static void tap_text(struct out *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '#' || *text == '\\')
			out_char(out, '\\');
		text_safe(out, text, 1);
	}
}

/* An undecided rule is "not ok", because a test must not pass only because events were lost. */
void verdict_tap(struct out *out, const struct rules *rules)
{
	out_printf(out, "TAP version 13\n1..%zu\n", rules->count);
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rule[i];

		out_printf(out, "%s %zu - ", rule->violations || rule->undecided ? "not ok" : "ok",
			   i + 1);
		tap_text(out, name_of(rule));
		if (is_skipped(rule))
			out_printf(out, " # SKIP %s", missing_text(rule));
		out_str(out, "\n  ---\n  message: \"");
		put_numbers(out, rule);
		out_str(out, "\"\n  severity: ");
		/*
		 * TAP has no word for an undecided result, so the most similar word "todo" is used.
		 */
		out_str(out, rule->violations ? "fail" : rule->undecided ? "todo" : "comment");
		out_printf(out, "\n  at: { file: ");
		json_quoted(out, rules->path, strlen(rules->path));
		out_printf(out, ", line: %u }\n", rule->line);
		if (rule->violations)
			out_str(out, "  violations:\n");
		for (uint64_t j = 0; j < reason_count(rule); j++) {
			out_str(out, "    - ");
			json_quoted(out, verdict_reason(rule, j), strlen(verdict_reason(rule, j)));
			out_char(out, '\n');
		}
		out_str(out, "  ...\n");
	}
}

/*
 * Writes a text for XML. Control characters and bytes above ASCII are written as \xNN. XML cannot
 * contain control characters, not even as character references, and the bytes of a log need not be
 * UTF-8.
 */
static void put_xml(struct out *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '&')
			out_str(out, "&amp;");
		else if (c == '<')
			out_str(out, "&lt;");
		else if (c == '>')
			out_str(out, "&gt;");
		else if (c == '"')
			out_str(out, "&quot;");
		else if (c < 0x20 || c >= 0x7f)
			out_printf(out, "\\x%02x", c);
		else
			out_char(out, (char)c);
	}
}

/*
 * JUnit distinguishes failures and errors. A violated rule is a failure, and an undecided rule is
 * an error.
 */
void verdict_junit(struct out *out, const struct rules *rules, const char *log)
{
	size_t failures = 0, errors = 0, skipped = 0;

	for (size_t i = 0; i < rules->count; i++) {
		failures += rules->rule[i].violations != 0;
		errors += !rules->rule[i].violations && rules->rule[i].undecided;
		skipped += is_skipped(&rules->rule[i]);
	}
	out_str(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"");
	put_xml(out, log);
	out_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		   rules->count, failures, errors, skipped);
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rule[i];
		/*
		 * JUnit allows only one result for each test. If a rule has both violations and
		 * undecided cases, the result is a failure, because the violations are certain.
		 */
		const char *element = rule->violations ? "failure" : "error";

		out_str(out, "<testcase classname=\"");
		put_xml(out, rules->path);
		out_str(out, "\" name=\"");
		put_xml(out, name_of(rule));
		if (is_skipped(rule)) {
			out_printf(out, "\"><skipped message=\"%s\"/></testcase>\n",
				   missing_text(rule));
			continue;
		}
		if (!rule->violations && !rule->undecided) {
			out_str(out, "\"/>\n");
			continue;
		}
		out_printf(out, "\"><%s message=\"", element);
		put_numbers(out, rule);
		out_str(out, "\">");
		for (uint64_t j = 0; j < reason_count(rule); j++) {
			put_xml(out, verdict_reason(rule, j));
			out_char(out, '\n');
		}
		out_printf(out, "</%s></testcase>\n", element);
	}
	out_str(out, "</testsuite>\n</testsuites>\n");
}

/* "Bail out!" ends a TAP stream whose tests could not run. */
void verdict_tap_none(struct out *out)
{
	out_str(out, "TAP version 13\nBail out! The rules could not be checked\n");
}

/*
 * JUnit's form has no element that says that the tests could not run, so the function writes a
 * single test with an error.
 */
void verdict_junit_none(struct out *out)
{
	out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		     "<testsuite name=\"posixtrace check\" tests=\"1\" errors=\"1\">\n"
		     "<testcase name=\"rules\"><error message=\"The rules could not be "
		     "checked\"/></testcase>\n"
		     "</testsuite>\n</testsuites>\n");
}
