/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * summary.c - sends the spans and the small tables of a log. These tables are the same as in the
 * command query.
 *
 * The rows of a summary come from the tables of the command query. All rows of a summary have one
 * attempt. A later summary replaces the whole summary, because the ledger of a log, and the ends of
 * its last spans, are known only when the log ends.
 */
#include "ship/ship.h"

#include <stdlib.h>
#include <string.h>

#include "base/say.h"

#define BATCH_BYTES (16u << 20)

/*
 * Makes and fills the tables of the command query. The table events has no columns for fields here,
 * because no statement reads them.
 */
static sqlite3 *open_tables(struct shipment *shipment)
{
	sqlite3 *db = NULL;
	int err;

	shipment->query.events = 0;
	shipment->query.lacks_events = shipment_layout(shipment) == FLEET_LEAN;
	err = query_tables_open(":memory:", &shipment->query, &db);
	if (!err)
		return db;
	say("%s: %s", shipment->log->path, db ? sqlite3_errmsg(db) : sqlite3_errstr(err));
	sqlite3_close(db);
	return NULL;
}

static void make_columns(struct block *block, const struct query_schema *schema)
{
	for (size_t i = 0; i < FLEET_ROW_COLUMNS; i++)
		block_column(block, fleet_events[i].name, fleet_events[i].type);
	for (size_t i = 0; i < query_schema_columns(schema); i++)
		block_column(block, schema->column[i].name,
			     schema->column[i].is_text ? "Nullable(String)" : "Nullable(Int64)");
}

static void put_row_columns(struct shipment *shipment, uint64_t seq, struct block *block)
{
	block_u16(block, FLEET_DAY, shipment->day);
	block_u64(block, FLEET_ATTEMPT, shipment->position.replacing);
	block_u64(block, FLEET_SOURCE, shipment->source);
	block_u64(block, FLEET_SEQ, seq);
	block_text(block, FLEET_HOST, shipment->host, strlen(shipment->host));
}

/* Adds a text of the row. In columns for the host, shipment->host replaces the host of the log. */
static void put_text(struct shipment *shipment, const struct query_schema *schema,
		     sqlite3_stmt *row, int i, struct block *block, unsigned column)
{
	/* If SQLite lacks memory, it returns no text, and the next sqlite3_step() fails. */
	const unsigned char *text = sqlite3_column_text(row, i);

	if (!strcmp(schema->column[i].name, "host"))
		block_text(block, column, shipment->host, strlen(shipment->host));
	else
		block_text(block, column, text ? (const char *)text : "",
			   text ? (size_t)sqlite3_column_bytes(row, i) : 0);
}

/* Adds a row to the block of a table of its own. */
static void put_row(struct shipment *shipment, const struct query_schema *schema,
		    sqlite3_stmt *row, uint64_t seq, struct block *block)
{
	put_row_columns(shipment, seq, block);
	for (int i = 0; i < (int)query_schema_columns(schema); i++) {
		unsigned column = FLEET_ROW_COLUMNS + (unsigned)i;

		block_null(block, column, sqlite3_column_type(row, i) == SQLITE_NULL);
		if (!schema->column[i].is_text)
			block_u64(block, column, (uint64_t)sqlite3_column_int64(row, i));
		else
			put_text(shipment, schema, row, i, block, column);
	}
	block_end_row(block);
}

/* Adds a row to the block of other_rows or summary_rows. */
static void put_shared_row(struct shipment *shipment, const struct query_schema *schema,
			   sqlite3_stmt *row, uint64_t seq, struct block *block)
{
	unsigned integers = 0, strings = 0;
	uint32_t nulls = 0;

	put_row_columns(shipment, seq, block);
	if (fleet_has_facts(shipment_layout(shipment)))
		block_u8(block, FLEET_TABLE,
			 (uint8_t)fleet_table_number((int)(schema - query_schema),
						     shipment_layout(shipment)));
	else
		block_text(block, FLEET_TABLE, schema->name, strlen(schema->name));
	for (int i = 0; i < (int)query_schema_columns(schema); i++) {
		nulls |= (uint32_t)(sqlite3_column_type(row, i) == SQLITE_NULL) << i;
		if (schema->column[i].is_text) {
			put_text(shipment, schema, row, i, block, FLEET_STRINGS);
			strings++;
		} else {
			block_u64(block, FLEET_INTEGERS, (uint64_t)sqlite3_column_int64(row, i));
			integers++;
		}
	}
	block_u32(block, FLEET_NULLS, nulls);
	block_array(block, FLEET_INTEGERS, integers);
	block_array(block, FLEET_STRINGS, strings);
	block_end_row(block);
}

/* A table of the server that gets rows. */
struct receiver {
	const char *table;
	void (*put)(struct shipment *shipment, const struct query_schema *schema,
		    sqlite3_stmt *row, uint64_t seq, struct block *block);
	struct block block;
	uint64_t sent;       /* rows of the summary that the table has */
};

/* Sends the rows of the block, if it has any. */
static bool send_rows(struct shipment *shipment, struct receiver *to, bool *is_void)
{
	struct block *block = &to->block;
	bool good = !block->rows || shipment_insert(shipment, to->table, block,
						    shipment->position.replacing, to->sent,
						    is_void);

	to->sent += block->rows;
	block_clear(block);
	return good;
}

/*
 * Returns whether the log has no row for the table. The table spans is not read then, because that
 * reads the whole log again. take_span() of shipment.c has seen the spans of the shipped events.
 */
