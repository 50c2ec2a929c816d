/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* config_keys.c - parses the keys of the sections and their values. */
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/config.h"
#include "base/endpoint.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "live/capture.h"
#include "live/budget.h"
#include "live/preload.h"
#include "rules/rules.h"

enum section { IN_AGENT = 1, IN_RECORD = 2, IN_TRIGGER = 4 };

/* A value that a function of the table keys[] must check, and the name of its key for messages. */
struct given {
	const char *key, *value;
	char where[160]; /* FILE:LINE: KEY, for functions that print the name of an option */
};

/* A row of the table of keys. store() stores a value, or prints a fault. */
struct key {
	const char *name;
	unsigned sections;
	bool repeats;
	void (*store)(struct config_place *place, const struct given *given);
};

/* Reports that memory is lacking. The whole configuration is then refused. */
static void no_memory(struct config_place *place)
{
	config_fault(place, "%s", strerror(ENOMEM));
}

/* Stores a copy of the value, because the buffer with the file is freed later. */
static void store_text(struct config_place *place, char **to, const char *value)
{
	*to = strdup(value);
	if (!*to)
		no_memory(place);
}

/* Adds a copy of the value to a list. If memory is lacking, reports the fault and returns false. */
static bool store_word(struct config_place *place, struct config_words *words, const char *value)
{
	char *copy = strdup(value);

	if (!copy || !vec_grow(&words->word, words->count, 1)) {
		free(copy);
		no_memory(place);
		return false;
	}
	words->word[words->count++] = copy;
	return true;
}

/*
 * If "good" is false, marks the configuration as wrong. A function such as quantity_span() has
 * refused the value and printed the message.
 */
static void refuse_value(struct config_place *place, bool good)
{
	place->failed |= !good;
}

/*
 * The function also stores a refused value, so that the key is not reported as missing, too. This
 * does no harm, because the agent does not use a configuration with faults.
 *
 * The path must be absolute. The agent, and a client that searches for the agent's socket, may have
 * different current folders. So a relative path could mean different folders for them.
 */
static void key_folder(struct config_place *place, const struct given *given)
{
	if (given->value[0] != '/')
		config_fault(place, "folder %s: the path must begin with /", given->value);
	store_text(place, &place->config->folder, given->value);
}

/* A very short interval would make the agent itself a load for the machine. */
static void key_interval(struct config_place *place, const struct given *given)
{
	if (!quantity_span(given->where, given->value, &place->config->interval_ns))
		place->failed = true;
	else if (place->config->interval_ns < 10000000)
		config_fault(place, "interval %s: must be at least 10ms", given->value);
}

/* "none" is stored as 0. A number 0 is refused, because quantity_bytes() does not accept it. */
static void key_quota(struct config_place *place, const struct given *given)
{
	size_t bytes = 0;

	if (strcmp(given->value, "none"))
		refuse_value(place, quantity_bytes(given->where, given->value, &bytes));
	place->config->quota = bytes;
}

/* Any other word is refused. Otherwise a mistyped word would decide which logs are lost. */
static void key_quota_full(struct config_place *place, const struct given *given)
{
	if (!strcmp(given->value, "refuse"))
		place->config->refuses = true;
	else if (strcmp(given->value, "remove-oldest"))
		config_fault(place, "quota-full %s: must be remove-oldest or refuse", given->value);
}

/* Accounts are databases of SQLite. A build without SQLite must not promise accounts. */
static void key_spool(struct config_place *place, const struct given *given)
{
#ifdef HAVE_SQLITE_QUERY
	const bool can_be = true;
#else
	const bool can_be = false;
#endif

	place->config->is_spool = !strcmp(given->value, "yes");
	if (!place->config->is_spool && strcmp(given->value, "no"))
		config_fault(place, "spool %s: must be yes or no", given->value);
	else if (place->config->is_spool && !can_be)
		config_fault(place, "spool yes: this posixtrace was built without SQLite 3.38");
}

