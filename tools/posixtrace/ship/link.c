/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link.c - sends requests to a fleet's database and repeats them until the server confirms them. */
#include "ship/ship.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/say.h"
#include "base/table.h"
#include "base/until.h"
#include "base/vec.h"

#define OTHERS_S 5 /* timeout for a replica to which this process does not send rows now */
#define DOUBLINGS_MOST 4 /* a slow server gets at most 16 times the time of --timeout */
#define PATIENT_NS INT64_C(3600000000000) /* how long after a late answer it gets more time */
/* how long the result of find_replicas() is used: if it is true, and if it is false */
#define ALL_REPLICAS_NS INT64_C(600000000000)
#define FEW_REPLICAS_NS INT64_C(30000000000)
#define SYNC_TABLES 3
#define SYNC_QUERIES 8 /* number of names of the statement SYSTEM SYNC REPLICA for each table */
#define DELAY_MOST_S 1000000000 /* a longer delay of a replica means that it is not known */
#define REPLICA_NAMES 100000 /* further names of a replica, besides the name by the macro */
#define CODE_REPLICA_EXISTS 253 /* ClickHouse's REPLICA_IS_ALREADY_EXIST */
#define CODE_NO_TABLE 60        /* UNKNOWN_TABLE */
#define CODE_NO_DATABASE 81     /* UNKNOWN_DATABASE */

uint64_t link_attempt(void)
{
	uint64_t number = 0;

	while (!number)
		if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			number = 0;
	return number;
}

/* Notes that memory was lacking for the text of a statement, so nothing was sent. */
static enum server_result lack_memory(struct link *link)
{
	snprintf(link->server.reason, sizeof(link->server.reason), "%s", strerror(ENOMEM));
	return SERVER_ABSENT;
}

/* ------------------------------------------------------------------ tables */

/*
 * Numbers of the fleet's tables and views in the database: all tables and views, replicated tables,
 * other tables, optional views, and the numbers that show the layout.
 */
struct found {
	unsigned all, replicated, plain, optional;
	unsigned separate;   /* tables that only FLEET_SEPARATE has */
	unsigned summary;    /* 1: there is summary_rows, of FLEET_SHARED */
	unsigned other;      /* 1: there is other_rows, of FLEET_LEAN or FLEET_COMPACT */
	unsigned events;     /* 1: there is events_rows */
	unsigned marks;      /* 1: it has a column that FLEET_SHARED lacks */
	unsigned shared_views, old_views; /* of FLEET_SHARED, and of it or FLEET_COMPACT */
	unsigned lean;       /* bits of the tables that are of FLEET_LEAN: fleet_lean_sql() */
};

/*
 * Counts the fleet's tables and views in the database. Other tables are not counted, because a user
 * may have some there.
 */
static enum server_result find_tables(struct link *link, struct found *found)
{
	struct server *server = &link->server;
	struct bytes sql = { .at = NULL };
	enum server_result result;

	bytes_printf(&sql, "SELECT toString(count()), toString(countIf(engine LIKE 'Replicated%%'))"
		     ", toString(countIf(engine IN ('MergeTree', 'ReplacingMergeTree')))"
		     ", toString(countIf(name IN (");
	fleet_optional_sql(&sql);
	bytes_str(&sql, "))), toString(countIf(engine LIKE '%MergeTree' AND name IN (");
	fleet_small_sql(&sql);
	bytes_printf(&sql, "))), toString(countIf(name = '" FLEET_SUMMARY "')), "
		     "toString(countIf(name = '" FLEET_OTHER "')), "
		     "toString(countIf(name = 'events_rows')), toString((SELECT count() FROM "
		     "system.columns WHERE database = '%s' AND table = 'events_rows' AND "
		     "name = '%s')), "
		     "toString(countIf(engine = 'View' AND create_table_query LIKE "
		     "'%%" FLEET_SUMMARY "%%')), "
		     "toString(countIf(engine = 'View' AND create_table_query LIKE "
		     "'%%%s%%')), ", server->address.database, fleet_events[FLEET_MARKS].name,
		     fleet_summary_column(FLEET_NULLS, FLEET_COMPACT)->name);
	fleet_lean_sql(server->address.database, &sql);
	bytes_printf(&sql, " FROM system.tables WHERE database = '%s' AND name IN (",
		     server->address.database);
	fleet_names_sql(&sql);
	bytes_add(&sql, ")", 2);
	result = sql.failed ? lack_memory(link) : server_request(server, sql.at, NULL, 65536);
	*found = (struct found){ .all = 0 };
	if (result == SERVER_OK &&
	    sscanf(server->answer.at, "%u %u %u %u %u %u %u %u %u %u %u %u", &found->all,
		   &found->replicated, &found->plain, &found->optional, &found->separate,
		   &found->summary, &found->other, &found->events, &found->marks,
		   &found->shared_views, &found->old_views, &found->lean) != 12)
		result = server_foreign(server, sql.at);
	bytes_free(&sql);
	return result;
}

