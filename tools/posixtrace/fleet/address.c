/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.c - parses the URL of a database. */
#include "fleet/address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/table.h"

#define PLAIN  "clickhouse://"
#define SECURE "clickhouses://"

bool address_is(const char *text)
{
	return !strncmp(text, PLAIN, strlen(PLAIN)) || !strncmp(text, SECURE, strlen(SECURE));
}

void address_free(struct address *address)
{
	free(address->text);
	memset(address, 0, sizeof(*address));
}

/*
 * Returns whether the name needs no quotes in SQL. The caller refuses all other names, so that a
 * name cannot change the meaning of a statement.
 */
static bool is_plain_name(const char *name)
{
	static const char letters[] =
		"_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t len = strlen(name);

	return len && len <= 64 && strspn(name, letters) == len && (*name < '0' || *name > '9');
}

static bool is_port(const char *port)
{
	char *end;
	unsigned long number = strtoul(port, &end, 10);

	return *port >= '0' && *port <= '9' && !*end && number >= 1 && number <= 65535;
}

/*
 * Returns whether the text can be the name of a host, or an address. It must not contain characters
 * that end the name of the host in a URL. An address of IPv6 is in brackets.
 */
static bool is_host_name(const char *name)
{
	const size_t len = strlen(name);

	if (*name == '[')
		return len > 2 && strspn(name + 1, "0123456789abcdefABCDEF:.") == len - 2 &&
		       name[len - 1] == ']';
	return *name && !name[strcspn(name, "/?#@%[]\\\"' \t\r\n")];
}

const char *address_host(char *text, const char **name, const char **port)
{
	char *colon = *text == '[' ? strchr(text, ']') : text;

	colon = colon ? strchr(colon, ':') : NULL;
	if (colon)
		*colon++ = '\0';
	if (!is_host_name(text))
		return "the name of a host is missing or is not one";
	if (colon && !is_port(colon))
		return "a port is a number from 1 to 65535";
	*name = text;
	*port = colon;
	return NULL;
}

const char *address_user(char **text, char **user, char **password)
{
	char *at = strrchr(*text, '@');

	*user = *password = NULL;
	if (!at)
		return NULL;
	*at = '\0';
	*user = *text;
	*text = at + 1;
	*password = strchr(*user, ':');
	if (*password)
		*(*password)++ = '\0';
	if ((*user)[strcspn(*user, "\r\n")] ||
	    (*password && (*password)[strcspn(*password, "\r\n")]))
		return "a user name and a password have one line";
	return NULL;
}

/*
 * Parses the part of the URL behind the scheme. Returns NULL if it is valid, else the reason why it
 * is wrong.
 */
static const char *parse_rest(struct address *address, char *text)
{
	char *slash = strchr(text, '/'), *host, *next;
	const char *wrong;

	if (!slash)
		return "no database: write HOST/DATABASE";
	*slash = '\0';
	address->database = slash + 1;
	if (!is_plain_name(address->database))
		return "wrong name of the database: only letters, digits and _ are possible";
	wrong = address_user(&text, &address->user, &address->password);
	for (host = text; host && !wrong; host = next) {
		next = strchr(host, ',');
		if (next)
			*next++ = '\0';
		if (address->hosts == ADDRESS_HOSTS)
			return "too many hosts";
		wrong = address_host(host, &address->host[address->hosts].name,
				     &address->host[address->hosts].port);
		address->hosts += !wrong;
	}
	return wrong;
}

bool address_parse(struct address *address, const char *option, const char *text)
{
	const char *wrong = "write clickhouse://HOST[:PORT]/DATABASE";

	memset(address, 0, sizeof(*address));
	if (address_is(text)) {
		address->is_secure = !strncmp(text, SECURE, strlen(SECURE));
		address->text = strdup(strstr(text, "://") + 3);
		wrong = address->text ? parse_rest(address, address->text) : strerror(ENOMEM);
	}
	for (unsigned i = 0; i < address->hosts; i++)
		if (!address->host[i].port)
			address->host[i].port = address->is_secure ? "8443" : ADDRESS_PORT;
	if (!wrong)
		return true;
	/* The URL may contain a password, so the message does not repeat it. */
	say("%s: %s", option, wrong);
	address_free(address);
	return false;
}

uint64_t address_number(const struct address *address)
{
	uint64_t sum = hash_bytes(HASH_BEGIN, address->database, strlen(address->database));

	for (unsigned i = 0; i < address->hosts; i++) {
		uint64_t one = hash_bytes(HASH_BEGIN, address->host[i].name,
					  strlen(address->host[i].name) + 1);

		sum += hash_bytes(one, address->host[i].port, strlen(address->host[i].port));
	}
	return sum;
}
