/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* by_name.c - the table of endings, and the search for the partner of a name. */
#include "spans/by_name.h"

#include <string.h>

#include "log/field.h"
#include "spans/pairing.h"

/*
 * The endings, with case, in order of preference. If a log has X_start, X_stop and X_end, X_start
 * is paired with X_stop.
 */
static const struct {
	const char *begin, *end;
} endings[] = {
	{ "_start", "_stop" }, { "_start", "_end" }, { "_begin", "_end" },
	{ "_enter", "_exit" }, { "_enter", "_leave" }, { "_entry", "_exit" },
};

#define ENDINGS (sizeof(endings) / sizeof(endings[0]))
#define NAME_MAX_BYTES 256 /* a longer name, which only a foreign log can have, gets no partner */

/*
 * Returns the length of the part of the name before this ending. Returns 0 if the name does not
 * have this ending, or if it consists only of the ending.
 */
static size_t stem_of(const char *name, size_t len, const char *ending)
{
	size_t end = strlen(ending);

	return len > end && !memcmp(name + len - end, ending, end) ? len - end : 0;
}

/*
 * Builds the name of the partner: the name with the ending 'other' in place of the ending 'mine'.
 * Returns the partner's length, or 0 if the name does not have the ending 'mine' or if the
 * partner's name is too long.
 */
static size_t partner_of(const char *name, size_t len, const char *mine, const char *other,
			 char partner[NAME_MAX_BYTES])
{
	size_t stem = stem_of(name, len, mine), end = strlen(other);

	if (!stem || stem + end > NAME_MAX_BYTES)
		return 0;
	memcpy(partner, name, stem);
	memcpy(partner + stem, other, end);
	return stem + end;
}

enum posix_trace_role_np by_name(const char *name, size_t len, by_name_find *find, void *arg,
				 size_t *stem)
{
	char partner[NAME_MAX_BYTES];

	for (size_t i = 0; i < ENDINGS; i++) {
		size_t n = partner_of(name, len, endings[i].begin, endings[i].end, partner);

		if (n && find(arg, partner, n)) {
			*stem = stem_of(name, len, endings[i].begin);
			return POSIX_TRACE_BEGIN_NP;
		}
		n = partner_of(name, len, endings[i].end, endings[i].begin, partner);
		if (n && find(arg, partner, n)) {
			*stem = stem_of(name, len, endings[i].end);
			return POSIX_TRACE_END_NP;
		}
	}
	return POSIX_TRACE_POINT_NP;
}

void by_name_partners(const char *name, size_t len,
		      void (*visit)(void *arg, const char *name, size_t len), void *arg)
{
	char partner[NAME_MAX_BYTES];

	for (size_t i = 0; i < ENDINGS; i++) {
		size_t n = partner_of(name, len, endings[i].begin, endings[i].end, partner);

		if (n)
			visit(arg, partner, n);
		n = partner_of(name, len, endings[i].end, endings[i].begin, partner);
		if (n)
			visit(arg, partner, n);
	}
}

/*
 * Returns true if the type belongs to a class of ETW. The events of such a type are either decoded
 * or unchanged records. The type is recognized by its fields in both cases.
 */
static bool is_of_class(const struct posix_trace_schema_np *schema)
{
	return field_index(schema, "etw_type") >= 0 ||
	       (field_index(schema, "header_type") >= 0 && field_index(schema, "type") >= 0);
}

bool by_name_applies(trace_event_id_t id, const struct posix_trace_schema_np *schema)
{
	/* System events concern the stream and not a thread. */
	if (id && id <= POSIX_TRACE_UNNAMED_USER_EVENT)
		return false;
	return !schema || (schema->role == POSIX_TRACE_POINT_NP &&
			   pairing_time_field(schema) < 0 && !is_of_class(schema));
}
