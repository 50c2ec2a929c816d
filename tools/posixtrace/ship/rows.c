/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.c - makes a row of the table events_rows from an event. */
#include "ship/ship.h"

#include <string.h>

#include "base/json.h"
#include "log/fields.h"
#include "log/integer.h"
#include "symbols/symbols.h"

/*
 * The block has the columns in the order of enum fleet_column. The layouts without facts have
 * neither FLEET_MARKS nor FLEET_TOOK, so the columns behind them move up: old_column().
 */
void rows_columns(struct block *block, enum fleet_layout layout)
{
	for (size_t i = 0; i < FLEET_COLUMNS; i++) {
		const struct fleet_columns *column = fleet_event_column(i, layout);

		if (column)
			block_column(block, column->name, column->type);
	}
}

/* Returns the index in the block of a column that only older layouts have. */
static unsigned old_column(enum fleet_column column)
{
	return (unsigned)column - 2;
}

static void put_str(struct block *block, unsigned column, const char *text)
{
	block_text(block, column, text ? text : "", text ? strlen(text) : 0);
}

/*
 * Returns the place of a text for FLEET_LEAN: fleet.h. If the text is no part of the event's data,
 * adds it to the texts of the event.
 */
static uint64_t place_of(struct shipment *shipment, const struct posix_trace_event_np *event,
			 const char *text, size_t len)
{
	const uintptr_t data = (uintptr_t)event->data, at = (uintptr_t)text;
	uint64_t place = at - data;

	if (!len)
		return 0;
	if (at < data || len > event->data_len || at - data > event->data_len - len) {
		place = event->data_len + shipment->text.used;
		bytes_add(&shipment->text, text, len);
	}
	return place << 32 | len;
}

/* Adds an element to the arrays. If it is no text, "text" is NULL. Returns 1. */
static inline unsigned put_element(struct shipment *shipment,
				   const struct posix_trace_event_np *event, uint64_t key,
				   uint64_t number, const char *text, size_t len)
{
	struct block *block = &shipment->block;

	if (shipment->layout == FLEET_LEAN && text)
		number = place_of(shipment, event, text, len);
	block_u64(block, FLEET_KEYS, key);
	block_u64(block, FLEET_NUMBERS, number);
	if (shipment->layout != FLEET_LEAN)
		block_text(block, FLEET_TEXTS, text ? text : "", len);
	return 1;
}

/*
 * Adds a fact of the event: to the column of older layouts, or as an element of the arrays if it is
 * not empty. Returns the number of new elements.
 */
static unsigned put_fact(struct shipment *shipment, const struct posix_trace_event_np *event,
			 enum fleet_column column, enum fleet_fact key, uint32_t number,
			 const char *text, size_t len)
{
	struct block *block = &shipment->block;

	if (shipment->layout == FLEET_COMPACT)
		return len || number ? put_element(shipment, event, key, number, text, len) : 0;
	if (shipment->layout == FLEET_LEAN)
		return (len ? put_element(shipment, event, key, 0, text, len) : 0) +
		       (number ? put_element(shipment, event, FLEET_FACT_LINE, number, NULL, 0)
			       : 0);
	block_text(block, old_column(column), text, len);
	if (column == FLEET_FILE)
		block_u32(block, old_column(FLEET_LINE), number);
	return 0;
}

static unsigned put_name(struct shipment *shipment, const struct posix_trace_event_np *event,
			 enum fleet_column column, enum fleet_fact key, uint32_t number,
			 const char *name)
{
	return put_fact(shipment, event, column, key, number, name ? name : "",
			name ? strlen(name) : 0);
}

/*
 * Adds the function, source line and module of the event's address. They are found now and not when
 * a client reads the row, because the files of the program are on this host. Returns the number of
 * new elements of the arrays.
 */
