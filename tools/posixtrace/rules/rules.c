/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rules.c - parses a file of rules. The lengths of its lines, and the numbers in them, are limited.
 */
#include "rules/rules.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/say.h"
#include "base/vec.h"
#include "rules/parser.h"

/* ------------------------------------------------------------------ parts of rules */

/*
 * Parses a pattern and an optional expression. Error messages about the expression begin with its
 * place in the file.
 */
static void parse_event(struct parser *parser, struct rule_event *event)
{
	char place[512];

	if (parser->failed)
		return;
	if (!parser_is_name(parser)) {
		parser_fail(parser, "an event type");
		return;
	}
	event->pattern = parser_copy(parser);
	parser_next(parser);
	if (!parser_skip(parser, "where") || parser->failed)
		return;
	if (!parser->quoted) {
		parser_fail(parser, "an expression in quotes");
		return;
	}
	/*
	 * Columns are counted from 1, and the word begins with the quote. So the column of the
	 * expression is the offset of the word + 2.
	 */
	snprintf(place, sizeof(place), "%s:%u", parser->rules->path, parser->number);
	/* A path that is too long for place loses its end. It is used only in messages. */
	event->where = where_parse_at(place, (size_t)(parser->word - parser->line) + 2,
				      parser->word + 1, parser->text);
	if (!event->where) {
		parser->failed = true;
		parser->rules->errors++;
	}
	parser_next(parser);
}

/* Parses the name or address of a lock. */
static void parse_lock(struct parser *parser, struct rule_event *lock)
{
	if (parser->failed)
		return;
	if (!parser_is_name(parser)) {
		parser_fail(parser, "the name or address of a lock");
		return;
	}
	lock->pattern = parser_copy(parser);
	parser_next(parser);
}

/* Parses a number without sign. Returns 0 after an error. */
static uint64_t parse_number(struct parser *parser, const char *what)
{
	char *end;
	uint64_t number;

	/*
	 * strtoull(3) also accepts blanks and signs, so the first character is tested. strtoull()
	 * sets errno if the number is too large.
	 */
	errno = 0;
	number = strtoull(parser->text, &end, 10);
	if (parser->quoted || !isdigit((unsigned char)*parser->text) || *end || errno) {
		parser_fail(parser, what);
		return 0;
	}
	parser_next(parser);
	return number;
}

/* Parses "5ms" or "5 ms", optionally with a fraction. Returns nanoseconds, or 0 after an error. */
static uint64_t parse_span(struct parser *parser)
{
	char *end;
	double number = strtod(parser->text, &end);

	if (parser->failed)
		return 0;
	if (parser->quoted || !isdigit((unsigned char)*parser->text)) {
		parser_fail(parser, "a span of time, such as 5ms");
		return 0;
	}
	/* The unit may be the next word. */
	if (!*end) {
		parser_next(parser);
		end = parser->text;
	}
	/* A double is exact enough for the short spans in rules. */
	number *= (double)quantity_unit_ns(end);
	if (number >= 1 && number <= 9e18) {
		parser_next(parser);
		return (uint64_t)number;
	}
	parser_fail(parser, "ns, us, ms, s, m, h or d, and a span from 1 ns to 292 years");
	return 0;
}

/* Parses a relation. A rule "rate" may only have an upper limit. */
static void parse_relation(struct parser *parser, struct rule *rule)
{
	static const char *const names[] = { [RULE_LESS] = "<", [RULE_AT_MOST] = "<=",
		[RULE_EQUAL] = "==", [RULE_AT_LEAST] = ">=", [RULE_MORE] = ">" };
	bool is_rate = rule->kind == RULE_RATE;

	/*
	 * names has the order of enum rule_relation, in which RULE_LESS and RULE_AT_MOST are first.
	 */
	for (int i = RULE_LESS; i <= (is_rate ? RULE_AT_MOST : RULE_MORE); i++)
		if (parser_skip(parser, names[i])) {
			rule->relation = i;
			return;
		}
	parser_fail(parser, is_rate ? "< or <=" : "<, <=, ==, >= or >");
}

/* ------------------------------------------------------------------ rules */

