/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_filter.c - selects records by three levels of filters, as the targets of RKH do.
 *
 * The names of objects, signals and events become known only while the stream is read. So rules are
 * kept as text and compared with each record.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "convert/rkh/rkh.h"

enum rule_kind { ALL, GROUP, GROUP_EVENTS, EVENT, OBJECT, SIGNAL };

struct rule {
	enum rule_kind kind;
	bool pass;
	bool any;      /* for OBJECT and SIGNAL: the name is * */
	char *group;   /* used by GROUP and the kinds after it; "name" points into this text */
	const char *name;
	bool is_number;
	uint64_t number;
};

struct rkh_filter {
	struct rule *rule;
	size_t rules;
};

/* A filter without rules lets all records pass. */
struct rkh_filter *rkh_filter_new(void)
{
	return calloc(1, sizeof(struct rkh_filter));
}

void rkh_filter_free(struct rkh_filter *filter)
{
	for (size_t i = 0; filter && i < filter->rules; i++)
		free(filter->rule[i].group);
	if (filter)
		free(filter->rule);
	free(filter);
}

/* ------------------------------------------------------------------ rules */

/* If the name of a rule is a valid number, the rule also applies to this number. */
static void parse_name(struct rule *rule, const char *name)
{
	char *end;

	rule->name = name;
	errno = 0;
	rule->number = strtoull(name, &end, 0);
	rule->is_number = *name >= '0' && *name <= '9' && !*end && !errno;
}

/*
 * Reads the part after "pass" or "drop". If the function returns 0, the rule owns the text;
 * otherwise the caller still owns it.
 */
static int parse_rule_kind(struct rule *rule, char *text)
{
	char *name;

	rule->group = text;
	if (!strcmp(text, "all")) {
		rule->kind = ALL;
		return 0;
	}
	name = strchr(text, '=');
	if (name) {
		*name++ = '\0';
		rule->kind = strcmp(text, "ao") ? SIGNAL : OBJECT;
		rule->any = !strcmp(name, "*");
		parse_name(rule, name);
		return *name && (rule->kind == OBJECT || !strcmp(text, "sig")) ? 0 : EINVAL;
	}
	name = strchr(text, '.');
	rule->kind = GROUP;
	if (name) {
		*name++ = '\0';
		rule->kind = strcmp(name, "*") ? EVENT : GROUP_EVENTS;
		parse_name(rule, name);
	}
	return *text && (!name || *name) ? 0 : EINVAL;
}

/* Reads one rule. Its text has len bytes and need not end with a NUL. */
static int parse_rule(struct rkh_filter *filter, const char *text, size_t len)
{
	struct rule *more, *rule;
	const char *what = memchr(text, ' ', len);
	char *copy;
	int err;

	if (!what || what - text != 4 || (memcmp(text, "pass", 4) && memcmp(text, "drop", 4)))
		return EINVAL;
	if (!vec_grow(&filter->rule, filter->rules, 1))
		return ENOMEM;
	more = filter->rule;
	rule = &more[filter->rules];
	*rule = (struct rule){ .pass = *text == 'p' };
	while (what < text + len && *what == ' ')
		what++;
	copy = strndup(what, (size_t)(text + len - what));
	if (!copy)
		return ENOMEM;
	err = parse_rule_kind(rule, copy);
	if (err)
		free(copy);
	else
		filter->rules++;
	return err;
}

/*
 * A rule ends at a comma or at the end of the text. After an error the rules before the wrong one
 * remain in the filter, but the conversion ends.
 */
int rkh_filter_add(struct rkh_filter *filter, const char *rules)
{
	int err;

	do {
		size_t len;

		rules += strspn(rules, " ");
		len = strcspn(rules, ",");
		err = parse_rule(filter, rules, len);
		rules += len;
	} while (!err && *rules++);
	return err;
}

/* ------------------------------------------------------------------ records */

/* Returns whether a rule applies to this name or number. */
static bool is_named(const struct rule *rule, const char *name, uint64_t number)
{
	return (name && !strcmp(rule->name, name)) || (rule->is_number && rule->number == number);
}

/*
 * Evaluates the level of events as targets do, by a bit of the group and a bit of the event.
 * Returns whether both bits are set, so that the event passes.
 */
