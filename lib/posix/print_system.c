/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix/print_system.c - the data of system events as text. */
#include "posix/print_system.h"

#include <string.h>

#include "base/libc.h"
#include "record/eventset.h"

/* How many types with a name the stream has, and how many of them are members of the set. */
struct counted {
	unsigned types, members;
};

static struct counted count_members(trace_id_t trid, const trace_event_set_t *set)
{
	struct counted counted = { 0 };
	char name[PTX_TYPE_NAME_BYTES];

	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		if (!posix_trace_eventid_get_name(trid, type, name)) {
			counted.types++;
			counted.members += ptx_eventset_has(set, type);
		}
	return counted;
}

/*
 * Appends the names of the types that are members of the set or, if are_members is false, the names
 * of all other types. count_members() has walked over the types before. A type that gets its name
 * after that walk is missing in the counts but appears in the names. This affects only the text.
 */
static void put_names(struct ptx_text *text, trace_id_t trid, const trace_event_set_t *set,
		      bool are_members)
{
	const char *separator = "{";
	char name[PTX_TYPE_NAME_BYTES];

	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		if (ptx_eventset_has(set, type) != are_members ||
		    posix_trace_eventid_get_name(trid, type, name))
			continue;
		ptx_text_string(text, separator);
		ptx_text_escaped(text, (const unsigned char *)name, strlen(name), "\\");
		separator = ", ";
	}
	ptx_text_string(text, "}");
}

/*
 * Appends the names of the members. A set may have hundreds of members. So if most types are
 * members, the function appends "all but" and the names of the other types.
 */
static void put_set(struct ptx_text *text, trace_id_t trid, const trace_event_set_t *set)
{
	const struct counted counted = count_members(trid, set);

	if (!counted.members) {
		ptx_text_string(text, "none");
	} else if (counted.members == counted.types) {
		ptx_text_string(text, "all");
	} else if (counted.members <= counted.types / 2) {
		put_names(text, trid, set, true);
	} else {
		ptx_text_string(text, "all but ");
		put_names(text, trid, set, false);
	}
}

/*
 * Copies the sets from `data`, which may have any alignment. Returns false if `len` is not the
 * length of this number of sets, or if a set lacks its magic word.
 */
static bool load_sets(trace_event_set_t *set, size_t sets, const void *data, size_t len)
{
	if (len != sets * sizeof(*set))
		return false;
	memcpy(set, data, len);
	for (size_t i = 0; i < sets; i++)
		if (!ptx_eventset_is_valid(&set[i]))
			return false;
	return true;
}

static bool load_number(int *number, const void *data, size_t len)
{
	if (len != sizeof(*number))
		return false;
	memcpy(number, data, len);
	return true;
}

/* Appends the number of an error and its text, which does not depend on the locale. */
static void put_error(struct ptx_text *text, int number)
{
	const char *description = ptx_libc_error_text(number);

	ptx_text_format(text, " error=%d", number);
	if (description)
		ptx_text_format(text, " (%s)", description);
}

bool ptx_print_system(struct ptx_text *text, trace_id_t trid, trace_event_id_t type,
		      const void *data, size_t len)
{
	trace_event_set_t set[2];
	int number;

	switch (type) {
	case POSIX_TRACE_ERROR:
		if (!load_number(&number, data, len))
			return false;
		put_error(text, number);
		return true;
	case POSIX_TRACE_STOP:
		if (!load_number(&number, data, len))
			return false;
		/* A number other than 0 means that the stream stopped itself. */
		ptx_text_string(text, number ? " by=full" : " by=call");
		return true;
	case POSIX_TRACE_START:
		if (!load_sets(set, 1, data, len))
			return false;
		ptx_text_string(text, " filter=");
		put_set(text, trid, &set[0]);
		return true;
	case POSIX_TRACE_FILTER:
		if (!load_sets(set, 2, data, len))
			return false;
		ptx_text_string(text, " old=");
		put_set(text, trid, &set[0]);
		ptx_text_string(text, " new=");
		put_set(text, trid, &set[1]);
		return true;
	default:
		return false;
	}
}