/* "never" is stored as 0. A time of 0 is refused, because quantity_span() does not accept it. */
static void key_expire(struct config_place *place, const struct given *given)
{
	if (strcmp(given->value, "never"))
		refuse_value(place,
			     quantity_span(given->where, given->value, &place->config->expire_ns));
}

/*
 * The agent writes its metrics to this file. node_exporter reads only files whose names end with
 * .prom.
 */
static void key_textfile(struct config_place *place, const struct given *given)
{
	const size_t len = strlen(given->value);

	if (given->value[0] != '/' || len < 7 || strcmp(given->value + len - 5, ".prom"))
		config_fault(place,
			     "textfile %s: expected a path that begins with / and ends with "
			     ".prom, which the collector reads",
			     given->value);
	else
		store_text(place, &place->config->textfile, given->value);
}

/*
 * The value is ADDRESS:PORT in numbers, or only PORT, which means the loopback address. The name of
 * a host is refused, because its address may change, and the port could then be open to other
 * machines than the user expects.
 */
static void key_listen(struct config_place *place, const struct given *given)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	const char *loopback = strchr(given->value, ':') ? "" : "127.0.0.1:";
	struct endpoint_address parts;
	struct addrinfo *list = NULL;
	char text[128];

	/* The buffer is longer than every numeric address. */
	if ((size_t)snprintf(text, sizeof(text), "%s%s", loopback, given->value) >= sizeof(text) ||
	    !endpoint_split(&parts, text) ||
	    strspn(parts.port, "0123456789") != strlen(parts.port) || strlen(parts.port) > 5 ||
	    atoi(parts.port) > 65535 || getaddrinfo(parts.host, parts.port, &hints, &list)) {
		config_fault(place, "listen %s: expected ADDRESS:PORT in numbers, or PORT",
			     given->value);
		return;
	}
	freeaddrinfo(list);
	store_text(place, &place->config->listen, text);
}

/* The pattern must begin with / or *, because it is compared with the whole path of the program. */
static void key_executable(struct config_place *place, const struct given *given)
{
	if (given->value[0] != '/' && given->value[0] != '*')
		config_fault(place,
			     "executable %s: expected a pattern for the whole path, which "
			     "begins with / or *",
			     given->value);
	store_word(place, &place->record->executable, given->value);
}

/*
 * record->uid[i] is the number of the user record->user.word[i]. A user that does not exist is a
 * fault, because the name is probably mistyped.
 */
static void key_user(struct config_place *place, const struct given *given)
{
	struct config_record *record = place->record;
	const struct passwd *user = getpwnam(given->value);
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(given->value, &end, 10);
	if (!user && (errno || *end || given->value[0] < '0' || given->value[0] > '9' ||
		      number >= UINT_MAX)) {
		config_fault(place, "user %s: there is no such user", given->value);
		number = UINT_MAX;
	}
	if (!vec_grow(&record->uid, record->user.count, 1)) {
		no_memory(place);
		return;
	}
	record->uid[record->user.count] = user ? user->pw_uid : (uid_t)number;
	store_word(place, &record->user, given->value);
}

/*
 * The pattern must begin with / or *, because it is compared with the whole path of the control
 * group.
 */
static void key_cgroup(struct config_place *place, const struct given *given)
{
	if (given->value[0] != '/' && given->value[0] != '*')
		config_fault(place,
			     "cgroup %s: expected a pattern for the whole path, which begins "
			     "with / or *",
			     given->value);
	store_word(place, &place->record->cgroup, given->value);
}

/* If the name of a unit has no type, the function adds ".service", as systemctl(1) does. */
static void key_unit(struct config_place *place, const struct given *given)
{
	char name[CONFIG_LINE_MAX + 16];

	snprintf(name, sizeof(name), "%s%s", given->value,
		 strchr(given->value, '.') ? "" : ".service");
	if (strchr(given->value, '/'))
		config_fault(place, "unit %s: a unit has no / in its name; see cgroup",
			     given->value);
	store_word(place, &place->record->unit, name);
}