/*
 * Returns false if the tables must be replicated and are not. If there are several hosts, the
 * tables must be replicated, because a row or voided attempt on one host would otherwise have no
 * effect on the other hosts.
 */
static bool are_replicas(struct link *link, const struct found *found, bool is_complete)
{
	struct server *server = &link->server;

	if (server->address.hosts == 1 ||
	    (!found->plain && (is_complete || link->is_replicated)))
		return true;
	snprintf(server->reason, sizeof(server->reason),
		 "%s: the tables of several hosts must be replicated: %s",
		 server->address.host[server->host].name,
		 found->plain ? "these are not; give one host" : "give --replicated, or one host");
	return false;
}

/*
 * Returns whether the tables show a layout, and stores it. A user may have removed some tables.
 * Only events_rows decides between FLEET_COMPACT and FLEET_SHARED if it exists, because its columns
 * cannot be used in the other layout. FLEET_LEAN has columns of its own in both tables. If the
 * tables were removed and their views remain, the views decide, because ship does not replace them.
 */
static bool find_layout(const struct found *found, enum fleet_layout *layout)
{
	if (found->lean)
		*layout = FLEET_LEAN;
	else if (found->separate)
		*layout = FLEET_SEPARATE;
	else if (found->events)
		*layout = found->marks ? FLEET_COMPACT : FLEET_SHARED;
	else if (found->other || found->summary)
		*layout = found->other ? FLEET_COMPACT : FLEET_SHARED;
	else if (found->old_views)
		*layout = found->shared_views ? FLEET_SHARED : FLEET_COMPACT;
	else
		*layout = FLEET_LEAN;
	return found->separate || found->events || found->other || found->summary ||
	       found->old_views;
}

/*
 * Returns false if an older version of ship has made one of the tables of FLEET_LEAN again, in its
 * own layout. No version can send rows into both tables then.
 */
static bool is_one_layout(struct link *link, const struct found *found)
{
	struct server *server = &link->server;

	if (!found->lean || found->lean == (FLEET_LEAN_EVENTS | FLEET_LEAN_OTHER) ||
	    !found->events || !found->other)
		return true;
	snprintf(server->reason, sizeof(server->reason),
		 "%s: an older version of ship has made the table %s.%s, which the other tables "
		 "do not fit: remove it, and ship makes it again",
		 server->address.host[server->host].name, server->address.database,
		 found->lean & FLEET_LEAN_EVENTS ? FLEET_OTHER : "events_rows");
	return false;
}

/*
 * Sets link->layout from the tables of a host. Returns false if its tables have two layouts, or if
 * another host has another layout: then rows that one host has would never reach the views of the
 * other.
 */
static bool note_layout(struct link *link, const struct found *found)
{
	struct server *server = &link->server;
	enum fleet_layout layout;

	if (!is_one_layout(link, found))
		return false;
	if (!find_layout(found, &layout))
		return true;
	if (link->has_layout && link->layout != layout && server->address.hosts > 1) {
		snprintf(server->reason, sizeof(server->reason),
			 "%s: an older version of ship has made the tables of this host or of "
			 "another one, and the tables of the hosts differ: remove the newer ones",
			 server->address.host[server->host].name);
		return false;
	}
	link->layout = layout;
	link->has_layout = true;
	return true;
}

/* The host and the time limit of a link before it asks other hosts. */
struct before {
	unsigned host, timeout_s;
};

/* Lowers the time limit for requests to other hosts, until end_others() is called. */
static struct before begin_others(struct link *link)
{
	struct server *server = &link->server;
	const struct before before = { server->host, server->timeout_s };

	if (!server->timeout_s || server->timeout_s > OTHERS_S)
		server->timeout_s = OTHERS_S;
	return before;
}

static void end_others(struct link *link, struct before before)
{
	link->server.host = before.host;
	link->server.timeout_s = before.timeout_s;
}

/*
 * Learns the layout from the other hosts before the first tables are made on a new host. Ignores a
 * host that does not answer.
 */
static void learn_layout(struct link *link)
{
	const struct before before = begin_others(link);
	struct found found;

	for (unsigned i = 1; i < link->server.address.hosts && !link->has_layout; i++) {
		server_next_host(&link->server);
		if (find_tables(link, &found) == SERVER_OK)
			note_layout(link, &found);
	}
	end_others(link, before);
}