/* Parses the rule after "every". */
static void parse_every(struct parser *parser, struct rule *rule)
{
	rule->kind = RULE_EVERY;
	parse_event(parser, &rule->first);
	parser_expect(parser, "is");
	parser_expect(parser, "followed");
	parser_expect(parser, "by");
	parse_event(parser, &rule->second);
	if (!parser->failed && parser_skip(parser, "of")) {
		parser_expect(parser, "the");
		parser_expect(parser, "same");
		do {
			if (parser->failed)
				return;
			if (rule->fields == POSIX_TRACE_KEYS_MAX_NP) {
				parser_fail(parser, "four fields at most");
				return;
			}
			if (!isalpha((unsigned char)*parser->text) && *parser->text != '_') {
				parser_fail(parser, "a field");
				return;
			}
			/*
			 * "thread" is not stored as a field, because a rule without fields uses the
			 * thread as the key.
			 */
			if (!parser_is(parser, "thread"))
				rule->field[rule->fields++] = parser_copy(parser);
			parser_next(parser);
		} while (parser_skip(parser, ","));
	}
	if (!parser->failed && parser_skip(parser, "within"))
		rule->within_ns = parse_span(parser);
}

/* Parses the rule after "never": an event, or the order of two locks. */
static void parse_never(struct parser *parser, struct rule *rule)
{
	const char *word = parser->word;

	rule->kind = RULE_NEVER;
	if (!parser_is(parser, "lock")) {
		parse_event(parser, &rule->first);
		return;
	}
	parser_next(parser);
	/*
	 * In "never lock" without further words, or with "where", lock is the name of an event
	 * type.
	 */
	if (!parser->len || parser_is(parser, "where")) {
		parser->at = word;
		parser_next(parser);
		parse_event(parser, &rule->first);
		return;
	}
	rule->kind = RULE_ORDER;
	parse_lock(parser, &rule->first);
	parser_expect(parser, "then");
	parse_lock(parser, &rule->second);
}

/* Parses the rule after "count" or "rate". A rate "< N" becomes "<= N - 1". */
static void parse_number_of(struct parser *parser, struct rule *rule, enum rule_kind kind)
{
	rule->kind = kind;
	parse_event(parser, &rule->first);
	if (parser->failed)
		return;
	parse_relation(parser, rule);
	if (!parser->failed)
		rule->number = parse_number(parser, "a number");
	if (kind != RULE_RATE || parser->failed)
		return;
	if (rule->relation == RULE_LESS && rule->number) {
		rule->relation = RULE_AT_MOST;
		rule->number--;
	}
	parser_expect(parser, "per");
	rule->within_ns = parse_span(parser);
	/*
	 * A rule "rate" keeps number + 1 times, so the number is limited. A rule "< 0" can never be
	 * satisfied and is refused.
	 */
	if (rule->number > RULES_WINDOW || (rule->relation == RULE_LESS && !parser->failed)) {
		parser->word = strpbrk(parser->line, "<");
		parser->len = 1;
		parser_fail(parser, "at most 65536 and not less than 0");
	}
}

/* Parses a line: an optional name with a colon, then the rule. */
static void parse_rule(struct parser *parser, struct rule *rule)
{
	const char *colon;

	/*
	 * A colon at the end of a word is not a part of the word. If the first word is followed by
	 * a colon, it is the name of the rule.
	 */
	parser_next(parser);
	colon = parser->at;
	if (parser->len && colon && *colon == ':') {
		rule->name = parser_copy(parser);
		parser->at++;
		parser_next(parser);
	}
	/* If the rule has no name, the results show this text. */
	rule->text = strdup(parser->word);
	if (!rule->text || parser->no_memory) {
		parser->failed = parser->no_memory = true;
		return;
	}
	if (parser_skip(parser, "every"))
		parse_every(parser, rule);
	else if (parser_skip(parser, "never"))
		parse_never(parser, rule);
	else if (parser_skip(parser, "count"))
		parse_number_of(parser, rule, RULE_COUNT);
	else if (parser_skip(parser, "rate"))
		parse_number_of(parser, rule, RULE_RATE);
	else
		parser_fail(parser, "every, never, count or rate");
	/*
	 * Words behind the rule are an error. They are not ignored, because the user meant
	 * something by them.
	 */
	if (!parser->failed && parser->len)
		parser_fail(parser, "the end of the line");
	for (char *end = rule->text + strlen(rule->text);
	     end > rule->text && isspace((unsigned char)end[-1]);)
		*--end = '\0';
}

/* ------------------------------------------------------------------ the file */

