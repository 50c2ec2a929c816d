/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fetch_events.c - fetches the events of a log, and writes them into the temporary log.
 *
 * The events of a log are numbered in the order of the log. A slice is a range of SLICE consecutive
 * numbers. The survey asks for the number of chosen events in each slice. Then each request asks
 * for the events of a few slices, so the server sorts only these events, and the tool keeps only
 * these events in memory. A slice of large events needs several requests, each of which is limited
 * to a few events. The answers must have exactly the events that the survey has counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "fetch/fetch_part.h"
#include "query/fleet.h"

#define SLICE         16384u /* number of events in a slice */
#define REQUEST_BYTES ((uint64_t)8 << 20)
#define ROW_BYTES     64     /* bytes of an event without its data, at most */
#define LARGE_BYTES   ((uint64_t)16 << 20) /* a request for more bytes has a limit of events */
#define SURVEY_BYTES  ((size_t)1 << 28)
#define DATA_MOST     ((uint64_t)1 << 28) /* no event has more bytes of data */

/*
 * Begins a statement about the events of a part whose numbers are at least "first" and less than
 * "end". If "end" is UINT64_MAX, the statement is about all events of the part. Because of
 * PREWHERE, the server first reads only the columns with the numbers, and then the other columns
 * only for the rows that it has found.
 */
static void put_part(const struct fetch_making *making, const struct fetch_part *part,
		     const char *select, uint64_t first, uint64_t end, struct bytes *sql)
{
	bytes_printf(sql, "%s FROM events_rows PREWHERE row_source = %" PRIu64, select,
		     making->log->source);
	if (end != UINT64_MAX)
		bytes_printf(sql, " AND row_seq >= %" PRIu64 " AND row_seq < %" PRIu64, first, end);
	bytes_str(sql, " WHERE ");
	fleet_counts_sql(fetch.server.address.database, sql);
	bytes_add(sql, part->where.at ? part->where.at : "", part->where.used);
}

/* Prints that two answers of the database do not agree, and returns false. */
static bool say_changed(const struct fetch_making *making, uint64_t has, uint64_t counted)
{
	say("%s: the database has sent %" PRIu64 " of %" PRIu64 " events: try again, since its "
	    "rows may have changed meanwhile", making->log->name, has, counted);
	return false;
}

/* ------------------------------------------------------------------ the survey */

static struct fetch_type *type_of_id(struct fetch_types *types, uint64_t id)
{
	for (size_t i = 0; i < types->count; i++)
		if (types->type[i].id == id)
			return &types->type[i];
	return NULL;
}

/*
 * Asks for the types of the events, their number, which becomes *events, and the length of their
 * longest data. If the log has grown since its summary was written, events may have a type that the
 * summary does not list. Such a type is added to the types of the log.
 */
static bool survey_types(struct fetch_making *making, const struct fetch_part *part,
			 uint64_t *events)
{
	struct fetch_types *types = &making->types;
	struct bytes sql = { .at = NULL };
	struct fetch_row row = { .at = 0 };

	*events = 0;
	put_part(making, part, "SELECT row_type, row_name, toUInt64(count()), "
		 "toUInt64(max(length(row_data)))", 0, UINT64_MAX, &sql);
	bytes_str(&sql, " GROUP BY row_type, row_name ORDER BY row_type");
	if (!fetch_request(&sql, SURVEY_BYTES))
		return false;
	while (fetch_has_row(&row)) {
		uint64_t id = fetch_u32(&row), longest;
		char name[sizeof(types->type->name)];

		fetch_string(&row, name, sizeof(name));
		*events += fetch_u64(&row);
		longest = fetch_u64(&row);
		if (row.failed || id > FETCH_TYPES_MOST || longest > DATA_MOST)
			return fetch_say_wrong("types of events");
		if (longest > making->longest)
			making->longest = longest;
		if (type_of_id(types, id))
			continue;
		if (!vec_grow(&types->type, types->count, 1)) {
			say("%s", strerror(ENOMEM));
			return false;
		}
		types->type[types->count].id = id;
		strcpy(types->type[types->count++].name, name);
	}
	return !row.failed || fetch_say_wrong("types of events");
}