/* Sends a statement that makes a table or view once. See fleet_create_sql() for "replica". */
static enum server_result try_table(struct link *link, unsigned index, const char *replica,
				    struct bytes *sql)
{
	sql->used = 0;
	fleet_create_sql(index, link->layout, link->server.address.database, replica, sql);
	bytes_add(sql, "", 1);
	return sql->failed ? lack_memory(link)
			   : server_request(&link->server, sql->at, NULL, 65536);
}

/*
 * Sends a statement that makes a table or view. If a server is killed, or its disk is full, while
 * it makes a replicated table, it may register the replica in ZooKeeper without making the table.
 * Afterwards it always refuses the table, so this function makes the table with another name of the
 * replica. This is safe also if two servers have the same macro, because they become two replicas.
 * While the disk is full, each attempt leaves one more name in ZooKeeper. So there must be many
 * names, and each attempt uses only one name.
 */
static enum server_result try_replica(struct link *link, unsigned index, struct bytes *sql)
{
	const char *replica = link->is_replicated ? FLEET_REPLICA : NULL;
	char name[sizeof(FLEET_REPLICA) + 16];
	enum server_result result = try_table(link, index, replica, sql);

	if (!replica || result == SERVER_OK || result == SERVER_ABSENT ||
	    result == SERVER_UNCERTAIN || server_code(&link->server) != CODE_REPLICA_EXISTS)
		return result;
	snprintf(name, sizeof(name), FLEET_REPLICA "_%u",
		 2 + (unsigned)(link_attempt() % REPLICA_NAMES));
	return try_table(link, index, name, sql);
}

/*
 * Makes a table or view. If the server does not make an optional view, the result is SERVER_OK, and
 * the reason is printed once.
 */
static enum server_result make_table(struct link *link, unsigned index, struct bytes *sql)
{
	struct server *server = &link->server;
	enum server_result result = try_replica(link, index, sql);

	if (!fleet_is_optional(index, link->layout) ||
	    (result != SERVER_REFUSED && result != SERVER_WRONG))
		return result;
	if (!link->lacks_views)
		say("%s; ship continues without the views rates and durations", server->reason);
	link->lacks_views = true;
	return SERVER_OK;
}

/* Notes that the tables are new, so that all positions are compared again. */
static void note_made(struct link *link)
{
	link->made++;
	link->checks = 0;
	link->tables = 0;
	link->is_sure = false;
	link->is_synced = false;
	link->replicas_ns = 0;
	link->has_misfit = false;
}

/* Adds a mark (fleet.h), the same one on all hosts. */
static enum server_result mark_tables(struct link *link, struct bytes *sql)
{
	if (!link->mark)
		link->mark = link_attempt();
	sql->used = 0;
	fleet_mark_sql(link->server.address.database, link->mark, sql);
	bytes_add(sql, "", 1);
	return sql->failed ? lack_memory(link)
			   : server_request(&link->server, sql->at, NULL, 65536);
}

/*
 * Makes the database, the tables and the views that are missing. If all of them exist, no statement
 * is sent, because the user may lack the right to make tables. A database that an older version has
 * made may lack optional views. If a table is missing, link->made is incremented even if a
 * statement fails later, because some of the tables may then be new. For the same reason the mark
 * is added before any table other than its own is made.
 */
static enum server_result make_tables(struct link *link)
{
	static const char table[] = "CREATE TABLE ";
	struct server *server = &link->server;
	struct bytes sql = { .at = NULL };
	unsigned statements = 0, optional = 0, tables = 0;
	enum server_result result;
	struct found found;
	bool is_complete, are_missing;

	server->has_database = false;
	result = find_tables(link, &found);
	if (result == SERVER_OK && !note_layout(link, &found))
		result = SERVER_REFUSED;
	if (result == SERVER_OK && !link->has_layout)
		learn_layout(link);
	while (fleet_create_sql(statements, link->layout, server->address.database, NULL, &sql)) {
		tables += sql.used >= strlen(table) && !memcmp(sql.at, table, strlen(table));
		sql.used = 0;
		optional += fleet_is_optional(statements++, link->layout);
	}
	/* The + 1 is for the statement that makes the database itself. */
	is_complete = found.all + 1 + optional >= statements + found.optional;
	if (result == SERVER_OK && !are_replicas(link, &found, is_complete))
		result = SERVER_REFUSED;
	are_missing = !is_complete && found.plain + found.replicated < tables;
	if (result == SERVER_OK && are_missing)
		note_made(link);
	for (unsigned i = 0; result == SERVER_OK && i < statements; i++) {
		if (fleet_is_optional(i, link->layout) ? found.optional < optional : !is_complete)
			result = make_table(link, i, &sql);
		if (result == SERVER_OK && are_missing && fleet_makes_fields(i))
			result = mark_tables(link, &sql);
	}
	bytes_free(&sql);
	server->has_database = true;
	link->has_tables[server->host] = result == SERVER_OK;
	link->has_replicas[server->host] = found.replicated ||
					   (!is_complete && link->is_replicated);
	return result;
}