/*
 * Only the words yes and no are accepted, so that the library is never loaded into a process
 * because of a mistyped word.
 */
static void key_inject(struct config_place *place, const struct given *given)
{
	if (!strcmp(given->value, "yes"))
		place->record->injects = true;
	else if (strcmp(given->value, "no"))
		config_fault(place, "inject %s: must be yes or no", given->value);
}

/* The default is no, because durations need a second stream that the agent reads. */
static void key_durations(struct config_place *place, const struct given *given)
{
	if (!strcmp(given->value, "yes"))
		place->record->has_durations = true;
	else if (strcmp(given->value, "no"))
		config_fault(place, "durations %s: must be yes or no", given->value);
}

/* Unknown families are refused here, because the shim would ignore them without a message. */
static void key_trace(struct config_place *place, const struct given *given)
{
	if (!preload_families(given->where, given->value))
		place->failed = true;
	else
		store_text(place, &place->record->families, given->value);
}

/*
 * The patterns cannot be checked against the event types, because programs define their event types
 * only when they run.
 */
static void key_event(struct config_place *place, const struct given *given)
{
	store_word(place, &place->record->event, given->value);
}

/*
 * The patterns of "exclude" cannot be checked, either. An event type that matches "exclude" and
 * "event" is excluded, as in the commands attach and record.
 */
static void key_exclude(struct config_place *place, const struct given *given)
{
	store_word(place, &place->record->exclude, given->value);
}

/*
 * The stream gets at least this size. A size that is too large is not detected here: the creation
 * of the stream will fail.
 */
static void key_size(struct config_place *place, const struct given *given)
{
	refuse_value(place, quantity_bytes(given->where, given->value, &place->record->size));
}

/*
 * The budget of [agent] applies to all sections without a budget. A section with "none" has no
 * limit, even if [agent] has a budget.
 */
static void key_budget(struct config_place *place, const struct given *given)
{
	double *budget = place->record ? &place->record->budget : &place->config->budget;

	if (!strcmp(given->value, "none"))
		*budget = -1;
	else
		refuse_value(place, budget_take(budget, given->where, given->value));
}

/*
 * The levels are the same as for record --compress. "yes" means the same level as record --compress
 * without a number.
 */
static void key_compress(struct config_place *place, const struct given *given)
{
	int *level = &place->record->compression;
	bool is_yes = !strcmp(given->value, "yes");

	if (strcmp(given->value, "no"))
		refuse_value(place, capture_level(given->where, is_yes ? NULL : given->value,
						  level));
}

/* check_sections() later reports a trigger whose patterns match no section. */
static void key_record(struct config_place *place, const struct given *given)
{
	store_word(place, &place->trigger->record, given->value);
}

/* Parses the TIME of "every TIME". */
static void parse_every(struct config_place *place, const struct given *given, const char *time)
{
	struct config_trigger *trigger = place->trigger;

	trigger->when = CONFIG_EVERY;
	refuse_value(place, quantity_span(given->where, time, &trigger->span_ns));
	if (trigger->span_ns &&
	    (trigger->span_ns < CONFIG_EVERY_NS || trigger->span_ns > CONFIG_EVERY_MAX_NS))
		config_fault(place, "when %s: the time must be 1s to 36500d", given->value);
}

/*
 * Parses "span PATTERN > TIME", "errors PATTERN > NUMBER per TIME" and "every TIME". If the value
 * has another form, returns false and prints nothing. If the time or the number is wrong, prints
 * the fault and returns true.
 */
