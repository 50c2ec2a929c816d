/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fields.c - adds the fields of the shipped events to the database's table "fields", and makes the
 * view "events", which has these fields as columns.
 */
#include "ship/ship.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/until.h"
#include "base/vec.h"
#include "log/integer.h"
#include "query/query_columns.h"

#define FIELDS_MOST  SQLFIELDS_MAX
#define ANSWER_BYTES (1 << 20)
#define KNOWN_NS     INT64_C(600000000000) /* how long no request is sent for known fields */

struct ship_fields {
	/* the plans of each type, an element for each field; NULL: no event has occurred */
	struct field_plan **by_id;
	size_t ids;
	struct fleet_field *field;   /* the fields that schemas have or that have occurred */
	size_t count;
	bool is_new;                 /* the database may lack some of these fields */
};

/* The fields that the database has. */
struct listed {
	struct fleet_field *field;
	size_t count;
};


void fields_free(struct ship_fields *fields)
{
	for (size_t i = 0; fields && i < fields->ids; i++)
		free(fields->by_id[i]);
	if (fields) {
		free(fields->by_id);
		free(fields->field);
	}
	free(fields);
}

/*
 * Adds a kind of a field to a list. Returns true if the kind was added. Returns false if the list
 * already has the kind, if it is full, or if memory is lacking.
 */
static bool add_kind(struct fleet_field **list, size_t *count, const char *name, unsigned kind)
{
	struct fleet_field *field = *list;
	size_t i = 0;

	while (i < *count && strcmp(field[i].name, name) != 0)
		i++;
	/* The kind NULL means that a schema has the field; no event has a value of this kind. */
	if (i == *count) {
		if (*count == FIELDS_MOST || !vec_grow(list, *count, 1))
			return false;
		field = *list;
		strncat(field[i].name, name, sizeof(field[i].name) - 1);
		++*count;
	} else if (field[i].kinds & 1u << kind) {
		return false;
	}
	field[i].kinds |= 1u << kind;
	return true;
}

/*
 * is_new is true at the beginning, so that the first shipment makes the view "events" even if no
 * event has a field.
 */
struct ship_fields *fields_new(const struct logfile *log)
{
	struct ship_fields *fields = calloc(1, sizeof(*fields));

	if (!fields)
		return NULL;
	fields->is_new = true;
	for (size_t i = 0; i < log->types; i++) {
		const struct posix_trace_schema_np *schema = log->list[i]->schema;

		for (unsigned f = 0; schema && f < schema->fields; f++)
			add_kind(&fields->field, &fields->count, schema->field[f].name,
				 SQLVALUE_NULL);
	}
	return fields;
}

/* Returns how the values of a field are made. */
static enum field_values values_of(const struct posix_trace_field_np *field)
{
	if (!integer_is(field) || field->is_array || field->offset > UINT32_MAX)
		return VALUES_ANY;
	if (sqlfield_has_names(field))
		return field->value_names ? VALUES_ANY : VALUES_ZERO;
	return field->type == POSIX_TRACE_TYPE_U64_NP || field->type == POSIX_TRACE_TYPE_NS_NP
		       ? VALUES_POSITIVE
		       : VALUES_INTEGERS;
}

static void make_plan(const struct posix_trace_field_np *field, struct field_plan *plan)
{
	plan->values = values_of(field);
	plan->offset = (uint32_t)field->offset;
	plan->size = (uint8_t)field->size;
	plan->is_signed = field->form == POSIX_TRACE_FORM_SIGNED_NP;
	for (unsigned kind = SQLVALUE_INTEGER; kind < FIELD_KINDS; kind++)
		plan->key[kind] = fleet_key(field->name, (enum sqlvalue_kind)kind);
}

struct field_plan *fields_of_type(struct ship_fields *fields, const struct log_type *type)
{
	const struct posix_trace_schema_np *schema = type->schema;
	struct field_plan *plan;

	if (type->id < fields->ids && fields->by_id[type->id])
		return fields->by_id[type->id];
	if (!vec_reach(&fields->by_id, &fields->ids, type->id))
		return NULL;
	plan = calloc(schema->fields + 1, sizeof(*plan));
	for (unsigned i = 0; plan && i < schema->fields; i++)
		make_plan(&schema->field[i], &plan[i]);
	fields->by_id[type->id] = plan;
	return plan;
}

