/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sysdata.c - decodes the data of system events. This data may be hostile, too, so its size and its
 * sets are checked first.
 */
#include "log/sysdata.h"

#include <string.h>

#include "base/json.h"

/* Returns true if the type with this index in the log's list is in the set. */
static bool is_member(const struct logfile *log, size_t index, const trace_event_set_t *set)
{
	int ismember;

	return !posix_trace_eventset_ismember(log->list[index]->id, set, &ismember) && ismember;
}

/*
 * Returns true if the library accepts the bytes as a set. The library has no function that tests a
 * set, so this function asks the library whether the first type of the log is a member. If the
 * bytes are not a set of event types, the caller shows the data as bytes.
 */
static bool is_set(const struct logfile *log, const trace_event_set_t *set)
{
	int ismember;

	return log->types &&
	       !posix_trace_eventset_ismember(log->list[0]->id, set, &ismember);
}

/*
 * Writes the names of the types in the set if 'members' is true, and otherwise of the types that
 * are not in the set. The names in the member 'shown' are already escaped for a terminal.
 */
static void set_names(struct out *out, const struct logfile *log, const trace_event_set_t *set,
		      bool members)
{
	const char *comma = "{";

	for (size_t i = 0; i < log->types; i++) {
		if (is_member(log, i, set) != members)
			continue;
		out_str(out, comma);
		out_bytes(out, log->list[i]->shown, log->list[i]->shown_len);
		comma = ", ";
	}
	out_char(out, '}');
}

/*
 * Writes "none", "all" or the names of the set's members. If the set has more than half of the
 * types, writes "all but" and the names of the other types, because a log may have hundreds of
 * types.
 */
static void set_text(struct out *out, const struct logfile *log, const trace_event_set_t *set)
{
	/* Types that the log does not list are not considered. */
	size_t members = 0;

	for (size_t i = 0; i < log->types; i++)
		members += is_member(log, i, set);
	if (!members) {
		out_str(out, "none");
	} else if (members == log->types) {
		out_str(out, "all");
	} else if (members <= log->types / 2) {
		set_names(out, log, set, true);
	} else {
		out_str(out, "all but ");
		set_names(out, log, set, false);
	}
}

/* Writes all members of the set as JSON, so that a program need not know the log's types. */
static void set_json(struct json *json, const char *name, const struct logfile *log,
		     const trace_event_set_t *set)
{
	json_array(json, name);
	for (size_t i = 0; i < log->types; i++)
		if (is_member(log, i, set))
			json_text(json, NULL, log->list[i]->name, log->list[i]->name_len);
	json_end_array(json);
}

/* The data of a system event. As a union it has the alignment that the library needs. */
union sysdata {
	int number;
	trace_event_set_t set[2];
};

/*
 * Copies the data to an aligned union if the data has the size that its type requires and its sets
 * are valid. Returns false otherwise.
 */
static bool load_sysdata(const struct posix_trace_event_np *event, const struct logfile *log,
		 union sysdata *data)
{
	size_t need, sets = 0;

	switch (event->info.posix_event_id) {
	case POSIX_TRACE_ERROR:
	case POSIX_TRACE_STOP:
		need = sizeof(data->number);
		break;
	case POSIX_TRACE_START:
	case POSIX_TRACE_FILTER:
		sets = event->info.posix_event_id == POSIX_TRACE_START ? 1 : 2;
		need = sets * sizeof(data->set[0]);
		break;
	default:
		return false;
	}
	/* The data of an imported log may have any size. */
	if (event->data_len != need)
		return false;
	memcpy(data, event->data, need);
	for (size_t i = 0; i < sets; i++)
		if (!is_set(log, &data->set[i]))
			return false;
	return true;
}

bool sysdata_filter(const struct logfile *log, const struct posix_trace_event_np *event,
		    trace_event_set_t *old, trace_event_set_t *new)
{
	bool is_start = event->info.posix_event_id == POSIX_TRACE_START;
	union sysdata data;

	if ((!is_start && event->info.posix_event_id != POSIX_TRACE_FILTER) ||
	    !load_sysdata(event, log, &data))
		return false;
	*old = data.set[0];
	/*
	 * The data of START has only one set, which is stored in *old and in *new. In the data of
	 * FILTER, the new filter has index 1.
	 */
	*new = data.set[!is_start];
	return true;
}

bool sysdata_text(struct out *out, const struct logfile *log,
		  const struct posix_trace_event_np *event)
{
	union sysdata data;

	if (event->info.posix_event_id > POSIX_TRACE_FLUSH_STOP || !load_sysdata(event, log, &data))
		return false;
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_ERROR:
		/*
		 * The log has only the number. So the text comes from the C library of this host.
		 */
		out_printf(out, "error=%d (%s)", data.number, strerror(data.number));
		break;
	case POSIX_TRACE_STOP:
		/* A number other than 0 means that the stream stopped itself. */
		out_str(out, data.number ? "by=full" : "by=call");
		break;
	case POSIX_TRACE_START:
		out_str(out, "filter=");
		set_text(out, log, &data.set[0]);
		break;
	case POSIX_TRACE_FILTER:
		out_str(out, "old=");
		set_text(out, log, &data.set[0]);
		out_str(out, " new=");
		set_text(out, log, &data.set[1]);
		break;
	}
	return true;
}

bool sysdata_json(struct json *json, const struct logfile *log,
		  const struct posix_trace_event_np *event)
{
	union sysdata data;

	if (event->info.posix_event_id > POSIX_TRACE_FLUSH_STOP || !load_sysdata(event, log, &data))
		return false;
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_ERROR:
		json_signed(json, "error", data.number);
		json_string_member(json, "error_text", strerror(data.number));
		break;
	case POSIX_TRACE_STOP:
		json_bool(json, "automatic", data.number);
		break;
	case POSIX_TRACE_START:
		set_json(json, "filter", log, &data.set[0]);
		break;
	case POSIX_TRACE_FILTER:
		set_json(json, "old_filter", log, &data.set[0]);
		set_json(json, "new_filter", log, &data.set[1]);
		break;
	}
	return true;
}

bool sysdata_is_recorders(const struct logfile *log, const struct posix_trace_event_np *event)
{
	union sysdata data;

	/*
	 * The recorder calls the library in the shim or in another process. So an event of the
	 * traced process is from the recorder only if the shim created the stream. Events that the
	 * stream itself makes have the process id 0.
	 */
	if (!log->by_shim && event->info.posix_pid == log->info.pid)
		return false;
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_START:
	case POSIX_TRACE_FILTER:
	case POSIX_TRACE_FLUSH_START:
	case POSIX_TRACE_FLUSH_STOP:
		return true;
	case POSIX_TRACE_STOP:
		return load_sysdata(event, log, &data) && !data.number;
	}
	return false;
}
