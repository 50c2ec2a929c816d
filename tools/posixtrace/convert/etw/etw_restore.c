/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_restore.c - restores the log from which an export was made.
 *
 * The records of the registry, before and behind the events, have the attributes and types of that
 * log. By default, the payload of each event begins with a prefix: the type, the truncation status,
 * the thread and the address of the event. In an export made with --etw-plain, the payload is only
 * the data, and the class and type of the record identify the event type. An export may be forged,
 * so its content is checked like any other input. Functions that return bool return false if the
 * conversion must end, except take_text(), make_room() and find_class().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "convert/etw/etw_restore.h"
#include "convert/etw/etw_write.h"
#include "convert/octets.h"

#define STREAM_BYTES 64 /* bytes before the names in the record of the stream */
#define DATA_MAX (UINT64_C(1) << 30)

/* The class and type of the records of an event type. */
struct class_row {
	unsigned char guid[ETW_GUID_BYTES];
	uint32_t type;
	uint32_t id;            /* id of the event type in the export */
};

struct restore {
	struct fmt_flow *flow;
	const struct etw_file *file;
	unsigned char registry[ETW_GUID_BYTES];
	bool begun;
	struct fmt_end end;
	bool lost_reported;

	const struct fmt_type **type; /* indexed by the type's id in the export */
	size_t types;
	struct class_row *row;  /* sorted if is_sorted */
	size_t rows;
	bool is_sorted;
	char *schema;           /* the schema of the next type */
	uint32_t schema_id;

	bool has_event;         /* extension records may follow it */
	struct fmt_event event;
	uint32_t id;
	bool is_plain;
	unsigned char *data;
	size_t data_len, data_room;
};

/* Reports a damaged record of the export. The other records are still read. */
static void report_damage(struct restore *re, const struct etw_record *r, const char *what)
{
	fmt_fault(re->flow, FMT_DAMAGED, r->at, NULL, "a record of the export is not whole: %s",
		  what);
}

/*
 * Copies a text up to its NUL. A text that does not fit into "room" bytes is shortened. Returns
 * false if the text has no NUL.
 */
static bool take_text(const unsigned char **p, const unsigned char *end, char *to, size_t room)
{
	const unsigned char *nul = memchr(*p, 0, (size_t)(end - *p));
	size_t len;

	if (!nul)
		return false;
	len = (size_t)(nul - *p);
	if (len >= room)
		len = room - 1;
	memcpy(to, *p, len);
	to[len] = '\0';
	*p = nul + 1;
	return true;
}

/*
 * Sets the attributes. The functions of the library refuse invalid values. Returns 0 or the error
 * number of the function that refused.
 */
static int set_attr(struct fmt_facts *facts, const unsigned char *p)
{
	int err = posix_trace_attr_init(&facts->attr);

	if (!err)
		err = posix_trace_attr_setname(&facts->attr, facts->name);
	if (!err)
		err = posix_trace_attr_setinherited(&facts->attr, (int)octets_u32(p + 24));
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&facts->attr, (int)octets_u32(p + 28));
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(&facts->attr, (int)octets_u32(p + 32));
	if (!err)
		err = posix_trace_attr_setstreamsize(&facts->attr, (size_t)octets_u64(p + 40));
	if (!err)
		err = posix_trace_attr_setmaxdatasize(&facts->attr, (size_t)octets_u64(p + 48));
	if (!err)
		err = posix_trace_attr_setlogsize(&facts->attr, (size_t)octets_u64(p + 56));
	return err;
}

