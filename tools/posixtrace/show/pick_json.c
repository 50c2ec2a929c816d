/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pick_json.c - the columns of --fields as a JSON object. */
#include <string.h>

#include "base/text.h"
#include "log/fields.h"
#include "log/value.h"
#include "show/pick_part.h"
#include "symbols/symbols.h"

/* Numbers of 64 bits are strings. */
static void json_hex(struct out *out, uint64_t value)
{
	out_char(out, '"');
	pick_put_hex(out, value);
	out_char(out, '"');
}

/* Writes an object for a type with a schema, otherwise text or bytes as a string. */
static void json_data(struct out *out, const struct pick_cell *cell)
{
	const struct posix_trace_event_np *event = cell->event;

	if (cell->type->schema) {
		out_str(out, "{\"len\":");
		out_unsigned(out, event->data_len);
		fields_json(out, cell->log, cell->type, event);
		out_char(out, '}');
	} else if (text_is_text(event->data, event->data_len, true)) {
		text_json(out, event->data, event->data_len);
	} else {
		out_char(out, '"');
		out_hex(out, event->data, event->data_len);
		out_char(out, '"');
	}
}

/* An array is a JSON array. A field that the event lacks is null. */
static void json_field(struct out *out, const struct pick_cell *cell,
		       const struct pick_column *column, int field)
{
	bool list = pick_is_list(cell, column, field);
	struct posix_trace_value_np value;
	unsigned index = 0;

	while (pick_next_value(cell, column, field, &index, &value)) {
		if (list)
			out_char(out, index == 1 ? '[' : ',');
		value_json(out, &value);
		if (!list)
			return;
	}
	out_str(out, index ? "]" : "null");
}

/* Writes the function, or the source line, or null. */
static void json_symbol(struct out *out, const struct pick_cell *cell, bool source)
{
	const struct symbol *symbol = symbols_of(cell->log, cell->event);

	if (!symbol || (source && !symbol->file))
		out_str(out, "null");
	else if (source)
		symbols_source(out, symbol, true);
	else
		text_json(out, symbol->name, strlen(symbol->name));
}

/* Writes the value of column i. */
static void json_cell(struct out *out, struct pick *pick, unsigned i, const struct pick_cell *cell)
{
	const struct pick_column *column = &pick->column[i];
	const struct posix_trace_event_np *event = cell->event;

	switch (column->fact) {
	case PICK_TIME:
	/* Times and differences are strings, as in all JSON outputs. */
	case PICK_DELTA:
		out_char(out, '"');
		out_done(out, when_put(out_room(out),
				       column->fact == PICK_TIME ? event->time_ns
								 : cell->line->delta_ns,
				       column->fact == PICK_TIME ? cell->line->when : WHEN_RAW));
		out_char(out, '"');
		break;
	case PICK_PID:
		out_signed(out, event->info.posix_pid);
		break;
	case PICK_TID:
		out_signed(out, event->tid);
		break;
	case PICK_THREAD:
		json_hex(out, (uint64_t)event->info.posix_thread_id);
		break;
	case PICK_ADDRESS:
		json_hex(out, (uintptr_t)event->info.posix_prog_address);
		break;
	case PICK_EVENT:
		text_json(out, cell->type->name, cell->type->name_len);
		break;
	case PICK_ID:
		out_unsigned(out, event->info.posix_event_id);
		break;
	case PICK_LEVEL:
		/* A level of 0 means that the schema names none. */
		if (cell->type->schema && cell->type->schema->level)
			out_signed(out, cell->type->schema->level);
		else
			out_str(out, "null");
		break;
	case PICK_LEN:
		out_unsigned(out, event->data_len);
		break;
	case PICK_DATA:
		if (event->data_len)
			json_data(out, cell);
		else
			out_str(out, "null");
		break;
	case PICK_FLAGS:
		out_char(out, '[');
		pick_put_flags(out, event, "\"");
		out_char(out, ']');
		break;
	case PICK_LOG:
		text_json(out, cell->line->log_name, strlen(cell->line->log_name));
		break;
	case PICK_SYMBOL:
	case PICK_SOURCE:
		json_symbol(out, cell, column->fact == PICK_SOURCE);
		break;
	case PICK_FIELD:
		json_field(out, cell, column,
			   cell->type->schema ? pick_field(pick, cell->type->schema, i) : -1);
		break;
	}
}

/* Every line has all columns, so that a reader finds the same members in each. */
void pick_json(struct out *out, struct pick *pick, const struct pick_line *line,
	       const struct logfile *log, const struct log_type *type,
	       const struct posix_trace_event_np *event)
{
	const struct pick_cell cell = { line, log, type, event };

	for (unsigned i = 0; i < pick->count; i++) {
		out_str(out, i ? ",\"" : "{\"");
		out_str(out, pick->column[i].label); /* letters only: no escapes */
		out_str(out, "\":");
		json_cell(out, pick, i, &cell);
	}
	out_str(out, "}\n");
}