/*
 * Makes the tables on all hosts. Each replica needs the tables, even if this process never sends
 * rows to it. If a replica does not answer now, its tables are made later, by another shipper or by
 * this process when it uses the replica.
 */
static void make_tables_everywhere(struct link *link)
{
	const struct before before = begin_others(link);

	link->has_begun = true;
	for (unsigned i = 1; i < link->server.address.hosts && !ship_stopped; i++) {
		server_next_host(&link->server);
		make_tables(link);
	}
	end_others(link, before);
	/* Tables that are made later are new again, so they get another mark. */
	link->mark = 0;
}

/* A log needs requests of some milliseconds, so a linear search is fast enough. */
static const struct link_compared *find_compared(const struct link *link, uint64_t source)
{
	for (size_t i = 0; i < link->checks; i++)
		if (link->checked[i].source == source)
			return &link->checked[i];
	return NULL;
}

bool link_checked(const struct link *link, uint64_t source)
{
	return find_compared(link, source) != NULL;
}

bool link_is_whole(const struct link *link, uint64_t source)
{
	const struct link_compared *check = find_compared(link, source);

	return link->is_sure && check && check->is_whole;
}

bool link_note_checked(struct link *link, uint64_t source, bool is_whole)
{
	if (link_checked(link, source))
		return true;
	if (!vec_grow(&link->checked, link->checks, 1)) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	link->checked[link->checks++] = (struct link_compared){ source, is_whole };
	return true;
}

/* ------------------------------------------------------------------ repetition */

/* The next request looks for the tables of the current host again, and makes the missing ones. */
static void forget_tables(struct link *link)
{
	link->has_tables[link->server.host] = false;
	link->mark = 0;
}

/* Notes whether a table or the database was removed since this process has looked for it. */
static void note_missing(struct link *link, enum server_result result)
{
	const int code = result == SERVER_WRONG ? server_code(&link->server) : 0;

	if (code == CODE_NO_TABLE || code == CODE_NO_DATABASE)
		forget_tables(link);
}

/* Asks the current host for the identity of the tables. */
static enum server_result ask_identity(struct link *link, uint64_t *tables)
{
	struct server *server = &link->server;
	struct bytes sql = { .at = NULL };
	enum server_result result;
	size_t at = 0;

	fleet_identity_sql(server->address.database, &sql);
	bytes_add(&sql, "", 1);
	result = sql.failed ? lack_memory(link) : server_request(server, sql.at, NULL, 65536);
	note_missing(link, result);
	if (result == SERVER_OK && (server->answer.used != sizeof(*tables) ||
				    !server_get_u64(&server->answer, &at, tables)))
		result = server_foreign(server, sql.at);
	bytes_free(&sql);
	return result;
}

/*
 * Reads the identity of the tables. A user or an older version may have made tables without a mark;
 * these get one. If the identity is not the one that this process has read before, another process
 * has made tables again.
 */
static enum server_result read_identity(struct link *link)
{
	struct bytes sql = { .at = NULL };
	uint64_t tables = 0;
	enum server_result result = ask_identity(link, &tables);

	if (result == SERVER_OK && !tables) {
		link->mark = 0;
		result = mark_tables(link, &sql);
		note_missing(link, result);
		if (result == SERVER_OK)
			result = ask_identity(link, &tables);
	}
	bytes_free(&sql);
	if (result != SERVER_OK)
		return result;
	/* Another version of ship may have made the tables, with another layout. */
	if (link->tables && link->tables != tables) {
		note_made(link);
		memset(link->has_tables, 0, sizeof(link->has_tables));
		link->has_layout = false;
	}
	link->tables = tables;
	link->is_sure = true;
	link->sure_ns = until_now_ns();
	return SERVER_OK;
}

/*
 * Returns the time limit for the next request to a host: the limit of --timeout, doubled for each
 * late answer (patience->doublings). A doubled limit ends when ship gives up. The result is never
 * less than the limit of --timeout.
 */
static unsigned patient_s(const struct link *link, const struct link_patience *patience)
{
	const unsigned timeout_s = link->server.timeout_s;
	const unsigned doubled_s = timeout_s << patience->doublings;
	const int64_t failing_ns = link->insert_failing_ns ? link->insert_failing_ns
							   : link->retry.failing_ns;
	/* Rounded up, so that the request ends after the time and not before. */
	const int64_t left_s =
		(retry_left_ns(&link->retry, failing_ns) - 1) / INT64_C(1000000000) + 1;

	if (left_s >= doubled_s)
		return doubled_s;
	return left_s > timeout_s ? (unsigned)left_s : timeout_s;
}

