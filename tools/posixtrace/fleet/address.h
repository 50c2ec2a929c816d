/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * address.h - where a database of ClickHouse is: clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DB.
 *
 * Several hosts with commas between them are replicas of one database: the next one is used when
 * one does not answer. clickhouses:// is HTTPS. A host with colons is written in brackets.
 */
#ifndef POSIXTRACE_FLEET_ADDRESS_H
#define POSIXTRACE_FLEET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#define ADDRESS_HOSTS 16
#define ADDRESS_PORT  "8123" /* of HTTP; that of HTTPS is 8443 */

struct address {
	char *text;                    /* a copy of the URL, which the other members refer to */
	char *user, *password;         /* NULL: the server's default user, without a password */
	char *database;                /* a name of letters, digits and _ */
	struct {
		const char *name, *port;
	} host[ADDRESS_HOSTS];
	unsigned hosts;
	bool is_secure;
};

/* Returns true if the text begins as such a URL. */
bool address_is(const char *text);

/* Parses a URL. option is the name for messages. Returns false after it printed an error. */
bool address_parse(struct address *address, const char *option, const char *text);
void address_free(struct address *address);

/*
 * Returns the number that all URLs of this database have: the same for each order of its hosts, any
 * user and any password.
 */
uint64_t address_number(const struct address *address);

#endif