static bool parse_condition(struct config_place *place, const struct given *given)
{
	struct config_trigger *trigger = place->trigger;
	char pattern[256], limit[64], per[64], rest[2];
	unsigned long long number;

	/*
	 * The words of the value are separated by blanks, so a pattern cannot contain a blank.
	 * Names of event types rarely contain blanks, and ? in a pattern matches a blank.
	 */
	if (sscanf(given->value, "span %255s > %63s %1s", pattern, limit, rest) == 2) {
		trigger->when = CONFIG_SPAN;
	} else if (sscanf(given->value, "errors %255s > %llu per %63s %1s", pattern, &number, per,
			  rest) == 3) {
		trigger->when = CONFIG_ERRORS;
		if (number < 1 || number > CONFIG_ERRORS_MAX) {
			config_fault(place, "when %s: the number must be 1 to %d", given->value,
				     CONFIG_ERRORS_MAX);
			return true;
		}
		trigger->errors = (size_t)number;
		strcpy(limit, per);
	} else if (sscanf(given->value, "every %63s %1s", limit, rest) == 1) {
		parse_every(place, given, limit);
		return true;
	} else {
		return false;
	}
	store_text(place, &trigger->pattern, pattern);
	refuse_value(place, quantity_span(given->where, limit, &trigger->span_ns));
	return true;
}

/*
 * Returns the reason why a valid rule cannot be judged while a process runs, or NULL. Such a rule
 * has a result only at the end of a log, so its trigger would never fire.
 */
static const char *rule_fault(const struct rule *rule)
{
	if (rule->kind == RULE_COUNT)
		return "the result of \"count\" is known only at the end of a log; use \"rate\"";
	if (rule->kind == RULE_EVERY && !rule->within_ns)
		return "without \"within\" the result is known only at the end of a log";
	if (strstr(rule->text, "event.tid"))
		return "event.tid is not known while the process runs";
	return NULL;
}

/*
 * Parses "rule RULE" only to find errors. Each watch parses the rule again, because a struct rule
 * contains its results.
 */
static void parse_rule(struct config_place *place, const struct given *given)
{
	const char *text = given->value + strlen("rule ");
	struct rules rules = { .count = 0 };

	text += strspn(text, " \t");
	place->trigger->when = CONFIG_RULE;
	if (!rules_add(&rules, place->config->path, place->line, text))
		place->failed = true;
	else if (rule_fault(&rules.rule[0]))
		config_fault(place, "when %s: %s", given->value, rule_fault(&rules.rule[0]));
	else
		store_text(place, &place->trigger->rule, text);
	rules_fini(&rules);
}

/* Parses the condition of a trigger. Its text is kept because --check prints it. */
static void key_when(struct config_place *place, const struct given *given)
{
	static const char *const words[] = {
		[CONFIG_CRASH] = "crash",
		[CONFIG_FAILURE] = "failure",
		[CONFIG_END] = "end",
	};
	bool known = false;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !known; i++) {
		known = !strcmp(given->value, words[i]);
		place->trigger->when = (enum config_when)i;
	}
	/* has_when is set even if the value is wrong, so that only one message is printed. */
	place->trigger->has_when = true;
	if (!strncmp(given->value, "rule ", strlen("rule "))) {
		known = true;
		parse_rule(place, given);
	}
	if (known || parse_condition(place, given))
		store_text(place, &place->trigger->when_text, given->value);
	else
		config_fault(place,
			     "when %s: expected crash, failure, end, \"span PATTERN > TIME\", "
			     "\"errors PATTERN > NUMBER per TIME\", \"rule RULE\" or "
			     "\"every TIME\"",
			     given->value);
}

/* "none" is stored as 0: the trigger writes a log each time that it fires. */
static void key_hold_off(struct config_place *place, const struct given *given)
{
	if (!strcmp(given->value, "none"))
		place->trigger->hold_off_ns = 0;
	else
		refuse_value(place, quantity_span(given->where, given->value,
						  &place->trigger->hold_off_ns));
}

/* "all" is stored as 0. A time of 0 is refused, because quantity_span() does not accept it. */
static void key_last(struct config_place *place, const struct given *given)
{
	if (strcmp(given->value, "all"))
		refuse_value(place, quantity_span(given->where, given->value,
						  &place->trigger->last_ns));
}

/*
 * The table of all keys. The second column has the kinds of sections in which the key may be. The
 * third column is true if the key may be given several times; its values form a list.
 */