/*
 * Sends a request with the time limit for the current host. If there was a connection but no answer
 * within the limit, the following requests to this host have twice the time. Otherwise a server
 * that always needs longer would execute each INSERT after its attempt was voided, and no event
 * would ever arrive. A timely answer to a small request says nothing about the time that a large
 * one needs. So the host keeps the longer limit until PATIENT_NS after its last late answer.
 */
static enum server_result request_patiently(struct link *link, const char *sql,
					    const struct http_body *body, size_t limit)
{
	struct server *server = &link->server;
	struct link_patience *patience = &link->patience[server->host];
	const unsigned timeout_s = server->timeout_s;
	enum server_result result;
	size_t len;

	if (until_now_ns() - patience->late_ns > PATIENT_NS)
		patience->doublings = 0;
	server->timeout_s = patient_s(link, patience);
	result = server_request(server, sql, body, limit);
	server->timeout_s = timeout_s;
	if (!server->is_late)
		return result;
	patience->late_ns = until_now_ns();
	patience->doublings += patience->doublings < DOUBLINGS_MOST;
	len = strlen(server->reason);
	snprintf(server->reason + len, sizeof(server->reason) - len,
		 "; ship waits at most %u s for its next answer", patient_s(link, patience));
	return result;
}

/*
 * Returns the result of an INSERT, or SERVER_REFUSED if the server has answered for the second time
 * that a table has other columns, without a successful INSERT in between. The first answer is no
 * refusal, because another version may have made the tables again after this process had read their
 * layout. Before the next request, ship reads the layout if the tables are new.
 */
static enum server_result check_columns(struct link *link, enum server_result result)
{
	if (result == SERVER_OK) {
		link->has_misfit = false;
	} else if (result == SERVER_WRONG && server_lacks_columns(&link->server)) {
		if (link->has_misfit)
			return SERVER_REFUSED;
		link->has_misfit = true;
	}
	return result;
}

enum server_result link_prepare(struct link *link)
{
	enum server_result result = SERVER_OK;

	if (!link->has_tables[link->server.host])
		result = make_tables(link);
	if (result == SERVER_OK && !link->has_begun)
		make_tables_everywhere(link);
	if (result == SERVER_OK && !link->is_sure)
		result = read_identity(link);
	return result == SERVER_OK || result == SERVER_REFUSED ? result : SERVER_ABSENT;
}

/*
 * Like link_try(). In addition, an answer for which is_right() returns false is a failure;
 * "is_right" may be NULL.
 */
static enum server_result try_checked(struct link *link, const char *sql,
				      const struct http_body *body, size_t limit,
				      link_check is_right)
{
	enum server_result result = link_prepare(link);

	if (result == SERVER_OK)
		result = request_patiently(link, sql, body, limit);
	note_missing(link, result);
	if (body)
		result = check_columns(link, result);
	if (result == SERVER_OK && is_right && !is_right(&link->server.answer))
		result = server_foreign(&link->server, sql);
	if (result != SERVER_OK)
		return result;
	retry_succeeded(&link->retry);
	return SERVER_OK;
}

enum server_result link_try(struct link *link, const char *sql, const struct http_body *body,
			    size_t limit)
{
	return try_checked(link, sql, body, limit, NULL);
}

/*
 * Returns SERVER_OK if each of the three tables of the current host follows the other replicas and
 * the server has run since began_ns, and SERVER_ABSENT if not.
 *
 * For some seconds after its start, a replica does not know which parts it lacks: it has not read
 * its queue from ZooKeeper, for example because the session of its killed predecessor has not
 * expired. SYSTEM SYNC REPLICA succeeds nevertheless, because the queue in its memory is empty. The
 * columns is_readonly, is_session_expired and queue_size are 0 then. But until the replica has read
 * its queue, absolute_delay is the time since 1970.
 */
static enum server_result check_follows(struct link *link, int64_t began_ns)
{
	struct server *server = &link->server;
	const int64_t since_s = (until_now_ns() - began_ns + 999999999) / INT64_C(1000000000);
	struct bytes sql = { .at = NULL };
	unsigned tables = 0, follow = 0;
	enum server_result result;