static bool passes_event(const struct rkh_filter *filter, const char *group, const char *name,
			 uint32_t number)
{
	bool group_bit = true, event_bit = true, first = true;

	for (size_t i = 0; i < filter->rules; i++) {
		const struct rule *rule = &filter->rule[i];

		if (rule->kind >= OBJECT)
			continue;
		if (first)
			group_bit = event_bit = !rule->pass;
		first = false;
		if (rule->kind != ALL && strcmp(rule->group, group))
			continue;
		if (rule->kind == EVENT && !is_named(rule, name, number))
			continue;
		/* A rule that drops a single event does not change the bit of the event's group. */
		if (rule->kind != EVENT || rule->pass)
			group_bit = rule->pass;
		if (rule->kind != GROUP)
			event_bit = rule->pass;
	}
	return group_bit && event_bit;
}

/* Evaluates the level of objects or signals. Returns whether the object or signal passes. */
static bool passes_named(const struct rkh_filter *filter, enum rule_kind kind, const char *name,
			 uint64_t number)
{
	bool bit = true, first = true;

	for (size_t i = 0; i < filter->rules; i++) {
		const struct rule *rule = &filter->rule[i];

		if (rule->kind != kind)
			continue;
		if (first)
			bit = !rule->pass;
		first = false;
		if (rule->any || is_named(rule, name, number))
			bit = rule->pass;
	}
	return bit;
}

/* User events are in the group USR, and only the level of events applies to them. */
bool rkh_filter_passes_user(const struct rkh_filter *filter, const char *name, uint32_t number)
{
	return passes_event(filter, rkh_groups[RKH_USER >> 5], name, number);
}

/*
 * Finds the argument with that name. In a frame with too few bytes for the record, no argument is
 * found.
 */
static bool find_argument(const struct rkh_config *config, const struct rkh_frame *frame,
			  const char *name, uint64_t *value)
{
	size_t at = 0;

	for (unsigned i = 0; i < frame->record->args && !frame->raw; i++) {
		enum rkh_kind kind = frame->record->arg[i].kind;
		unsigned size = rkh_is_present(config, kind) ? rkh_size(config, kind) : 0;

		if (kind == RKH_STR)
			return false;
		if (!strcmp(frame->record->arg[i].name, name)) {
			*value = rkh_number(frame->args + at, size);
			return true;
		}
		at += size;
	}
	return false;
}

/*
 * Returns whether the signal is the completion signal, which has the second highest number. RKH
 * lets this signal pass all filters.
 */
static bool is_completion(const struct rkh_config *config, uint64_t signal)
{
	unsigned bits = 8 * (config->sig < 8 ? config->sig : 8);

	return bits && signal == (UINT64_MAX >> (64 - bits)) - 1;
}

/* Applies the levels of objects and signals, if the record has them. */
static bool passes_arguments(const struct rkh_filter *filter, const struct rkh_config *config,
			     const struct rkh_names *names, const struct rkh_frame *frame)
{
	unsigned levels = frame->record->levels;
	uint64_t value;

	if (levels & RKH_BY_OBJECT && find_argument(config, frame, "ao", &value) &&
	    !passes_named(filter, OBJECT, rkh_names_find(names, RKH_ADDRESSES, (uint32_t)value),
			  value))
		return false;
	return !(levels & RKH_BY_SIGNAL) || !find_argument(config, frame, "sig", &value) ||
	       is_completion(config, value) ||
	       passes_named(filter, SIGNAL, rkh_names_find(names, RKH_SIGNALS, (uint32_t)value),
			    value);
}

/* A record to which the level of events does not apply always passes the filter. */
bool rkh_filter_passes(const struct rkh_filter *filter, const struct rkh_decoder *decoder,
		       const struct rkh_names *names, const struct rkh_frame *frame)
{
	/* RKH 2 has one number for group and event. RKH 3 has the group in the upper three bits. */
	bool flat = decoder->dialect == RKH_DIALECT_2;

	if (frame->is_config)
		return true;
	if (!flat && frame->id >= RKH_USER && frame->id < RKH_USER_END)
		return rkh_filter_passes_user(
			filter, rkh_names_find(names, RKH_EVENTS, frame->id - RKH_USER),
			frame->id - RKH_USER);
	if (!frame->record)
		return passes_event(filter, flat ? "" : rkh_groups[frame->id >> 5], NULL,
				    flat ? frame->id : frame->id & 31);
	if (!(frame->record->levels & RKH_BY_EVENT))
		return true;
	return passes_event(filter, frame->record->group, frame->record->name,
			    flat ? frame->id : frame->id & 31) &&
	       passes_arguments(filter, &decoder->config, names, frame);
}
