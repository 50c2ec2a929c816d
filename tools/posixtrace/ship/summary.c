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

/* Adds a row to the block. In columns for the host, shipment->host replaces the host of the log. */
static void put_row(struct shipment *shipment, const struct query_schema *schema,
		    sqlite3_stmt *row, uint64_t seq, struct block *block)
{
	block_u16(block, FLEET_DAY, shipment->day);
	block_u64(block, FLEET_ATTEMPT, shipment->position.replacing);
	block_u64(block, FLEET_SOURCE, shipment->source);
	block_u64(block, FLEET_SEQ, seq);
	block_text(block, FLEET_HOST, shipment->host, strlen(shipment->host));
	for (int i = 0; i < (int)query_schema_columns(schema); i++) {
		unsigned column = FLEET_ROW_COLUMNS + (unsigned)i;

		block_null(block, column, sqlite3_column_type(row, i) == SQLITE_NULL);
		if (!schema->column[i].is_text)
			block_u64(block, column, (uint64_t)sqlite3_column_int64(row, i));
		else if (!strcmp(schema->column[i].name, "host"))
			block_text(block, column, shipment->host, strlen(shipment->host));
		else
			block_text(block, column, sqlite3_column_text(row, i),
				   (size_t)sqlite3_column_bytes(row, i));
	}
	block_end_row(block);
}

/*
 * Sends the rows of the block, if it has any. "seq" is the number of rows of this table so far,
 * including the block.
 */
static bool send_rows(struct shipment *shipment, const char *table, uint64_t seq,
		      struct block *block, bool *is_void)
{
	bool good = !block->rows || shipment_insert(shipment, table, block,
						    shipment->position.replacing,
						    seq - block->rows, is_void);

	block_clear(block);
	return good;
}

/* Sends all rows of a table, which one statement reads. */
static bool send_table(struct shipment *shipment, sqlite3 *db, const struct query_schema *schema,
		       bool *is_void)
{
	char *sql = sqlite3_mprintf("SELECT * FROM %s", schema->name);
	char *table = sqlite3_mprintf("%s_rows", schema->name);
	sqlite3_stmt *row = NULL;
	struct block block;
	uint64_t seq = 0;
	bool good = true;
	int err = sql && table ? sqlite3_prepare_v2(db, sql, -1, &row, NULL) : SQLITE_NOMEM;

	block_init(&block);
	make_columns(&block, schema);
	while (!err && good && (err = sqlite3_step(row)) == SQLITE_ROW) {
		err = SQLITE_OK;
		put_row(shipment, schema, row, seq++, &block);
		if (block.rows == shipment->options->batch || block_bytes(&block) > BATCH_BYTES)
			good = send_rows(shipment, table, seq, &block, is_void);
	}
	if (err && err != SQLITE_DONE) {
		say("%s: %s", shipment->log->path, sqlite3_errmsg(db));
		good = false;
	}
	good = good && send_rows(shipment, table, seq, &block, is_void);
	block_free(&block);
	sqlite3_finalize(row);
	sqlite3_free(sql);
	sqlite3_free(table);
	return good;
}

/*
 * Sends all tables with one attempt. If the result is false and *is_void is true, the caller can
 * try another attempt.
 */
static bool send_tables(struct shipment *shipment, sqlite3 *db, bool *is_void)
{
	bool good = true;

	for (size_t i = 0; good && i < QUERY_TABLES; i++)
		good = send_table(shipment, db, &query_schema[i], is_void);
	return good;
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
