/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_fleet.h - the tables of query --at, which are read from a fleet's database. query.c uses
 * them. In a build without libcurl, query_fleet_open() prints an error.
 */
#ifndef POSIXTRACE_QUERY_QUERY_FLEET_H
#define POSIXTRACE_QUERY_QUERY_FLEET_H

#include "query/query.h"

#ifdef HAVE_FLEET
/*
 * Asks the fleet's database for its fields and the times of its events, and sets query->remote.
 * Returns false after it printed an error. The caller may call query_fleet_close() in both cases.
 */
bool query_fleet_open(struct query *query, const char *url);
void query_fleet_close(struct query *query);

/* Makes the tables. Returns SQLITE_OK or SQLite's error. */
int query_fleet_tables(sqlite3 *db, struct query *query);
#else
#include "base/say.h"

static inline bool query_fleet_open(struct query *query, const char *url)
{
	(void)query;
	(void)url;
	say("query: --at needs libcurl, which posixtrace was built without");
	return false;
}

static inline void query_fleet_close(struct query *query)
{
	(void)query;
}

static inline int query_fleet_tables(sqlite3 *db, struct query *query)
{
	(void)db;
	(void)query;
	return SQLITE_ERROR;
}
#endif

#endif