/* Reads the first record, which describes the stream, and calls fmt_begin(). */
static bool restore_stream(struct restore *re, const struct etw_record *r)
{
	const unsigned char *p = r->bytes + r->header, *end = r->bytes + r->size, *text;
	struct fmt_facts facts = { .resolution_ns = 1 };

	re->begun = true;
	if (end - p < STREAM_BYTES || octets_u32(p) != 1) {
		report_damage(re, r, "the stream");
		return fmt_begin(re->flow, &facts);
	}
	text = p + STREAM_BYTES;
	if (!take_text(&text, end, facts.name, sizeof(facts.name)) ||
	    !take_text(&text, end, facts.generation, sizeof(facts.generation)))
		report_damage(re, r, "the names of the stream");
	else if (take_text(&text, end, facts.host, sizeof(facts.host)) &&
		 take_text(&text, end, facts.clock, sizeof(facts.clock)) && end - text >= 8)
		facts.clock_hz = octets_u64(text);
	facts.pid = octets_u32(p + 4);
	facts.creation_ns = (int64_t)(octets_u64(p + 8) * 1000000000 + octets_u32(p + 16));
	facts.has_creation = facts.creation_ns != 0;
	facts.resolution_ns = octets_u32(p + 20);
	facts.data_max = octets_u64(p + 48);
	/*
	 * The export of a trace without attributes has 0 for each policy; the field at 28 is one of
	 * the policies.
	 */
	facts.has_attr = octets_u32(p + 28) && !set_attr(&facts, p);
	facts.has_span = re->file->events > 0;
	facts.first_ns = re->file->first_ns;
	facts.last_ns = re->file->last_ns;
	return fmt_begin(re->flow, &facts);
}

/*
 * Makes room in the array of types for a type with this id. A hostile id could demand any size, so
 * the function refuses great ids. Returns false if the id is refused or memory is lacking.
 */
static bool make_room(struct restore *re, uint32_t id)
{
	return id < 1u << 20 && vec_reach(&re->type, &re->types, id);
}

/*
 * Keeps the class and type that the records of an event type have, for find_class(). If memory is
 * lacking, find_class() does not find this event type.
 */
static void keep_class(struct restore *re, const unsigned char *p)
{
	struct class_row *row;

	if (!vec_grow(&re->row, re->rows, 1))
		return;
	row = &re->row[re->rows++];
	row->id = octets_u32(p);
	memcpy(row->guid, p + 4, sizeof(row->guid));
	row->type = octets_u32(p + 20);
	re->is_sorted = false;
}