	bytes_printf(&sql, "SELECT toString(count()), toString(countIf(is_readonly = 0 AND "
		     "is_session_expired = 0 AND absolute_delay < %d AND uptime() > %" PRIi64 ")) "
		     "FROM system.replicas WHERE database = '%s' AND table IN "
		     "('voided', 'events_rows', '%s')", DELAY_MOST_S, since_s,
		     server->address.database, fleet_logs_table(link->layout));
	bytes_add(&sql, "", 1);
	result = sql.failed ? lack_memory(link) : server_request(server, sql.at, NULL, 65536);
	if (result == SERVER_OK && sscanf(server->answer.at, "%u %u", &tables, &follow) != 2)
		result = server_foreign(server, sql.at);
	bytes_free(&sql);
	if (result != SERVER_OK || follow == SYNC_TABLES)
		return result;
	if (tables < SYNC_TABLES)
		forget_tables(link);
	snprintf(server->reason, sizeof(server->reason),
		 "%s:%s: this replica %s now, so its rows are not counted",
		 server->address.host[server->host].name, server->address.host[server->host].port,
		 tables < SYNC_TABLES ? "lacks tables" : "does not follow the others");
	return SERVER_ABSENT;
}

/*
 * A server continues to execute SYSTEM SYNC REPLICA when its client has ended. If the replica lacks
 * a part, the statement never ends. The statements of many shipments could fill the server, so that
 * it refuses all other statements. So each statement has one of a few names, and the server refuses
 * a second statement with the same name. A refusal is handled like an absent host: the function's
 * caller tries another replica, and later this replica again. The number in the name is random,
 * because in containers many shippers have the same process ID.
 *
 * Each statement is between two checks, because the server may start again at any time. Its success
 * has a meaning only if the table has read its queue before.
 */
enum server_result link_sync(struct link *link)
{
	enum server_result result = link_prepare(link);
	const char *const tables[SYNC_TABLES] = { "voided", "events_rows",
						  fleet_logs_table(link->layout) };
	const int64_t began_ns = until_now_ns();
	struct bytes sql = { .at = NULL };
	char name[64];

	if (!link->has_replicas[link->server.host])
		return result;
	if (result == SERVER_OK)
		result = check_follows(link, began_ns);
	for (size_t i = 0; result == SERVER_OK && i < SYNC_TABLES; i++) {
		sql.used = 0;
		bytes_printf(&sql, "SYSTEM SYNC REPLICA %s.%s", link->server.address.database,
			     tables[i]);
		bytes_add(&sql, "", 1);
		snprintf(name, sizeof(name), "posixtrace-sync-%s-%u", tables[i],
			 (unsigned)(link_attempt() % SYNC_QUERIES));
		link->server.query_id = name;
		result = sql.failed ? lack_memory(link)
				    : server_request(&link->server, sql.at, NULL, 65536);
		link->server.query_id = NULL;
		note_missing(link, result);
		if (result == SERVER_OK)
			result = check_follows(link, began_ns);
	}
	bytes_free(&sql);
	link->is_synced = result == SERVER_OK;
	return result;
}

bool link_again(struct link *link, enum server_result result)
{
	link->is_sure = false;
	link->is_synced = false;
	if (!retry_again(&link->retry, link->server.reason, result == SERVER_REFUSED,
			 link->server.pause_ns))
		return false;
	server_next_host(&link->server);
	return true;
}

/* Each failed INSERT can leave a void attempt, which is work for the server. */
bool link_again_insert(struct link *link, enum server_result result)
{
	struct retry *retry = &link->retry;
	bool again;

	if (retry->pause_ms < link->insert_pause_ms)
		retry->pause_ms = link->insert_pause_ms;
	if (link->insert_failing_ns)
		retry->failing_ns = link->insert_failing_ns;
	again = link_again(link, result);
	link->insert_pause_ms = retry->pause_ms;
	link->insert_failing_ns = retry->failing_ns;
	return again;
}

void link_inserted(struct link *link)
{
	link->insert_pause_ms = 0;
	link->insert_failing_ns = 0;
}

bool link_reach(struct link *link)
{
	enum server_result result;

	do {
		result = link_prepare(link);
	} while (result != SERVER_OK && link_again(link, result));
	if (result == SERVER_OK)
		retry_succeeded(&link->retry);
	return result == SERVER_OK;
}

bool link_confirm(struct link *link)
{
	link->is_sure = false;
	link->is_synced = false;
	return link_reach(link);
}

/* The first try may find that tables are missing; the second one makes them. */
void link_confirm_once(struct link *link, int64_t age_ns)
{
	const bool *has_tables = &link->has_tables[link->server.host];

	if (link->is_sure && until_now_ns() - link->sure_ns < age_ns)
		return;
	link->is_sure = false;
	link_prepare(link);
	if (!*has_tables)
		link_prepare(link);
}

