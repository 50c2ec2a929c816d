/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_classes.c - chooses the ETW class and type for each event type of an exported log.
 *
 * Two types whose names are a pair, such as x_begin and x_end, become START and END of one class,
 * so that readers of ETW show spans. Each other type of the program has a separate class. The
 * events of the stream itself share one class. The GUID of a class is computed from the name of the
 * type or, for a pair, from the common beginning of the two names (etw_guid5.c).
 */
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_export.h"

static const struct {
	const char *begin, *end;
} pairs[] = {
	{ "_start", "_stop" },  { "_start", "_end" },   { "_begin", "_end" },
	{ "_enter", "_exit" },  { "_enter", "_leave" }, { "_entry", "_exit" },
};

/* Sorts by name, which may have any bytes. */
static int by_name(const void *a, const void *b)
{
	const struct fmt_type *x = *(const struct fmt_type *const *)a;
	const struct fmt_type *y = *(const struct fmt_type *const *)b;
	size_t len = x->name_len < y->name_len ? x->name_len : y->name_len;
	int order = memcmp(x->name, y->name, len);

	return order ? order : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

struct names {
	const struct fmt_type **type; /* sorted */
	size_t count;
};

/*
 * Returns whether a type named "stem" + "ending" exists. Names are at most ETW_CLASS_NAME_MAX long.
 */
static bool is_there(const struct names *names, const char *stem, size_t len, const char *ending)
{
	char name[ETW_CLASS_NAME_MAX + 8];
	struct fmt_type wanted = { .name = name, .name_len = len + strlen(ending) };
	const struct fmt_type *key = &wanted;

	memcpy(name, stem, len);
	memcpy(name + len, ending, strlen(ending));
	return names->count &&
	       bsearch(&key, names->type, names->count, sizeof(*names->type), by_name);
}

/*
 * Finds the partner of a type by the pairs of endings in the table. The first pair with an existing
 * partner is used.
 */
static void find_pair(const struct names *names, const struct fmt_type *type, size_t *stem,
		      struct etw_class *class)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		for (int end = 0; end < 2; end++) {
			const char *own = end ? pairs[i].end : pairs[i].begin;
			const char *other = end ? pairs[i].begin : pairs[i].end;
			size_t len = strlen(own);

			if (type->name_len <= len || type->name_len > ETW_CLASS_NAME_MAX ||
			    memcmp(type->name + type->name_len - len, own, len) != 0)
				continue;
			len = type->name_len - len;
			if (!is_there(names, type->name, len, other))
				continue;
			*stem = len;
			class->type = end ? 2 : 1;
			return;
		}
	}
}

/*
 * Sets the class of an event of the stream itself, and the type of ETW that is most similar to it.
 */
static void system_class(unsigned id, struct etw_class *class)
{
	static const struct {
		unsigned char type, level;
	} types[] = {
		[POSIX_TRACE_ERROR] = { 11, 2 },       [POSIX_TRACE_START] = { 3, 4 },
		[POSIX_TRACE_STOP] = { 4, 4 },         [POSIX_TRACE_FILTER] = { 10, 4 },
		[POSIX_TRACE_OVERFLOW] = { 8, 3 },     [POSIX_TRACE_RESUME] = { 7, 4 },
		[POSIX_TRACE_FLUSH_START] = { 1, 4 },  [POSIX_TRACE_FLUSH_STOP] = { 2, 4 },
	};

	if (id < sizeof(types) / sizeof(types[0]) && types[id].type) {
		class->type = types[id].type;
		class->level = types[id].level;
	}
	etw_guid_of_name(ETW_CLASS_STREAM, strlen(ETW_CLASS_STREAM), class->guid);
}

/*
 * Fills the class of one type. A type without an id gets an id above the ids of the predefined
 * types.
 */
static void find_class(const struct names *names, const struct fmt_type *type,
		       struct etw_class *class)
{
	static const char unnamed[] = "posixtrace-unnamed";
	size_t stem = type->name_len;

	*class = (struct etw_class){ .id = type->id, .level = 4 };
	if (!type->id)
		class->id = POSIX_TRACE_UNNAMED_USER_EVENT + 1 + (uint32_t)type->index;
	if (type->level > 0 && type->level <= 5)
		class->level = (unsigned)type->level;
	if (type->id && type->id < POSIX_TRACE_UNNAMED_USER_EVENT) {
		class->level = 4;
		system_class(type->id, class);
	} else if (type->id == POSIX_TRACE_UNNAMED_USER_EVENT) {
		etw_guid_of_name(unnamed, sizeof(unnamed) - 1, class->guid);
	} else {
		find_pair(names, type, &stem, class);
		etw_guid_of_name(type->name, stem, class->guid);
	}
}

/*
 * Returns the classes of all types by index, or NULL if memory is lacking; the caller frees them.
 * The function sorts the names once, so that the search for the partners of n types takes n log n
 * steps.
 */
struct etw_class *etw_classes(const struct fmt_flow *flow)
{
	size_t count = fmt_types(flow);
	struct etw_class *classes = calloc(count + 1, sizeof(*classes));
	struct names names = { calloc(count + 1, sizeof(*names.type)), 0 };

	if (!classes || !names.type) {
		free(classes);
		free(names.type);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		const struct fmt_type *type = fmt_type_at(flow, i);

		/* The names of events of the stream itself are not searched for pairs. */
		if (!type->id || type->id > POSIX_TRACE_UNNAMED_USER_EVENT)
			names.type[names.count++] = type;
	}
	qsort(names.type, names.count, sizeof(*names.type), by_name);
	for (size_t i = 0; i < count; i++)
		find_class(&names, fmt_type_at(flow, i), &classes[i]);
	free(names.type);
	return classes;
}