static bool survey_slices(struct fetch_making *making, struct fetch_part *part)
{
	struct bytes sql = { .at = NULL };
	struct fetch_row row = { .at = 0 };
	char select[160];

	snprintf(select, sizeof(select), "SELECT toUInt64(intDiv(row_seq, %u)) AS slice, "
		 "toUInt64(count()), toUInt64(sum(length(row_data)))", SLICE);
	put_part(making, part, select, 0, UINT64_MAX, &sql);
	bytes_str(&sql, " GROUP BY slice ORDER BY slice");
	if (!fetch_request(&sql, SURVEY_BYTES))
		return false;
	while (fetch_has_row(&row)) {
		struct fetch_slice slice;

		/*
		 * Each value has its own statement, because C does not define the order in which
		 * the values of an initializer are computed.
		 */
		slice.number = fetch_u64(&row);
		slice.events = fetch_u64(&row);
		slice.bytes = fetch_u64(&row);
		if (row.failed || slice.events > SLICE || slice.bytes > SLICE * DATA_MOST ||
		    slice.number > UINT64_MAX / SLICE - 1 ||
		    (part->slices && slice.number <= part->slice[part->slices - 1].number))
			return fetch_say_wrong("the number of events");
		if (!vec_grow(&part->slice, part->slices, 1)) {
			say("%s", strerror(ENOMEM));
			return false;
		}
		slice.bytes += slice.events * ROW_BYTES;
		part->slice[part->slices++] = slice;
		part->events += slice.events;
	}
	return !row.failed || fetch_say_wrong("the number of events");
}

bool fetch_survey(struct fetch_making *making, struct fetch_part *part)
{
	uint64_t events;

	if (!survey_types(making, part, &events) || !survey_slices(making, part))
		return false;
	/* The two counts differ also if an answer lacks rows. */
	return events == part->events || say_changed(making, part->events, events);
}

/* ------------------------------------------------------------------ events */

/* The columns of an event, in the order in which read_event() reads them. */
static const char columns[] =
	"SELECT row_seq, row_time, row_type, row_pid, row_tid, row_thread, row_address, row_flags, "
	"row_data";

static bool read_event(struct fetch_row *row, uint64_t *seq, struct posix_trace_event_np *event)
{
	uint64_t flags;

	memset(event, 0, sizeof(*event));
	*seq = fetch_u64(row);
	event->time_ns = (int64_t)fetch_u64(row);
	event->info.posix_event_id = (trace_event_id_t)fetch_u32(row);
	event->info.posix_pid = (pid_t)fetch_u32(row);
	event->tid = (pid_t)fetch_u32(row);
	event->info.posix_thread_id = (pthread_t)fetch_u64(row);
	event->info.posix_prog_address = (void *)(uintptr_t)fetch_u64(row);
	flags = fetch_u8(row);
	event->info.posix_truncation_status = flags & FLEET_TRUNCATED ?
		POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	event->flags = flags & FLEET_LATE ? POSIX_TRACE_EVENT_LATE_NP : 0;
	event->data = fetch_text(row, &event->data_len);
	return !row->failed;
}

/*
 * Counts an event as written, and as chosen if --limit counts it. The function never counts events
 * as chosen that the command prints only on request. If the user requests them (--system), the
 * command may get more events than it needs, but never fewer.
 */
static void count_chosen(struct fetch_making *making, const struct posix_trace_event_np *event)
{
	const struct choose *choose = &making->choose;
	const struct fetch_type *type;

	making->written++;
	if (making->enough == UINT64_MAX || event->info.posix_event_id <= POSIX_TRACE_FLUSH_STOP)
		return;
	type = type_of_id(&making->types, event->info.posix_event_id);
	making->chosen += type && !logfile_hides(type->name) && choose_type(choose, type->name) &&
			  choose_event(choose, event);
}

