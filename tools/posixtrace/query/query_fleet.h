/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_fleet.h - query --at: the tables of query in a fleet's database, for query.c. In a build
 * without libcurl, opening one fails with a message.
 */
#ifndef POSIXTRACE_QUERY_QUERY_FLEET_H
#define POSIXTRACE_QUERY_QUERY_FLEET_H

#include "query/query.h"

#ifdef HAVE_FLEET
/*
 * Reads the fields and the times of the fleet, and sets query->remote. Returns false after it
 * printed an error. query_fleet_close() may be called in any case.
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
