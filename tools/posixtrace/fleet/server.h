/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * server.h - requests to the servers of a database of ClickHouse, over HTTP by libcurl.
 *
 * Each request has a connection of its own. On a connection that is used again libcurl repeats a
 * request which got no answer, and the server would then insert rows twice.
 *
 * An answer is hostile: its length is limited, and its text is printed through say() only. One
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

#define SERVER_REASON_BYTES 1024

enum server_result {
	SERVER_OK,
	SERVER_ABSENT,    /* no connection was made, so the server has received nothing */
	SERVER_UNCERTAIN, /* the server may have executed the request, or may still do so */
	SERVER_WRONG,     /* it answered with an error; the request may have had an effect */
	SERVER_REFUSED    /* it answered that the request, the user or the database is wrong */
};

struct server {
	struct address address;
	void *curl;
	unsigned host;            /* the current one */
	bool has_database;        /* requests name the database; false until it exists */
	unsigned timeout_s;       /* for an answer; 0: none */
	volatile sig_atomic_t *stop; /* a request ends when it is not 0; NULL: none */
	struct bytes answer;      /* of the last request with SERVER_OK */
	char reason[SERVER_REASON_BYTES]; /* of another result: URL, status, what the server said */
};

/* Returns false after it printed an error. The server owns the address from then on. */
bool server_init(struct server *server, const struct address *address);
void server_free(struct server *server);

/* Goes on to the next host of the address. */
void server_next_host(struct server *server);

/*
 * Sends a statement. body is the data of an INSERT, or NULL. limit is the greatest length of an
 * answer that is accepted, in bytes.
 */
enum server_result server_request(struct server *server, const char *sql, const struct bytes *body,
				  size_t limit);

/*
 * Reads the next value of an answer in the format RowBinary at *at. Return false at its end, or if
 * the answer is cut or wrong. The text is in the answer.
 */
bool server_get_u8(const struct bytes *answer, size_t *at, uint8_t *value);
bool server_get_u64(const struct bytes *answer, size_t *at, uint64_t *value);
bool server_get_text(const struct bytes *answer, size_t *at, const char **text, size_t *len);

#endif
