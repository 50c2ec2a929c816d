/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/filter_names.c - sets of event types by patterns of their names and by level.
 *
 * For each event type the list is read from left to right; the last item that matches decides. The
 * list is short, and a stream has at most 1023 types. So the functions parse the list anew for each
 * type.
 *
 * Threads  the stream's lock is held while a set is computed and while the filter changes.
 * Errors   after an error the filter is unchanged.
 */
#include <fnmatch.h>
#include <string.h>

#include <trace_np.h>

#include "drain/drain.h"
#include "posix/call.h"
#include "posix/control.h"
#include "posix/level.h"
#include "record/eventset.h"

/* An item of a list: a pattern of names, or a level and the levels above it. */
struct item {
	bool is_excluded;  /* the item begins with ! */
	int level;         /* 0: the item is a pattern */
	char pattern[PTX_TYPE_NAME_BYTES * 2];
};

/* Reads the item at *list and moves *list behind it. EINVAL: the text is no item. */
static int read_item(const char **list, struct item *item)
{
	const char *at = *list + strspn(*list, " ");
	size_t len;

	item->is_excluded = *at == '!';
	at += item->is_excluded;
	at += strspn(at, " ");
	len = strcspn(at, ",");
	*list = at + len + (at[len] == ',');
	while (len && at[len - 1] == ' ')
		len--;
	if (len == 0 || len >= sizeof(item->pattern))
		return EINVAL;
	memcpy(item->pattern, at, len);
	item->pattern[len] = '\0';
	item->level = 0;
	if (*at != '@')
		return 0;
	if (len != 2 || at[1] < '1' || at[1] > '5')
		return EINVAL;
	item->level = at[1] - '0';
	return 0;
}

/*
 * Checks the whole list. This is done before the filter changes, so that a mistake in the last item
 * leaves the filter as it was.
 */
static int check_list(const char *list)
{
	struct item item;
	int err;

	do {
		err = read_item(&list, &item);
	} while (!err && *list);
	return err;
}

/*
 * Returns whether the list selects a type. The last item that matches decides, so that an exception
 * can follow its rule. A type without a level has the level 0, which no item selects.
 */
static bool is_selected(const char *list, const char *name, int level)
{
	bool is_selected = false;
	struct item item;

	while (*list && !read_item(&list, &item))
		if (item.level ? level >= item.level : !fnmatch(item.pattern, name, 0))
			is_selected = !item.is_excluded;
	return is_selected;
}

/* Puts into `set` the event types that have a name now and that the list selects. */
static void select_types(const struct ptx_arena *arena, const char *list, trace_event_set_t *set)
{
	char name[PTX_TYPE_NAME_BYTES];

	ptx_eventset_empty(set);
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		if (ptx_names_get(arena->names, type, name) &&
		    is_selected(list, name, arena->lists ? ptx_level_of(arena->lists, type) : 0))
			ptx_eventset_add(set, type);
}

/*
 * The names are those in the arena of the traced process. The change is made and recorded as in
 * posix_trace_set_filter(); the event FILTER has the address of the call of this function.
 */
PTX_EXPORT int posix_trace_set_filter_names_np(trace_id_t trid, const char *list, int how)
{
	struct ptx_call call = ptx_call_begin();
	const void *address = (const char *)__builtin_return_address(0) - 1;
	struct ptx_stream *stream;
	trace_event_set_t set;

	if (!list || check_list(list) || !ptx_filter_is_way(how))
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	select_types(stream->drain->arena, list, &set);
	ptx_filter_set(stream, &set, how, address);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