static unsigned put_symbol(struct shipment *shipment, const struct posix_trace_event_np *event)
{
	const struct symbol *symbol =
		shipment->options->has_symbols ? symbols_of(shipment->log, event) : NULL;

	return put_name(shipment, event, FLEET_FUNCTION, FLEET_FACT_FUNCTION, 0,
			symbol && symbol->is_function ? symbol->name : NULL) +
	       put_name(shipment, event, FLEET_FILE, FLEET_FACT_FILE, symbol ? symbol->line : 0,
			symbol ? symbol->file : NULL) +
	       put_name(shipment, event, FLEET_MODULE, FLEET_FACT_MODULE, 0,
			symbol ? symbol->module : NULL);
}

/*
 * Adds the texts that the columns labels and message have in the command query. Returns the number
 * of new elements of the arrays.
 */
static unsigned put_labels(struct shipment *shipment, const struct log_type *type,
			   const struct posix_trace_event_np *event)
{
	static struct out text = { .fd = -1 };
	struct json json = json_begin(&text);
	char message[MESSAGE_BYTES];
	unsigned count;
	size_t len = 0;

	text.used = 0;
	if (!fields_labels(&json, shipment->log, type, event))
		text.used = 0;
	count = put_fact(shipment, event, FLEET_LABELS, FLEET_FACT_LABELS, 0, text.bytes,
			 text.used);
	if (type->schema && type->schema->format)
		len = posix_trace_message_print_np(type->schema, event->data, event->data_len, 0,
						   message, sizeof(message));
	if (len >= sizeof(message))
		len = sizeof(message) - 1;
	return count + put_fact(shipment, event, FLEET_MESSAGE, FLEET_FACT_MESSAGE, 0, message,
				len);
}

/*
 * Stores the value of a field and returns true if it is an integer by the plan of the field.
 */
static inline bool plain_value(const struct field_plan *plan,
			       const struct posix_trace_event_np *event, uint64_t *number)
{
	if (plan->values == VALUES_ANY || event->data_len < plan->size ||
	    event->data_len - plan->size < plan->offset)
		return false;
	*number = integer_load((const uint8_t *)event->data + plan->offset, plan->size,
			       plan->is_signed);
	return plan->values == VALUES_INTEGERS ||
	       (plan->values == VALUES_POSITIVE ? *number <= INT64_MAX : !*number);
}

/* Adds the value of a field, and returns the number of new elements: 0 if it has no value. */
static unsigned put_field(struct shipment *shipment, const struct log_type *type, unsigned i,
			  struct field_plan *plan, const struct posix_trace_event_np *event)
{
	struct sqlvalue value = { .kind = SQLVALUE_INTEGER };
	const char *text = NULL;
	size_t len = 0;
	uint64_t number;

	if (!plain_value(plan, event, &number)) {
		sqlvalue_of(type->schema, i, event->data, event->data_len, &value);
		number = (uint64_t)value.integer;
		if (value.kind == SQLVALUE_NULL)
			return 0;
		if (value.kind == SQLVALUE_REAL)
			memcpy(&number, &value.real, sizeof(number));
		if (value.kind == SQLVALUE_TEXT || value.kind == SQLVALUE_BLOB) {
			text = value.bytes;
			len = value.len;
			number = 0;
		}
	}
	if (!plan->seen[value.kind]) {
		plan->seen[value.kind] = true;
		fields_note(shipment->fields, type->schema->field[i].name, value.kind);
	}
	return put_element(shipment, event, plan->key[value.kind], number, text, len);
}

/* Nearly each event with a schema has a number as its first field. It is found without a call. */
bool rows_is_described(struct shipment *shipment, const struct log_type *type,
		       const struct posix_trace_event_np *event)
{
	const struct posix_trace_schema_np *schema = type->schema;
	struct field_plan *plan;
	struct sqlvalue value;
	char message[2];
	uint64_t number;

	if (!schema || schema->level)
		return schema != NULL;
	plan = fields_of_type(shipment->fields, type);
	for (unsigned i = 0; i < schema->fields; i++) {
		if (plan && plain_value(&plan[i], event, &number))
			return true;
		sqlvalue_of(schema, i, event->data, event->data_len, &value);
		if (value.kind != SQLVALUE_NULL)
			return true;
	}
	return schema->format && posix_trace_message_print_np(schema, event->data, event->data_len,
							      0, message, sizeof(message));
}

