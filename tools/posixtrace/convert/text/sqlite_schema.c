/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlite_schema.c - the tables of the database (sqlite.org/lang_createtable.html).
 *
 * SQLite keeps the text of each CREATE statement with its comments, and .schema prints this text.
 * So the comments in the statements are the description of the database for its users.
 */
#include "convert/text/sqlite_schema.h"

/*
 * The database is a new file that is deleted after a failure. So a journal and fsync() are useless
 * and off. Pages of 4096 bytes would be written and divided more often. With pages of 65536 bytes,
 * each small table would have at least 65536 bytes. The application_id is "PTRC".
 */
const char sqlite_schema[] =
	"PRAGMA page_size = 16384;"
	"PRAGMA journal_mode = OFF;"
	"PRAGMA synchronous = OFF;"
	"PRAGMA locking_mode = EXCLUSIVE;"
	"PRAGMA cache_size = -16000;"
	"PRAGMA application_id = 0x50545243;"
	"BEGIN;"
	"CREATE TABLE trace ( -- facts of the whole trace\n"
	"  key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE type (\n"
	"  id INTEGER PRIMARY KEY, -- valid in this database only\n"
	"  number INTEGER,         -- its number in the source\n"
	"  name TEXT,\n"
	"  name_bytes BLOB,        -- the exact bytes, if name is escaped or shortened, or NULL\n"
	"  schema TEXT, level INTEGER, phase TEXT, span TEXT);"
	"CREATE TABLE thread (\n"
	"  id INTEGER PRIMARY KEY, -- valid in this database only\n"
	"  pid INTEGER, tid INTEGER,\n"
	"  handle INTEGER);        -- pthread_t, as a signed number\n"
	"CREATE TABLE name ( -- of a thread, or of a process if tid and handle are 0\n"
	"  pid INTEGER, tid INTEGER, handle INTEGER, name TEXT);"
	"CREATE TABLE object ( -- an empty name: the object has no name from since_ns on\n"
	"  pid INTEGER, kind TEXT, pointer INTEGER, name TEXT, since_ns INTEGER);"
	"CREATE TABLE log ( -- the files with the events\n"
	"  id INTEGER PRIMARY KEY, path TEXT);"
	"CREATE TABLE event (\n"
	"  id INTEGER PRIMARY KEY, -- in the order of the events\n"
	"  ns INTEGER,             -- since 1970\n"
	"  type INTEGER REFERENCES type, thread INTEGER REFERENCES thread,\n"
	"  address INTEGER, cpu INTEGER,\n"
	"  truncated INTEGER, late INTEGER, after_damage INTEGER, data BLOB,\n"
	"  fields TEXT,            -- fields of the data by the schema: JSON, for json_extract()\n"
	"  labels TEXT,            -- names of values, such as descriptors: JSON\n"
	"  log INTEGER             -- REFERENCES log\n"
	"  -- f0, f1 ...           -- the fields by their numbers in the schema; "
	"the view events has columns with their names\n"
	");"
	"CREATE INDEX event_ns ON event (ns);"
	"CREATE TABLE lost ( -- gaps: missing events; count is NULL if it is not known\n"
	"  cause TEXT, count INTEGER, from_ns INTEGER, to_ns INTEGER,\n"
	"  type INTEGER, pid INTEGER, tid INTEGER);"
	"CREATE TABLE ledger ( "
	"-- the row without type and thread is the total; called is the sum of the other counts;\n"
	"  -- reported includes events of a damaged log that cannot be read\n"
	"  type INTEGER, thread INTEGER, called INTEGER, reported INTEGER, unread INTEGER,\n"
	"  cause TEXT, lost INTEGER);"
	"CREATE TABLE spans ( -- pairs of begin and end, and events with a duration\n"
	"  span TEXT, kind TEXT, begin INTEGER, \"end\" INTEGER, duration INTEGER, cpu INTEGER,\n"
	"  pid INTEGER, tid INTEGER, begin_tid INTEGER, event TEXT, log TEXT);";

/*
 * The parameters of a statement, and the cells of the rows of sqlite_rows.h, are numbered in the
 * order of the columns above. The index of the table "event" is created before the events are
 * inserted. Nearly all times increase, so nearly all entries are appended to the index, which is
 * faster than to sort the index at the end.
 */
const char *const sqlite_statements[STATEMENTS] = {
	[INSERT_EVENT] = "INSERT INTO event SELECT NULL,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13 "
			 "FROM new_event",
	/*
	 * This statement is for rows without rare values. It has constants in place of these
	 * values, because SQLite calls no function for a constant.
	 */
	[INSERT_PLAIN] = "INSERT INTO event SELECT NULL,c2,c3,c4,c5,NULL,0,0,0,c10,c11,NULL,c13 "
			 "FROM new_event",
	[INSERT_TYPE] = "INSERT INTO type VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
	[INSERT_THREAD] = "INSERT INTO thread VALUES (?1,?2,?3,?4)",
	[INSERT_NAME] = "INSERT INTO name VALUES (?1,?2,?3,?4)",
	[INSERT_OBJECT] = "INSERT INTO object VALUES (?1,?2,?3,?4,?5)",
	[INSERT_LOG] = "INSERT INTO log VALUES (?1,?2)",
	[INSERT_LOST] = "INSERT INTO lost VALUES (?1,?2,?3,?4,?5,?6,?7)",
	[INSERT_LEDGER] = "INSERT INTO ledger VALUES (?1,?2,?3,?4,?5,?6,?7)",
	[INSERT_SPAN] = "INSERT INTO spans SELECT c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11 FROM new_span",
	[INSERT_FACT] = "INSERT OR REPLACE INTO trace VALUES (?1,?2)",
};