/* Prints why an event was not written, and returns false. */
static bool say_unwritten(const struct fetch_making *making, uint64_t seq, int err)
{
	if (err == EINVAL || err == EMSGSIZE)
		say("%s: event %" PRIu64 " of the database: its %s is not valid",
		    making->log->name, seq, err == EINVAL ? "type" : "length");
	else
		say("%s: the temporary file in TMPDIR or /tmp cannot be written: %s",
		    making->log->name,
		    strerror(err));
	return false;
}

/*
 * Writes the events of an answer. Their numbers must increase, and must be at least *first and less
 * than "end", so no event is written twice. *first becomes the number of the last event + 1.
 */
static bool write_events(struct fetch_making *making, uint64_t *first, uint64_t end,
			 uint64_t events)
{
	struct fetch_row row = { .at = 0 };
	uint64_t seq, written = 0;
	struct posix_trace_event_np event;

	while (fetch_has_row(&row)) {
		int err;

		if (!read_event(&row, &seq, &event) || seq < *first || seq >= end)
			return fetch_say_wrong("events");
		*first = seq + 1;
		written++;
		err = posix_trace_compose_event_np(making->composer, &event);
		if (err)
			return say_unwritten(making, seq, err);
		count_chosen(making, &event);
	}
	return (!row.failed && written == events) || say_changed(making, written, events);
}

/* If the command needs few events, the first requests ask for few slices. */
static uint64_t bytes_of_request(const struct fetch_making *making)
{
	return making->enough - making->chosen < REQUEST_BYTES / ROW_BYTES ?
	       (making->enough - making->chosen) * ROW_BYTES : REQUEST_BYTES;
}

/*
 * Fetches the events whose numbers are at least "first" and less than "end". "events" is the count
 * of these events, and "bytes" is the sum of their lengths. If this sum is too large for one
 * answer, each request has a limit of events, which depends on the longest event. The function ends
 * when the command has enough events.
 */
static bool fetch_range(struct fetch_making *making, const struct fetch_part *part, uint64_t first,
			uint64_t end, uint64_t events, uint64_t bytes)
{
	uint64_t event_bytes = making->longest + ROW_BYTES, most = events;

	if (bytes > LARGE_BYTES)
		most = event_bytes < LARGE_BYTES ? LARGE_BYTES / event_bytes : 1;
	while (events && making->chosen < making->enough) {
		struct bytes sql = { .at = NULL };
		uint64_t some = events < most ? events : most;

		put_part(making, part, columns, first, end, &sql);
		bytes_str(&sql, " ORDER BY row_seq");
		if (some < events) {
			bytes_printf(&sql, " LIMIT %" PRIu64, some);
			bytes = some * event_bytes;
		}
		if (!fetch_request(&sql, (size_t)(bytes + bytes / 2 + 65536)) ||
		    !write_events(making, &first, end, some))
			return false;
		events -= some;
	}
	making->is_all &= !events;
	return true;
}

bool fetch_events(struct fetch_making *making, const struct fetch_part *part)
{
	for (size_t i = 0, next; i < part->slices; i = next) {
		uint64_t bytes = 0, events = 0, first = part->slice[i].number * SLICE, end;

		if (making->chosen >= making->enough) {
			making->is_all = false;
			break;
		}
		for (next = i; next < part->slices &&
		     (next == i ||
		      bytes + part->slice[next].bytes <= bytes_of_request(making)); next++) {
			bytes += part->slice[next].bytes;
			events += part->slice[next].events;
		}
		end = (part->slice[next - 1].number + 1) * SLICE;
		if (!fetch_range(making, part, first, end, events, bytes))
			return false;
	}
	return true;
}
