/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * server.h - sends requests to the servers of a database of ClickHouse, over HTTP by http.h. One
 * thread uses a server at a time.
 */
#ifndef POSIXTRACE_FLEET_SERVER_H
#define POSIXTRACE_FLEET_SERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/address.h"
#include "fleet/block.h"
#include "fleet/http.h"

#define SERVER_REASON_BYTES 1024

enum server_result {
	SERVER_OK,
	SERVER_ABSENT,    /* no connection was made, so the server has received nothing */
	SERVER_UNCERTAIN, /* the server may have executed the request, or may still execute it */
	/* the server answered with an error; the request may have had an effect */
	SERVER_WRONG,
	/*
	 * the server answered that it has no room for the request now. The request has ended, so
	 * the server does not execute it later. It may have stored rows only if the server had more
	 * to do for it afterwards, such as a materialized view of the user.
	 */
	SERVER_BUSY,
	/* the server answered that the request, the user or the database is wrong */
	SERVER_REFUSED
};

struct server {
	struct address address;
	void *handle;             /* the handle of http.h */
	unsigned host;            /* index of the current host */
	/*
	 * true: requests contain the name of the database; false: they do not, because the database
	 * may not exist yet
	 */
	bool has_database;
	/*
	 * the name that the server gets for the next requests, without characters that need an
	 * escape; NULL: none
	 */
	const char *query_id;
	unsigned timeout_s;       /* the time limit for a request; 0: no limit */
	/* a request ends when *stop is not 0; NULL: nothing stops a request */
	volatile sig_atomic_t *stop;
	/*
	 * the answer to the last request; after SERVER_WRONG, SERVER_BUSY or SERVER_REFUSED: the
	 * error's text
	 */
	struct bytes answer;
	/* the last request had no answer within timeout_s, although there was a connection */
	bool is_late;
	/* the pause for which the last answer asks before the next request; 0: none */
	int64_t pause_ns;
	/* after any result but SERVER_OK: the URL, the status and the server's text */
	char reason[SERVER_REASON_BYTES];
};

/*
 * Prepares requests to the database at this address. The struct server takes over the memory of the
 * address, even if the function fails. Returns false after it printed an error.
 */
bool server_init(struct server *server, const struct address *address);
void server_free(struct server *server);

/* Makes the next host of the address the current one. */
void server_next_host(struct server *server);

/*
 * Sends a statement to the current host and receives the answer. "body" is the data of an INSERT,
 * or NULL. The function does not accept an answer of more than "limit" bytes. It also does not
 * accept any text as the answer to a statement that is not a SELECT. Otherwise, if a web server at
 * this address answered each request with a page, the web server would seem to store all rows.
 */
enum server_result server_request(struct server *server, const char *sql,
				  const struct http_body *body, size_t limit);

/*
 * Must be called if the last answer had the status of success, but is not an answer to this
 * statement. Then a program that is not ClickHouse has sent it. The function sets the reason, and
 * returns SERVER_UNCERTAIN.
 */
enum server_result server_foreign(struct server *server, const char *sql);

/*
 * Returns ClickHouse's number of the error in the last answer, or 0 if the answer contains no such
 * number.
 */
int server_code(const struct server *server);

/*
 * Returns whether the last answer says that a table has other columns than the statement. Another
 * version may have made the table again after the caller had read the layout of the table.
 */
bool server_lacks_columns(const struct server *server);

/*
 * These functions read the value at the offset *at of an answer in the format RowBinary, and move
 * *at behind it. They return false at the end of the answer, or if the answer is incomplete or
 * wrong. *text points into the answer.
 */
bool server_get_u8(const struct bytes *answer, size_t *at, uint8_t *value);
bool server_get_u64(const struct bytes *answer, size_t *at, uint64_t *value);
/* The value is an integer with seven bits in each byte, the same encoding as in protobuf. */
bool server_get_varint(const struct bytes *answer, size_t *at, uint64_t *value);
bool server_get_text(const struct bytes *answer, size_t *at, const char **text, size_t *len);

#endif