void fields_note(struct ship_fields *fields, const char *name, enum sqlvalue_kind kind)
{
	fields->is_new |= add_kind(&fields->field, &fields->count, name, kind);
}

/* ------------------------------------------------------------------ the database's list */

/*
 * Returns whether the text can be the name of a field, which consists of letters, digits and _. A
 * hostile server or client may send other texts.
 */
static bool is_field_name(const char *text, size_t len)
{
	if (!len || len > POSIX_TRACE_FIELD_NAME_MAX_NP)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return true;
}

/* Adds the fields in the answer to the list. Rows that are not valid fields are ignored. */
static void read_list(struct listed *list, const struct bytes *answer)
{
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
	const char *text;
	size_t at = 0, len;
	uint8_t kind;

	while (server_get_text(answer, &at, &text, &len) && server_get_u8(answer, &at, &kind)) {
		if (!is_field_name(text, len) || kind >= FIELD_KINDS)
			continue;
		memcpy(name, text, len);
		name[len] = '\0';
		add_kind(&list->field, &list->count, name, kind);
	}
}

/* Returns whether the answer consists of whole rows. */
static bool has_whole_rows(const struct bytes *answer)
{
	const char *text;
	size_t at = 0, len;
	uint8_t kind;

	while (at < answer->used)
		if (!server_get_text(answer, &at, &text, &len) ||
		    !server_get_u8(answer, &at, &kind))
			return false;
	return true;
}

static bool fetch_list(struct link *link, struct listed *list)
{
	free(list->field);
	memset(list, 0, sizeof(*list));
	if (!link_query(link,
			"SELECT name, kind FROM fields GROUP BY name, kind "
			"ORDER BY name, kind FORMAT RowBinary",
			ANSWER_BYTES, has_whole_rows))
		return false;
	read_list(list, &link->server.answer);
	return true;
}

/* Appends rows for the fields and kinds that the list lacks. Returns the number of rows. */
static size_t put_missing(const struct ship_fields *fields, const struct listed *list,
			  struct bytes *sql)
{
	size_t missing = 0;

	for (size_t i = 0; i < fields->count; i++) {
		const struct fleet_field *field = &fields->field[i];
		unsigned has = 0;

		for (size_t j = 0; j < list->count; j++)
			if (!strcmp(list->field[j].name, field->name))
				has = list->field[j].kinds;
		for (unsigned kind = SQLVALUE_NULL; kind < FIELD_KINDS; kind++)
			if (field->kinds & ~has & 1u << kind)
				bytes_printf(sql, "%s('%s', %u)", missing++ ? ", " : "",
					     field->name, kind);
	}
	return missing;
}

/* ------------------------------------------------------------------ the view */

/*
 * Returns the number of columns of the view "events", 0 if the view does not exist, or -1 after an
 * error.
 */
static long count_columns(struct link *link)
{
	struct bytes sql = { .at = NULL };
	uint64_t count;
	bool good;

	bytes_printf(&sql, "SELECT toString(count()) FROM system.columns WHERE database = '%s' "
		     "AND table = 'events'", link->server.address.database);
	good = link_query_count(link, &sql, &count);
	bytes_free(&sql);
	return !good ? -1 : count < LONG_MAX ? (long)count : LONG_MAX;
}

/*
 * Makes the columns of all fields in the list, in the order of the list. Returns false if memory is
 * lacking.
 */
static bool name_columns(const struct listed *list, struct sqlfields *columns)
{
	memset(columns, 0, sizeof(*columns));
	for (size_t i = 0; i < list->count; i++)
		if (!sqlfields_add_name(columns, list->field[i].name))
			return false;
	return true;
}

/*
 * Makes a new view and exchanges the names of the two views in one statement, so that a view always
 * exists. If this fails, the shipment does not fail, because rows do not depend on the view. The
 * next shipment that sends rows tries it again. Returns whether the view was made.
 */
