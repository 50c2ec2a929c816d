/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fetch_types.c - decides which events of a log are fetched, and writes this choice as conditions
 * in SQL.
 *
 * Some events are needed although the options exclude them:
 *
 *	start, filter      from the begin of the log: they say which types the stream recorded
 *	others of the system, in the range: they show where events were lost
 *	call stacks        from the begin of the log: later events refer to them by number
 *	files, sockets     in the range, if the log has closes: without a close, the name of a
 *	                   descriptor would be wrong
 *	begins and ends of spans, if the command pairs them: their other half may be excluded
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "fetch/fetch_part.h"
#include "log/descriptors.h"
#include "log/stacks.h"

#define TYPES_BYTES ((size_t)1 << 26)

bool fetch_list_types(const struct fetch_log *log, struct fetch_types *types)
{
	struct bytes sql = { .at = NULL };
	struct fetch_row row = { .at = 0 };

	bytes_str(&sql, "SELECT toInt64(ifNull(type, 0)), ifNull(name, ''), ifNull(schema, ''), "
		  "ifNull(span, '')");
	fetch_from("types_rows", &sql);
	bytes_printf(&sql, " AND row_source = %" PRIu64 " ORDER BY row_seq", log->source);
	if (!fetch_request(&sql, TYPES_BYTES))
		return false;
	while (fetch_has_row(&row)) {
		struct fetch_type *type;
		size_t len;

		if (!vec_grow(&types->type, types->count, 1)) {
			say("%s", strerror(ENOMEM));
			return false;
		}
		type = &types->type[types->count++];
		type->id = fetch_u64(&row);
		fetch_string(&row, type->name, sizeof(type->name));
		type->schema = fetch_copy(&row);
		fetch_text(&row, &len);
		type->pairs = len != 0;
		row.failed |= type->id > FETCH_TYPES_MOST || types->count > FETCH_TYPES_MOST;
	}
	return !row.failed || fetch_say_wrong("types");
}

void fetch_free_types(struct fetch_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		free(types->type[i].schema);
	free(types->type);
	memset(types, 0, sizeof(*types));
}

/* ------------------------------------------------------------------ conditions */

static bool is_system(const struct fetch_type *type)
{
	return type->id <= POSIX_TRACE_FLUSH_STOP;
}

/* Events of these types before the range are needed, too. */
static bool is_early(const struct fetch_type *type)
{
	return type->id == POSIX_TRACE_START || type->id == POSIX_TRACE_FILTER ||
	       !strcmp(type->name, STACKS_EVENT);
}

/*
 * Descriptors get names only if the log has events of closes. Without these events, closed
 * descriptors would keep their names.
 */
static bool has_closes(const struct fetch_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		if (!strcmp(types->type[i].name, "io.close"))
			return true;
	return false;
}

/*
 * Returns whether the command needs all events of the type in the range, independent of their
 * processes and threads.
 */
static bool is_support(const struct fetch_types *types, const struct fetch_type *type)
{
	return is_system(type) || is_early(type) ||
	       (descriptors_use(type->name) && has_closes(types)) ||
	       (fetch.at->pairs && type->pairs);
}

/*
 * Appends the text "before", a list of type ids such as 1, 2, 3, and the text "after". If no type
 * is chosen, it appends nothing and returns false.
 */
static bool put_types(const struct fetch_types *types, const char *before, const char *after,
		      bool (*chooses)(const struct fetch_types *types,
				      const struct fetch_type *type),
		      struct bytes *sql)
{
	bool any = false;

	for (size_t i = 0; i < types->count; i++)
		if (chooses(types, &types->type[i])) {
			bytes_printf(sql, "%s%" PRIu64, any ? ", " : before, types->type[i].id);
			any = true;
		}
	bytes_str(sql, any ? after : "");
	return any;
}

static bool chooses_early(const struct fetch_types *types, const struct fetch_type *type)
{
	(void)types;
	return is_early(type);
}

/*
 * Returns whether the conditions exclude the type. They do not exclude types that the summary does
 * not list.
 */
static bool is_excluded(const struct fetch_types *types, const struct fetch_type *type)
{
	/*
	 * The option --pair may name any type, and the summary knows only the spans of schemas. So
	 * with --pair no type is excluded.
	 */
	return !is_support(types, type) && !fetch.at->wanted->pairs &&
	       !choose_type(&fetch.at->wanted->choose, type->name);
}

/*
 * Appends the condition that the number in a column is in a list of the options, or that the
 * command needs all events of the type. If events are paired, their other half may have another
 * process or thread, so no condition is appended. Returns whether a condition was appended.
 */
static bool put_numbers(const struct fetch_types *types, const char *column,
			const struct choose_numbers *numbers, struct bytes *sql)
{
	if (!numbers->count || fetch.at->pairs)
		return false;
	bytes_printf(sql, " AND (%s IN (", column);
	for (size_t i = 0; i < numbers->count; i++)
		bytes_printf(sql, "%s%d", i ? ", " : "", (int)numbers->number[i]);
	bytes_str(sql, ")");
	put_types(types, " OR row_type IN (", ")", is_support, sql);
	bytes_str(sql, ")");
	return true;
}

void fetch_conditions(const struct fetch_log *log, const struct fetch_types *types,
		      struct fetch_part part[2], bool *is_all)
{
	const struct choose *choose = &fetch.at->wanted->choose;
	struct bytes *early = &part[0].where, *in_range = &part[1].where;
	bool has_begin = log->begin_ns != INT64_MIN, has_end = log->end_ns != INT64_MAX;
	bool is_some = has_begin || has_end;

	if (has_begin && put_types(types, " AND row_type IN (", ")", chooses_early, early))
		bytes_printf(early, " AND row_time < toInt64('%" PRId64 "')", log->begin_ns);
	if (has_begin)
		bytes_printf(in_range, " AND row_time >= toInt64('%" PRId64 "')", log->begin_ns);
	if (has_end)
		bytes_printf(in_range, " AND row_time <= toInt64('%" PRId64 "')", log->end_ns);
	is_some |= put_types(types, " AND row_type NOT IN (", ")", is_excluded, in_range);
	is_some |= put_numbers(types, "row_pid", &choose->pid, in_range);
	is_some |= put_numbers(types, "row_tid", &choose->tid, in_range);
	*is_all = !is_some;
}