/*
 * Sends the statement until its answer is right. If is_synced is true, calls link_sync() before
 * each try, unless it has succeeded for this log on this host: only this process adds rows of the
 * log.
 */
static bool query_checked(struct link *link, const char *sql, size_t limit, bool is_synced,
			  link_check is_right)
{
	enum server_result result;

	do {
		result = is_synced && !link->is_synced ? link_sync(link) : SERVER_OK;
		if (result == SERVER_OK)
			result = try_checked(link, sql, NULL, limit, is_right);
	} while (result != SERVER_OK && link_again(link, result));
	return result == SERVER_OK;
}

bool link_query(struct link *link, const char *sql, size_t limit, link_check is_right)
{
	return query_checked(link, sql, limit, false, is_right);
}

/* Ends the text of a statement. Returns false after it printed that memory is lacking. */
static bool end_statement(struct bytes *sql)
{
	bytes_add(sql, "", 1);
	if (sql->failed)
		say("%s", strerror(ENOMEM));
	return !sql->failed;
}

bool link_query_synced(struct link *link, struct bytes *sql, size_t limit, link_check is_right)
{
	return end_statement(sql) && query_checked(link, sql->at, limit, true, is_right);
}

bool link_query_bytes(struct link *link, struct bytes *sql, size_t limit, link_check is_right)
{
	return end_statement(sql) && link_query(link, sql->at, limit, is_right);
}

/* Returns whether the answer is a number and the end of its line. */
static bool is_count(const struct bytes *answer)
{
	size_t digits = answer->used ? strspn(answer->at, "0123456789") : 0;

	return digits && digits <= 20 && !strcmp(answer->at + digits, "\n");
}

bool link_query_count(struct link *link, struct bytes *sql, uint64_t *count)
{
	bool good = link_query_bytes(link, sql, 65536, is_count);

	*count = good ? strtoull(link->server.answer.at, NULL, 10) : 0;
	return good;
}

/* ------------------------------------------------------------------ all replicas */

/* Asks the current host. Returns whether the answer is one line that is not empty. */
static bool ask_line(struct link *link, struct bytes *sql)
{
	const struct bytes *answer = &link->server.answer;

	bytes_add(sql, "", 1);
	return !sql->failed && server_request(&link->server, sql->at, NULL, 65536) == SERVER_OK &&
	       answer->used > 1 && strcspn(answer->at, "\n") == answer->used - 1;
}

/*
 * Asks each host of the URL for the name of its replica. Returns whether these are all replicas of
 * the tables: no table has more replicas than there are hosts, and all names are different. Two
 * names are equal if two hosts of the URL are one server. If a server cannot reach ZooKeeper, it
 * reports 0 replicas, and the result is false.
 */
static bool find_replicas(struct link *link)
{
	struct server *server = &link->server;
	struct bytes sql = { .at = NULL };
	uint64_t name[ADDRESS_HOSTS];
	bool good = true;

	for (unsigned i = 0; good && i < server->address.hosts; i++) {
		sql.used = 0;
		bytes_printf(&sql, "SELECT if(count() = 3 AND min(total_replicas) > 0 AND "
			     "max(total_replicas) <= %u, anyIf(replica_name, table = "
			     "'events_rows'), '') FROM system.replicas WHERE database = '%s' AND "
			     "table IN ('voided', 'events_rows', '%s')", server->address.hosts,
			     server->address.database, fleet_logs_table(link->layout));
		good = ask_line(link, &sql);
		name[i] = good ? hash_bytes(HASH_BEGIN, server->answer.at, server->answer.used) : 0;
		for (unsigned before = 0; before < i; before++)
			good = good && name[before] != name[i];
		server_next_host(server);
	}
	bytes_free(&sql);
	return good;
}

/*
 * Returns whether the hosts of the URL are all replicas of the database. Without replicated tables,
 * this is true if the URL has one host.
 */
static bool has_all_replicas(struct link *link)
{
	const unsigned hosts = link->server.address.hosts;
	const int64_t now_ns = until_now_ns(),
		      known_ns = link->has_all_replicas ? ALL_REPLICAS_NS : FEW_REPLICAS_NS;

	if (!link->has_replicas[link->server.host])
		return hosts == 1;
	if (!link->replicas_ns || now_ns - link->replicas_ns > known_ns) {
		link->has_all_replicas = find_replicas(link);
		link->replicas_ns = now_ns;
	}
	return link->has_all_replicas;
}

bool link_is_nowhere(struct link *link, const char *sql)
{
	struct server *server = &link->server;
	struct before before;
	bool is_nowhere;

	if (link_prepare(link) != SERVER_OK)
		return false;
	before = begin_others(link);
	is_nowhere = has_all_replicas(link);
	for (unsigned i = 0; is_nowhere && i < server->address.hosts; i++) {
		is_nowhere = server_request(server, sql, NULL, 65536) == SERVER_OK &&
			     !strcmp(server->answer.at, "0\n");
		server_next_host(server);
	}
	end_others(link, before);
	return is_nowhere;
}