static bool replace_view(struct link *link, const struct listed *list, bool exists)
{
	unsigned long long number = link_attempt();
	struct bytes sql = { .at = NULL };
	struct sqlfields columns;
	bool is_made = false;

	if (name_columns(list, &columns)) {
		bytes_printf(&sql, "CREATE VIEW events_%llu AS ", number);
		fleet_events_view(link->layout, link->server.address.database, &columns,
				  list->field, list->count, &sql);
		bytes_add(&sql, "", 1);
	}
	sqlfields_free(&columns);
	if (sql.used && !sql.failed &&
	    link_try(link, sql.at, NULL, 65536) == SERVER_OK) {
		sql.used = 0;
		if (exists)
			bytes_printf(&sql, "RENAME TABLE events TO old_%llu, events_%llu TO events",
				     number, number);
		else
			bytes_printf(&sql, "RENAME TABLE events_%llu TO events", number);
		bytes_add(&sql, "", 1);
		is_made = link_try(link, sql.at, NULL, 65536) == SERVER_OK;
		exists = exists && is_made;
		sql.used = 0;
		bytes_printf(&sql, "DROP TABLE IF EXISTS %s_%llu", exists ? "old" : "events",
			     number);
		bytes_add(&sql, "", 1);
		link_try(link, sql.at, NULL, 65536);
	}
	bytes_free(&sql);
	return is_made;
}

/* Returns whether two lists are equal. Both are in the order in which the database sends them. */
static bool is_same(const struct listed *a, const struct listed *b)
{
	for (size_t i = 0; a->count == b->count && i < a->count; i++)
		if (strcmp(a->field[i].name, b->field[i].name) != 0 ||
		    a->field[i].kinds != b->field[i].kinds)
			return false;
	return a->count == b->count;
}

/*
 * The number of columns that are not for fields: the columns of the table events in query, and
 * log.host and log.pid.
 */
#define VIEW_COLUMNS (QUERY_COLUMNS + 2)

static long columns_of_view(const struct listed *list)
{
	long columns = VIEW_COLUMNS;

	for (size_t i = 0; i < list->count; i++)
		columns += fleet_has_column(&list->field[i]);
	return columns;
}

/*
 * Makes the view again until it has all fields. At the same time, another shipper may replace the
 * view by a view with fewer fields. So the function reads the list again after it has made the
 * view. If the list has changed, the function makes the view once more. *is_made becomes whether
 * the view has all fields.
 */
static bool update_view(struct link *link, struct listed *list, bool has_changed, bool *is_made)
{
	struct listed again = { NULL, 0 };
	long columns = count_columns(link);
	bool good = columns >= 0;

	*is_made = good;
	while (good && (has_changed || columns < columns_of_view(list))) {
		*is_made = replace_view(link, list, columns > 0);
		columns = columns_of_view(list);
		good = fetch_list(link, &again);
		has_changed = good && !is_same(&again, list);
		free(list->field);
		*list = again;
		memset(&again, 0, sizeof(again));
	}
	return good;
}

/*
 * Returns whether this process has found all fields of the log in the database, and a view with
 * these fields, since the tables were made. Then no request is necessary. With --follow, each
 * shipment of new events would otherwise need two more requests. Another shipper may be killed
 * after it has replaced the view by one with fewer fields. So the result is false when these facts
 * are older than KNOWN_NS.
 */
static bool are_known(const struct ship_fields *fields, const struct link *link)
{
	const struct listed list = { link->field, link->fields };
	struct bytes none = { .at = NULL };
	const size_t missing = put_missing(fields, &list, &none);

	bytes_free(&none);
	return link->fields_made == link->made + 1 && !missing &&
	       until_now_ns() - link->fields_ns < KNOWN_NS;
}

bool fields_register(struct ship_fields *fields, struct link *link)
{
	struct listed list = { NULL, 0 };
	struct bytes sql = { .at = NULL };
	const unsigned made = link->made;
	bool good = true, has_changed = false, is_made = false;

	if (fields->is_new && are_known(fields, link))
		fields->is_new = false;
	if (!fields->is_new)
		return true;
	good = fetch_list(link, &list);
	bytes_str(&sql, "INSERT INTO fields VALUES ");
	if (good && put_missing(fields, &list, &sql)) {
		has_changed = true;
		good = link_query_bytes(link, &sql, 65536, NULL) && fetch_list(link, &list);
	}
	bytes_free(&sql);
	good = good && update_view(link, &list, has_changed, &is_made);
	fields->is_new = !good;
	if (good && is_made) {
		free(link->field);
		link->field = list.field;
		link->fields = list.count;
		link->fields_made = made + 1;
		link->fields_ns = until_now_ns();
	} else {
		free(list.field);
	}
	return good;
}
