/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pick_json.c - writes the columns of --fields as a JSON object. */
#include "base/json.h"
#include "base/text.h"
#include "log/fields.h"
#include "log/value.h"
#include "show/pick_part.h"
#include "symbols/symbols.h"

/*
 * Writes the data. If the type has a schema, the value is an object. Otherwise it is a string with
 * the text or with hexadecimal digits. Without data it is null.
 */
static void json_data(struct json *json, const char *name, const struct pick_cell *cell)
{
	const struct posix_trace_event_np *event = cell->event;

	if (!event->data_len) {
		json_null(json, name);
	} else if (cell->type->schema) {
		json_object(json, name);
		json_unsigned(json, "len", event->data_len);
		fields_json(json, cell->log, cell->type, event);
		json_end_object(json);
	} else if (text_is_text(event->data, event->data_len, true)) {
		json_text(json, name, event->data, event->data_len);
	} else {
		json_hex(json, name, event->data, event->data_len);
	}
}

/* Writes a field. A whole array becomes a JSON array. A field that the event lacks becomes null. */
static void json_field(struct json *json, const struct pick_cell *cell,
		       const struct pick_column *column, int field)
{
	bool list = pick_is_list(cell, column, field);
	struct posix_trace_value_np value;
	unsigned index = 0;

	while (pick_next_value(cell, column, field, &index, &value)) {
		if (!list) {
			value_json(json, column->label, &value);
			return;
		}
		if (index == 1)
			json_array(json, column->label);
		value_json(json, NULL, &value);
	}
	if (index)
		json_end_array(json);
	else
		json_null(json, column->label);
}

/*
 * Writes the source line of the event's address if 'source' is true, and otherwise the function of
 * the address. Writes null if the line or the function is unknown.
 */
static void json_symbol(struct json *json, const char *name, const struct pick_cell *cell,
			bool source)
{
	const struct symbol *symbol = symbols_of(cell->log, cell->event);

	if (!symbol || (source && !symbol->file))
		json_null(json, name);
	else if (source)
		symbols_source_json(json, name, symbol);
	else
		json_string_member(json, name, symbol->name);
}

static void json_flags(struct json *json, const char *name,
		       const struct posix_trace_event_np *event)
{
	const char *flag[PICK_FLAGS_MAX];
	unsigned count = pick_flags(event, flag);

	json_array(json, name);
	for (unsigned i = 0; i < count; i++)
		json_string_member(json, NULL, flag[i]);
	json_end_array(json);
}

/*
 * Writes column i. The label consists of letters, digits and the characters _ . [ ], so it needs no
 * escapes.
 */
static void json_cell(struct json *json, struct pick *pick, unsigned i,
		      const struct pick_cell *cell)
{
	const struct pick_column *column = &pick->column[i];
	const struct posix_trace_event_np *event = cell->event;
	const struct posix_trace_schema_np *schema = cell->type->schema;
	const char *name = column->label;

	_Static_assert(sizeof(column->label) <= JSON_NAME_MAX, "a label is a name");
	switch (column->fact) {
	/* Times, differences and numbers of 64 bits are strings, as in all JSON outputs. */
	case PICK_TIME:
		json_when(json, name, event->time_ns, cell->line->when);
		break;
	case PICK_DELTA:
		json_exact(json, name, cell->line->delta_ns);
		break;
	case PICK_PID:
		json_signed(json, name, event->info.posix_pid);
		break;
	case PICK_TID:
		json_signed(json, name, event->tid);
		break;
	case PICK_THREAD:
		json_address(json, name, (uint64_t)event->info.posix_thread_id);
		break;
	case PICK_ADDRESS:
		json_address(json, name, (uintptr_t)event->info.posix_prog_address);
		break;
	case PICK_EVENT:
		json_text(json, name, cell->type->name, cell->type->name_len);
		break;
	case PICK_ID:
		json_unsigned(json, name, event->info.posix_event_id);
		break;
	case PICK_LEVEL:
		/* The level 0 means that the schema has no @level. */
		if (schema && schema->level)
			json_signed(json, name, schema->level);
		else
			json_null(json, name);
		break;
	case PICK_LEN:
		json_unsigned(json, name, event->data_len);
		break;
	case PICK_DATA:
		json_data(json, name, cell);
		break;
	case PICK_FLAGS:
		json_flags(json, name, event);
		break;
	case PICK_LOG:
		json_string_member(json, name, cell->line->log_name);
		break;
	case PICK_SYMBOL:
	case PICK_SOURCE:
		json_symbol(json, name, cell, column->fact == PICK_SOURCE);
		break;
	case PICK_FIELD:
		json_field(json, cell, column, schema ? pick_field(pick, schema, i) : -1);
		break;
	}
}

/* Every line has all columns, so that a program finds the same members in each line. */
void pick_json(struct out *out, struct pick *pick, const struct pick_line *line,
	       const struct logfile *log, const struct log_type *type,
	       const struct posix_trace_event_np *event)
{
	const struct pick_cell cell = { line, log, type, event };
	struct json json = json_begin(out);

	json_object(&json, NULL);
	for (unsigned i = 0; i < pick->count; i++)
		json_cell(&json, pick, i, &cell);
	json_end_line(&json);
}