/* ------------------------------------------------------------------ attempts */

bool link_void(struct link *link, uint64_t attempt)
{
	struct bytes sql = { .at = NULL };
	bool good;

	bytes_printf(&sql, "INSERT INTO voided VALUES (%" PRIu64 ")", attempt);
	good = link_query_bytes(link, &sql, 65536, NULL);
	bytes_free(&sql);
	return good;
}

/*
 * Sends a SELECT for one text to the current host, and appends the text. Returns false if the
 * answer is no line, or has characters that could end a text in a statement. No other text of a
 * server becomes a part of a statement.
 */
static bool ask_text(struct link *link, struct bytes *sql, struct bytes *text)
{
	const struct bytes *answer = &link->server.answer;
	const bool good = ask_line(link, sql) && strcspn(answer->at, "'\\\n") == answer->used - 1;

	sql->used = 0;
	if (good)
		bytes_add(text, answer->at, answer->used - 1);
	bytes_add(text, "", 1);
	return good && !text->failed;
}

/*
 * Returns whether ZooKeeper has the parts of the current host with the rows of the attempt. If a
 * server loses ZooKeeper while it stores an INSERT, it shows the rows, but may remove them minutes
 * later. If a request fails, for example because the user has no right to read system.zookeeper,
 * the result is false, because a void attempt does no harm.
 */
static bool is_in_zookeeper(struct link *link, const char *table, uint64_t source, uint64_t attempt)
{
	struct bytes sql = { .at = NULL }, path = { .at = NULL }, parts = { .at = NULL };
	bool good;

	*link->server.reason = '\0';
	bytes_printf(&sql, "SELECT replica_path FROM system.replicas WHERE database = '%s' AND "
		     "table = '%s'", link->server.address.database, table);
	good = ask_text(link, &sql, &path);
	bytes_printf(&sql, "SELECT arrayStringConcat(groupUniqArray(_part), ',') FROM %s WHERE "
		     "row_source = %" PRIu64 " AND row_attempt = %" PRIu64, table, source, attempt);
	good = good && ask_text(link, &sql, &parts);
	sql.used = 0;
	if (good) {
		bytes_printf(&sql, "SELECT toString(count() = length(splitByChar(',', '%s'))) FROM "
			     "system.zookeeper WHERE path = '%s/parts' AND "
			     "has(splitByChar(',', '%s'), name)", parts.at, path.at, parts.at);
		good = ask_line(link, &sql);
	}
	if (!good && *link->server.reason && !link->has_doubts)
		say("%s; ship voids INSERTs without an answer, and sends their rows again",
		    link->server.reason);
	link->has_doubts |= !good;
	good = good && !strcmp(link->server.answer.at, "1\n");
	bytes_free(&sql);
	bytes_free(&path);
	bytes_free(&parts);
	return good;
}

enum server_result link_find_attempt(struct link *link, const char *table, uint64_t source,
				     uint64_t attempt, uint64_t rows, bool *has_rows)
{
	const struct bytes *answer = &link->server.answer;
	struct bytes sql = { .at = NULL };
	enum server_result result;

	bytes_printf(&sql, "SELECT toString(count()) FROM %s WHERE row_source = %" PRIu64
		     " AND row_attempt = %" PRIu64, table, source, attempt);
	bytes_add(&sql, "", 1);
	result = sql.failed ? lack_memory(link) : request_patiently(link, sql.at, NULL, 65536);
	note_missing(link, result);
	if (result == SERVER_OK && !is_count(answer))
		result = server_foreign(&link->server, sql.at);
	*has_rows = result == SERVER_OK && strtoull(answer->at, NULL, 10) == rows &&
		    (!link->has_replicas[link->server.host] ||
		     is_in_zookeeper(link, table, source, attempt));
	bytes_free(&sql);
	return result == SERVER_OK || result == SERVER_REFUSED ? result : SERVER_ABSENT;
}

bool link_ask_attempt(struct link *link, const char *table, uint64_t source, uint64_t attempt,
		      uint64_t rows, bool *has_rows)
{
	enum server_result result;

	*has_rows = false;
	do {
		result = link_prepare(link);
		if (result == SERVER_OK)
			result = link_find_attempt(link, table, source, attempt, rows, has_rows);
	} while (result != SERVER_OK && link_again(link, result));
	if (result == SERVER_OK)
		retry_succeeded(&link->retry);
	return result == SERVER_OK;
}