/*
 * Adds the fields of the event, and ends the arrays, which have "count" elements already. The
 * number of a real is its 64 bits as an integer. If the data is too short for a field, the field is
 * omitted.
 */
static void put_fields(struct shipment *shipment, const struct log_type *type,
		       const struct posix_trace_event_np *event, unsigned count)
{
	struct block *block = &shipment->block;
	const unsigned fields = type->schema ? type->schema->fields : 0;
	struct field_plan *plan = fields ? fields_of_type(shipment->fields, type) : NULL;

	block->failed |= fields && !plan;
	for (unsigned i = 0; plan && i < fields; i++)
		count += put_field(shipment, type, i, &plan[i], event);
	block_array(block, FLEET_KEYS, count);
	block_array(block, FLEET_NUMBERS, count);
	if (shipment->layout == FLEET_LEAN)
		block_text(block, FLEET_TEXTS, shipment->text.at, shipment->text.used);
	else
		block_array(block, FLEET_TEXTS, count);
}

/* Adds the flags and the level of the event. */
static void put_marks(struct shipment *shipment, const struct log_type *type,
		      const struct posix_trace_event_np *event)
{
	struct block *block = &shipment->block;
	const bool truncated = event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
	const bool late = event->flags & POSIX_TRACE_EVENT_LATE_NP;
	const unsigned flags = (truncated ? FLEET_TRUNCATED : 0) | (late ? FLEET_LATE : 0);
	const unsigned level = type->schema ? (unsigned)type->schema->level : 0;

	if (fleet_has_facts(shipment->layout)) {
		block_u8(block, FLEET_MARKS, (uint8_t)(flags + FLEET_LEVEL_UNIT * level));
		return;
	}
	block_u8(block, old_column(FLEET_LEVEL), (uint8_t)level);
	block_u8(block, old_column(FLEET_FLAGS), (uint8_t)flags);
}

/* The number of the attempt is 0 in this row; stamp_attempt() sets it before the row is sent. */
void rows_event(struct shipment *shipment, const struct log_type *type,
		const struct posix_trace_event_np *event, uint64_t seq, uint64_t took)
{
	struct block *block = &shipment->block;
	unsigned elements;

	block_u16(block, FLEET_DAY, shipment->day);
	block_u64(block, FLEET_ATTEMPT, 0);
	block_u64(block, FLEET_SOURCE, shipment->source);
	block_u64(block, FLEET_SEQ, seq);
	put_str(block, FLEET_HOST, shipment->host);
	block_u32(block, FLEET_PROCESS, (uint32_t)shipment->log->info.pid);
	put_str(block, FLEET_LOG, shipment->log->path);
	block_u64(block, FLEET_TIME, (uint64_t)event->time_ns);
	block_text(block, FLEET_NAME, type->name, type->name_len);
	block_u32(block, FLEET_TYPE, event->info.posix_event_id);
	block_u32(block, FLEET_PID, (uint32_t)event->info.posix_pid);
	block_u32(block, FLEET_TID, (uint32_t)event->tid);
	block_u64(block, FLEET_THREAD, (uint64_t)event->info.posix_thread_id);
	block_u64(block, FLEET_ADDRESS, (uint64_t)(uintptr_t)event->info.posix_prog_address);
	put_marks(shipment, type, event);
	if (shipment->layout == FLEET_LEAN)
		block_u64(block, FLEET_TOOK, took);
	shipment->text.used = 0;
	block_text(block, FLEET_DATA, event->data, event->data_len);
	elements = put_symbol(shipment, event);
	elements += put_labels(shipment, type, event);
	put_fields(shipment, type, event, elements);
	block->failed |= shipment->text.failed;
	block_end_row(block);
}
