/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * address.h - parses the URL of a database of ClickHouse:
 * clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DB.
 *
 * Several hosts with commas between them are replicas of one database. If one host does not answer,
 * the next host is used. With clickhouses:// the tool uses HTTPS. A host that contains colons is
 * written in brackets.
 */
#ifndef POSIXTRACE_FLEET_ADDRESS_H
#define POSIXTRACE_FLEET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#define ADDRESS_HOSTS 16
#define ADDRESS_PORT  "8123" /* the default port for HTTP; for HTTPS it is 8443 */

struct address {
	char *text;                    /* a copy of the URL; the other members point into it */
	/* user NULL: the server's default user; password NULL: none */
	char *user, *password;
	char *database;                /* a name that consists of letters, digits and _ */
	struct {
		const char *name, *port;
	} host[ADDRESS_HOSTS];
	unsigned hosts;
	bool is_secure;
};

/* Returns true if the text begins with clickhouse:// or clickhouses://. */
bool address_is(const char *text);

/*
 * Parses a URL. "option" is the name of the option for messages. Returns false after it printed an
 * error.
 */
bool address_parse(struct address *address, const char *option, const char *text);
void address_free(struct address *address);

/*
 * These functions parse parts of other URLs. They write NULs into the text, and return NULL, or the
 * reason why the text is wrong. address_host() splits HOST:PORT or [HOST]:PORT. The brackets
 * remain, because libcurl needs them. If the text has no port, *port becomes NULL. address_user()
 * splits USER:PASSWORD@ off the beginning of *text. If the text has no user or no password, *user
 * or *password becomes NULL.
 */
const char *address_host(char *text, const char **name, const char **port);
const char *address_user(char **text, char **user, char **password);

/*
 * Returns a number that identifies the database with these hosts. It does not depend on the order
 * of the hosts, on the user or on the password.
 */
uint64_t address_number(const struct address *address);

#endif