/* Compares two rows for qsort(): first the classes, then the types, then the ids. */
static int by_class(const void *a, const void *b)
{
	const struct class_row *x = a, *y = b;
	int order = memcmp(x->guid, y->guid, sizeof(x->guid));

	if (!order)
		order = (x->type > y->type) - (x->type < y->type);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

/*
 * Finds the event type with the least id that has the class and type of a plain record. Returns
 * false if there is none.
 */
static bool find_class(struct restore *re, const struct etw_record *r, uint32_t *id)
{
	size_t from = 0, to = re->rows;
	struct class_row wanted = { .type = r->type };

	memcpy(wanted.guid, r->guid, sizeof(wanted.guid));
	if (!re->is_sorted && re->rows)
		qsort(re->row, re->rows, sizeof(*re->row), by_class);
	re->is_sorted = true;
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (by_class(&re->row[middle], &wanted) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == re->rows || re->row[from].type != wanted.type ||
	    memcmp(re->row[from].guid, wanted.guid, sizeof(wanted.guid)) != 0)
		return false;
	*id = re->row[from].id;
	return true;
}

/*
 * Registers the type that the record describes. The schema of this type is in the record before it.
 */
static void name_type(struct restore *re, const struct etw_record *r)
{
	const unsigned char *p = r->bytes + r->header, *end = r->bytes + r->size;
	char name[ETW_CLASS_NAME_MAX + 1];
	struct fmt_type type = { .name = name, .level = -1 };
	uint32_t id;

	if (end - p < 25) {
		report_damage(re, r, "an event type");
		return;
	}
	id = octets_u32(p);
	keep_class(re, p);
	p += 24;
	if (!take_text(&p, end, name, sizeof(name)) || !make_room(re, id)) {
		report_damage(re, r, "an event type");
		return;
	}
	if (id < 1024)
		type.id = id;
	if (re->schema && re->schema_id == id)
		type.schema = re->schema;
	re->type[id] = fmt_type(re->flow, &type);
}

/* Keeps a schema for the next type. */
static void keep_schema(struct restore *re, const struct etw_record *r)
{
	const unsigned char *p = r->bytes + r->header + 4, *end = r->bytes + r->size;

	if (!re->schema)
		re->schema = malloc(ETW_CLASS_NAME_MAX + 1);
	if (!re->schema || r->size - r->header < 5 ||
	    !take_text(&p, end, re->schema, ETW_CLASS_NAME_MAX + 1)) {
		report_damage(re, r, "a schema");
		return;
	}
	re->schema_id = octets_u32(r->bytes + r->header);
}

/*
 * Passes a count of lost events. The total in the header contains this count, too. So the function
 * sets lost_reported, and finish_restore() does not pass the total again.
 */
static bool put_lost(struct restore *re, int cause, uint64_t count)
{
	struct fmt_lost lost = { .cause = cause, .counted = true, .count = count };

	re->lost_reported = true;
	return fmt_lost(re->flow, &lost);
}

/* Reads a record of losses: the cause and the count. */
static bool take_lost(struct restore *re, const struct etw_record *r)
{
	const unsigned char *p = r->bytes + r->header;

	if (r->size - r->header < 12 || octets_u32(p) >= POSIX_TRACE_LOST_CAUSES_NP) {
		report_damage(re, r, "lost events");
		return true;
	}
	return put_lost(re, (int)octets_u32(p), octets_u64(p + 4));
}

/* Stores the status without a change, because it is the status of the original log. */
static void take_status(struct restore *re, const struct etw_record *r)
{
	const unsigned char *p = r->bytes + r->header;
	struct posix_trace_status_info *status = &re->end.status;

	if (r->size - r->header < 28) {
		report_damage(re, r, "the status");
		return;
	}
	re->end.has_status = true;
	status->posix_stream_status = (int)octets_u32(p);
	status->posix_stream_full_status = (int)octets_u32(p + 4);
	status->posix_stream_overrun_status = (int)octets_u32(p + 8);
	status->posix_log_full_status = (int)octets_u32(p + 12);
	status->posix_log_overrun_status = (int)octets_u32(p + 16);
	status->posix_stream_flush_status = (int)octets_u32(p + 20);
	status->posix_stream_flush_error = (int)octets_u32(p + 24);
}

/*
 * Appends data to the current event. An event may have any number of extension records, so the
 * function limits the length of the data.
 */
static bool append_data(struct restore *re, const unsigned char *data, size_t len)
{
	if (len >= DATA_MAX / 2 - re->data_len ||
	    !vec_reserve(&re->data, &re->data_room, re->data_len, len)) {
		fmt_fault(re->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
		return false;
	}
	if (len)
		memcpy(re->data + re->data_len, data, len);
	re->data_len += len;
	return true;
}

/* Passes the current event when the next record shows that it is complete. */
static bool put_event(struct restore *re)
{
	if (!re->has_event)
		return true;
	re->has_event = false;
	re->event.data = re->data;
	re->event.data_len = re->data_len;
	return fmt_event(re->flow, &re->event);
}

/*
 * Returns the system's number of a thread, or 0 if the record does not have it. In this case
 * etw_export.c has used the handle of the thread or a number from 0x80000000 on.
 */
static uint32_t system_tid(uint32_t tid, uint64_t thread)
{
	return tid >= 0x80000000 || tid == thread ? 0 : tid;
}

/* Begins an event, unless its type is unknown. The prefix of a plain event is empty. */
static bool begin_event(struct restore *re, const struct etw_record *r, uint32_t id, bool is_plain)
{
	const unsigned char *p = r->bytes + r->header;
	size_t prefix = is_plain ? 0 : ETW_PREFIX_BYTES;

	if (!put_event(re))
		return false;
	if (id >= re->types || !re->type[id]) {
		report_damage(re, r, "an event of no type");
		return true;
	}
	re->has_event = true;
	re->id = id;
	re->is_plain = is_plain;
	re->event = (struct fmt_event){
		.type = re->type[id],
		.time_ns = etw_time_ns(&re->file->log, r->stamp),
		.pid = r->pid,
		.cpu = -1,
	};
	if (is_plain) {
		re->event.thread = r->tid;
		re->event.tid = system_tid(r->tid, 0);
	} else {
		re->event.truncation = (int)octets_u32(p + 4);
		re->event.thread = octets_u64(p + 8);
		re->event.address = octets_u64(p + 16);
		re->event.tid = system_tid(r->tid, re->event.thread);
	}
	re->data_len = 0;
	return append_data(re, p + prefix, r->size - r->header - prefix);
}

/*
 * Reads an event, or an extension record, which has more data of the event before it. A plain
 * record has no prefix. In any other record, the prefix has the id of the event type.
 */
static bool take_event(struct restore *re, const struct etw_record *r)
{
	const unsigned char *p = r->bytes + r->header;
	size_t len = r->size - r->header;
	bool is_plain = r->kind == ETW_FULL && !r->version;
	uint32_t id = UINT32_MAX;

	if (is_plain && r->type == 5 && re->has_event && re->is_plain)
		return append_data(re, p, len);
	if (is_plain) {
		find_class(re, r, &id);
		return begin_event(re, r, id, true);
	}
	if (r->kind != ETW_FULL || r->version != 1 || len < ETW_PREFIX_BYTES) {
		report_damage(re, r, "an event");
		return true;
	}
	id = octets_u32(p);
	if (r->type == 5 && re->has_event && !re->is_plain && id == re->id)
		return append_data(re, p + ETW_PREFIX_BYTES, len - ETW_PREFIX_BYTES);
	return begin_event(re, r, id, false);
}

/* Calls the function for the record's class and type. */
static bool restore_record(struct restore *re, const struct etw_record *r)
{
	if (!re->begun)
		return restore_stream(re, r);
	if (memcmp(r->guid, re->registry, sizeof(re->registry)) != 0)
		return take_event(re, r);
	if (!put_event(re))
		return false;
	switch (r->type) {
	case ETW_REGISTRY_TYPE:
		name_type(re, r);
		break;
	case ETW_REGISTRY_SCHEMA:
		keep_schema(re, r);
		break;
	case ETW_REGISTRY_STATUS:
		take_status(re, r);
		break;
	case ETW_REGISTRY_LOST:
		return take_lost(re, r);
	}
	return true;
}

/*
 * Passes the last event and the end. If the registry has no losses by cause, the function also
 * passes the total of losses that the header has.
 */
static bool finish_restore(struct restore *re)
{
	if (!put_event(re))
		return false;
	if (!re->lost_reported && re->file->log.events_lost &&
	    !put_lost(re, POSIX_TRACE_LOST_STREAM_FULL_NP, re->file->log.events_lost))
		return false;
	re->end.complete = !fmt_is_damaged(re->flow);
	return fmt_finish(re->flow, &re->end);
}

/* Reads the records in their order. A damaged record is reported and the rest is restored. */
int etw_restore(struct fmt_flow *flow, const struct etw_file *file)
{
	struct restore re = { .flow = flow, .file = file };
	struct etw_walk *walk;
	struct etw_record record;
	bool goes_on = true;
	int more = -1;

	etw_guid_of_name(ETW_CLASS_REGISTRY, strlen(ETW_CLASS_REGISTRY), re.registry);
	if (!etw_walk_begin(file, &walk)) {
		while (goes_on && (more = etw_walk_next(walk, &record)) > 0)
			goes_on = restore_record(&re, &record);
		etw_walk_end(walk);
	}
	if (more < 0)
		fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL,
			  "the input cannot be read a second time, or memory is lacking");
	goes_on = goes_on && !more && finish_restore(&re);
	free(re.type);
	free(re.row);
	free(re.schema);
	free(re.data);
	return goes_on ? TOOL_OK : TOOL_FAILURE;
}