/* Frees a pattern and its expression; both may be NULL. */
static void free_event(struct rule_event *event)
{
	free(event->pattern);
	where_free(event->where);
}

/*
 * Frees all memory that the rule owns. If only a part of the rule was parsed, the pointers to the
 * other parts are NULL.
 */
static void free_rule(struct rule *rule)
{
	free(rule->text);
	free(rule->name);
	free_event(&rule->first);
	free_event(&rule->second);
	for (unsigned i = 0; i < rule->fields; i++)
		free(rule->field[i]);
	for (int i = 0; i < RULES_REASONS; i++)
		free(rule->reason[i]);
	free(rule->window);
}

/* Reads one line. An empty line or a comment makes no rule. Returns false if memory is lacking. */
static bool read_line(struct parser *parser)
{
	struct rules *rules = parser->rules;
	struct rule *rule;

	/* An error in an earlier line does not affect this line. */
	parser->at = parser->line;
	parser->failed = false;
	parser_next(parser);
	if (!parser->len)
		return true;
	parser->at = parser->line;
	/* The number of rules is limited, because each event type has a list of rules. */
	if (rules->count == RULES_MAX) {
		parser_fail(parser, "a thousand rules at most");
		return true;
	}
	if (!vec_grow(&rules->rule, rules->count, 1))
		return false;
	/* rules->count includes the rule now, so rules_fini() frees it after an error, too. */
	rule = &rules->rule[rules->count++];
	memset(rule, 0, sizeof(*rule));
	rule->line = parser->number;
	parse_rule(parser, rule);
	return !parser->no_memory;
}

/* Parsing continues after a wrong rule, so that all errors are printed in one run. */
bool rules_read(struct rules *rules, const char *path)
{
	static char line[RULES_LINE];
	static struct parser parser;
	FILE *file = !strcmp(path, "-") ? stdin : fopen(path, "re");
	bool good = file != NULL;

	memset(rules, 0, sizeof(*rules));
	memset(&parser, 0, sizeof(parser));
	rules->path = file == stdin ? "standard input" : path;
	parser.rules = rules;
	parser.line = line;
	if (!file) {
		say("%s: %s", path, strerror(errno));
		return false;
	}
	while (good && fgets(line, sizeof(line), file)) {
		size_t len = strlen(line);

		parser.number++;
		if (len + 1 == sizeof(line) && line[len - 1] != '\n') {
			parser.word = line;
			parser.len = 8;
			parser.failed = false;
			parser_fail(&parser, "a line of 4094 bytes at most");
			break;
		}
		/*
		 * If the line contains a NUL byte, the rest of the line would be ignored. The
		 * reading ends here and not at the next line, because a file that consists of NULs
		 * may be huge.
		 */
		if ((!len || line[len - 1] != '\n') && !feof(file)) {
			parser.word = line;
			parser.len = len;
			parser.failed = false;
			parser_fail(&parser, "no NUL byte");
			break;
		}
		if (len && line[len - 1] == '\n')
			line[--len] = '\0';
		/* lines of files from some other systems end with \r\n */
		if (len && line[len - 1] == '\r')
			line[len - 1] = '\0';
		good = read_line(&parser);
		if (!good)
			say("%s", strerror(ENOMEM));
	}
	/*
	 * If the file could not be read to its end, the result is false, because further rules may
	 * be missing.
	 */
	if (ferror(file)) {
		say("%s: %s", path, strerror(errno));
		good = false;
	}
	if (file != stdin)
		fclose(file);
	return good;
}

/* A line of another file is no longer than a line of a file of rules, so the buffer is enough. */
bool rules_add(struct rules *rules, const char *path, unsigned number, const char *text)
{
	static char line[RULES_LINE];
	static struct parser parser;
	size_t before = rules->count;

	memset(&parser, 0, sizeof(parser));
	snprintf(line, sizeof(line), "%s", text);
	rules->path = path;
	parser.rules = rules;
	parser.line = line;
	parser.number = number;
	if (!read_line(&parser)) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	/* No rule was added, because the text is empty or a comment. */
	if (rules->count == before)
		parser_fail(&parser, "every, never, count or rate");
	return !parser.failed;
}

/* Frees all rules, also after an error of rules_read(). */
void rules_fini(struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		free_rule(&rules->rule[i]);
	free(rules->rule);
}