static bool is_known_empty(const struct shipment *shipment, const struct query_schema *schema)
{
	return schema == &query_schema[QUERY_SPANS] && shipment->has_pairing &&
	       shipment_layout(shipment) == FLEET_LEAN && !shipment->has_other_spans;
}

/* Adds all rows of a table, which one statement reads, and sends full blocks. */
static bool add_table(struct shipment *shipment, sqlite3 *db, const struct query_schema *schema,
		      struct receiver *to, bool *is_void)
{
	const bool is_numbered = schema == &query_schema[QUERY_SPANS] &&
				 shipment_layout(shipment) == FLEET_LEAN;
	char *sql = sqlite3_mprintf("SELECT *%s FROM %s", is_numbered ? ", rowid" : "",
				    schema->name);
	struct block *block = &to->block;
	sqlite3_stmt *row = NULL;
	uint64_t seq = 0;
	bool good = true;
	int err = sql ? sqlite3_prepare_v2(db, sql, -1, &row, NULL) : SQLITE_NOMEM;

	while (!err && good && (err = sqlite3_step(row)) == SQLITE_ROW) {
		err = SQLITE_OK;
		if (is_numbered)
			seq = (uint64_t)sqlite3_column_int64(row,
							     (int)query_schema_columns(schema));
		to->put(shipment, schema, row, seq++, block);
		if (block->rows == shipment->options->batch || block_bytes(block) > BATCH_BYTES)
			good = send_rows(shipment, to, is_void);
	}
	if (err && err != SQLITE_DONE) {
		say("%s: %s", shipment->log->path, sqlite3_errmsg(db));
		good = false;
	}
	sqlite3_finalize(row);
	sqlite3_free(sql);
	return good;
}

/* Sends a table to a table of its own. */
static bool send_table(struct shipment *shipment, sqlite3 *db, int table, bool *is_void)
{
	struct receiver to = { .table = fleet_rows_table(table, FLEET_SEPARATE), .put = put_row };
	bool good;

	block_init(&to.block);
	make_columns(&to.block, &query_schema[table]);
	good = add_table(shipment, db, &query_schema[table], &to, is_void) &&
	       send_rows(shipment, &to, is_void);
	block_free(&to.block);
	return good;
}

/* Sends the tables that share a table of the server, by one INSERT if there are few rows. */
static bool send_shared_tables(struct shipment *shipment, sqlite3 *db, bool *is_void)
{
	const enum fleet_layout layout = shipment_layout(shipment);
	struct receiver to = { .table = fleet_summary_table(layout), .put = put_shared_row };
	bool good = true;

	block_init(&to.block);
	for (size_t i = 0; i < FLEET_SUMMARY_COLUMNS; i++) {
		const struct fleet_columns *column = i < FLEET_ROW_COLUMNS ? &fleet_events[i] :
				fleet_summary_column(i, layout);

		block_column(&to.block, column->name, column->type);
	}
	for (int i = 0; good && i < QUERY_TABLES; i++)
		if (fleet_is_shared(i, layout) && !is_known_empty(shipment, &query_schema[i]))
			good = add_table(shipment, db, &query_schema[i], &to, is_void);
	good = good && send_rows(shipment, &to, is_void);
	block_free(&to.block);
	return good;
}

/*
 * Sends all tables with one attempt. If the result is false and *is_void is true, the caller can
 * try another attempt.
 */
static bool send_tables(struct shipment *shipment, sqlite3 *db, bool *is_void)
{
	const enum fleet_layout layout = shipment_layout(shipment);
	bool good = true;

	for (int i = 0; good && i < QUERY_TABLES; i++)
		if (!fleet_is_shared(i, layout))
			good = send_table(shipment, db, i, is_void);
	return good && (layout == FLEET_SEPARATE || send_shared_tables(shipment, db, is_void));
}

/*
 * Voids the summary that the database has. Then it chooses the attempt of the new summary and saves
 * it in the position before it sends a row. If the new summary fails, all its rows are voided
 * together.
 */
static bool begin_summary(struct shipment *shipment)
{
	struct position *position = &shipment->position;

	if (shipment->options->is_dry)
		return true;
	if (position->summary && !link_void(shipment->link, position->summary))
		return false;
	position->summary = 0;
	position->replacing = link_attempt();
	return position_save(position);
}

static bool end_summary(struct shipment *shipment, enum summary_end end)
{
	struct position *position = &shipment->position;

	if (shipment->link)
		link_inserted(shipment->link);
	position->summary = position->replacing;
	position->replacing = 0;
	position->summary_events = position->events;
	position->summary_end = end;
	return shipment->options->is_dry || position_save(position);
}

bool summary_is_sent(const struct position *position, enum summary_end end)
{
	return position->summary && position->summary_events == position->events &&
	       (position->summary_end == end ||
		(position->summary_end == SUMMARY_WHOLE && end == SUMMARY_ACCOUNT));
}

bool summary_send_tables(struct shipment *shipment, sqlite3 *db, enum summary_end end)
{
	bool good = false, is_void = true;

	while (!good && is_void) {
		is_void = false;
		good = begin_summary(shipment) && send_tables(shipment, db, &is_void);
	}
	return good && end_summary(shipment, end);
}

bool summary_send(struct shipment *shipment, enum summary_end end)
{
	bool good;
	sqlite3 *db;

	if (summary_is_sent(&shipment->position, end))
		return true;
	db = open_tables(shipment);
	good = db && summary_send_tables(shipment, db, end);
	sqlite3_close(db);
	return good;
}
