/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.c - makes a row of the table events_rows from an event. */
#include "ship/ship.h"

#include <string.h>

#include "base/json.h"
#include "log/fields.h"
#include "symbols/symbols.h"

void rows_columns(struct block *block)
{
	for (size_t i = 0; i < FLEET_COLUMNS; i++)
		block_column(block, fleet_events[i].name, fleet_events[i].type);
}

static void put_str(struct block *block, unsigned column, const char *text)
{
	block_text(block, column, text ? text : "", text ? strlen(text) : 0);
}

/*
 * Adds the function, source line and module of the event's address. They are found now and not when
 * a client reads the row, because the files of the program are on this host.
 */
static void put_symbol(struct shipment *shipment, const struct posix_trace_event_np *event)
{
	const struct symbol *symbol =
		shipment->options->has_symbols ? symbols_of(shipment->log, event) : NULL;
	struct block *block = &shipment->block;

	put_str(block, FLEET_FUNCTION, symbol && symbol->is_function ? symbol->name : NULL);
	put_str(block, FLEET_FILE, symbol ? symbol->file : NULL);
	block_u32(block, FLEET_LINE, symbol ? symbol->line : 0);
	put_str(block, FLEET_MODULE, symbol ? symbol->module : NULL);
}

/* Adds the texts that the columns labels and message have in the command query. */
static void put_labels(struct shipment *shipment, const struct log_type *type,
		       const struct posix_trace_event_np *event)
{
	static struct out text = { .fd = -1 };
	struct json json = json_begin(&text);
	char message[MESSAGE_BYTES];
	size_t len = 0;

	text.used = 0;
	if (!fields_labels(&json, shipment->log, type, event))
		text.used = 0;
	block_text(&shipment->block, FLEET_LABELS, text.bytes, text.used);
	if (type->schema && type->schema->format)
		len = posix_trace_message_print_np(type->schema, event->data, event->data_len, 0,
						   message, sizeof(message));
	if (len >= sizeof(message))
		len = sizeof(message) - 1;
	block_text(&shipment->block, FLEET_MESSAGE, message, len);
}

/*
 * Adds the fields of the event. The number of a real is its 64 bits as an integer. If the data is
 * too short for a field, the field is omitted.
 */
static void put_fields(struct shipment *shipment, const struct log_type *type,
		       const struct posix_trace_event_np *event)
{
	struct block *block = &shipment->block;
	unsigned fields = type->schema ? type->schema->fields : 0, count = 0;

	for (unsigned i = 0; i < fields; i++) {
		struct sqlvalue value;
		uint64_t number = 0;
		bool is_text;

		sqlvalue_of(type->schema, i, event->data, event->data_len, &value);
		if (value.kind == SQLVALUE_NULL)
			continue;
		is_text = value.kind == SQLVALUE_TEXT || value.kind == SQLVALUE_BLOB;
		if (value.kind == SQLVALUE_REAL)
			memcpy(&number, &value.real, sizeof(number));
		else if (!is_text)
			number = (uint64_t)value.integer;
		block_u64(block, FLEET_KEYS, fields_note(shipment->fields, type, i, value.kind));
		block_u64(block, FLEET_NUMBERS, number);
		block_text(block, FLEET_TEXTS, value.bytes, is_text ? value.len : 0);
		count++;
	}
	block_array(block, FLEET_KEYS, count);
	block_array(block, FLEET_NUMBERS, count);
	block_array(block, FLEET_TEXTS, count);
}

/* The number of the attempt is 0 in this row; stamp_attempt() sets it before the row is sent. */
void rows_event(struct shipment *shipment, const struct log_type *type,
		const struct posix_trace_event_np *event, uint64_t seq)
{
	struct block *block = &shipment->block;
	bool truncated = event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
	bool late = event->flags & POSIX_TRACE_EVENT_LATE_NP;

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
	block_u8(block, FLEET_LEVEL, type->schema ? (uint8_t)type->schema->level : 0);
	block_u8(block, FLEET_FLAGS, (uint8_t)((truncated ? FLEET_TRUNCATED : 0) |
					       (late ? FLEET_LATE : 0)));
	block_text(block, FLEET_DATA, event->data, event->data_len);
	put_symbol(shipment, event);
	put_labels(shipment, type, event);
	put_fields(shipment, type, event);
	block_end_row(block);
}