static const struct key keys[] = {
	{ "folder", IN_AGENT, false, key_folder },
	{ "interval", IN_AGENT, false, key_interval },
	{ "quota", IN_AGENT, false, key_quota },
	{ "quota-full", IN_AGENT, false, key_quota_full },
	{ "expire", IN_AGENT, false, key_expire },
	{ "spool", IN_AGENT, false, key_spool },
	{ "budget", IN_AGENT | IN_RECORD, false, key_budget },
	{ "textfile", IN_AGENT, false, key_textfile },
	{ "listen", IN_AGENT, false, key_listen },
	{ "executable", IN_RECORD, true, key_executable },
	{ "user", IN_RECORD, true, key_user },
	{ "cgroup", IN_RECORD, true, key_cgroup },
	{ "unit", IN_RECORD, true, key_unit },
	{ "inject", IN_RECORD, false, key_inject },
	{ "trace", IN_RECORD, false, key_trace },
	{ "event", IN_RECORD, true, key_event },
	{ "exclude", IN_RECORD, true, key_exclude },
	{ "durations", IN_RECORD, false, key_durations },
	{ "size", IN_RECORD, false, key_size },
	{ "compress", IN_RECORD, false, key_compress },
	{ "record", IN_TRIGGER, true, key_record },
	{ "when", IN_TRIGGER, false, key_when },
	{ "hold-off", IN_TRIGGER, false, key_hold_off },
	{ "last", IN_TRIGGER, false, key_last },
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* For each key, the line of the open section that has the key; 0: no line so far has it. */
static unsigned given_at[KEYS];

/* given_at[] may be a static variable, because only one file is read at a time. */
void config_keys_begin(void)
{
	memset(given_at, 0, sizeof(given_at));
}

/* Adds the key and its value to the text by which two versions of a section are compared. */
static void add_text(struct config_place *place, const char *key, const char *value)
{
	char *before = place->record->text;

	if (asprintf(&place->record->text, "%s%s=%s\n", before ? before : "", key, value) < 0) {
		place->record->text = NULL;
		no_memory(place);
	}
	free(before);
}

static const char *section_name(unsigned section)
{
	return section == IN_AGENT ? "agent" : section == IN_RECORD ? "record" : "trigger";
}

/*
 * Prints that the section has no such key, and the kind of section that has it, or the most similar
 * key.
 */
static void no_such_key(struct config_place *place, unsigned section, const char *name)
{
	struct nearest nearest;

	/*
	 * Only keys of this kind of section are suggested, because this section would refuse all
	 * other keys, too.
	 */
	nearest_begin(&nearest, name);
	for (size_t i = 0; i < KEYS; i++)
		if (keys[i].sections & section)
			nearest_offer(&nearest, keys[i].name);
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(keys[i].name, name)) {
			config_fault(place, "%s is a key of [%s], but this section is [%s]", name,
				     section_name(keys[i].sections), section_name(section));
			return;
		}
	config_fault(place, "%s: no such key in [%s]%s", name, section_name(section),
		     nearest_hint(&nearest));
}

/* If no section is open, because its line had a fault, the key is ignored. */
void config_key(struct config_place *place, const char *name, const char *value)
{
	const unsigned section = place->record	   ? IN_RECORD
				 : place->trigger  ? IN_TRIGGER
				 : place->in_agent ? IN_AGENT
						   : 0;
	struct given given = { .key = name, .value = value };

	if (!section)
		return;
	for (size_t i = 0; i < KEYS; i++) {
		if (!(keys[i].sections & section) || strcmp(keys[i].name, name) != 0)
			continue;
		if (!*value) {
			config_fault(place, "%s: the value is missing", name);
		} else if (given_at[i] && !keys[i].repeats) {
			config_fault(place, "%s: line %u has this key already",
				     name, given_at[i]);
		} else {
			given_at[i] = place->line;
			snprintf(given.where, sizeof(given.where), "%.100s:%u: %s",
				 place->config->path, place->line, name);
			keys[i].store(place, &given);
			if (section == IN_RECORD)
				add_text(place, name, value);
		}
		return;
	}
	no_such_key(place, section, name);
}
