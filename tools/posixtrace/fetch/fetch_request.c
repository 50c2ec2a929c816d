/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fetch_request.c - sends requests to the database, and reads the values of its answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "fetch/fetch_part.h"
#include "query/fleet.h"

bool fetch_request(struct bytes *sql, size_t limit)
{
	struct server *server = &fetch.server;
	enum server_result result = SERVER_ABSENT;

	bytes_str(sql, " FORMAT RowBinary");
	bytes_add(sql, "", 1);
	if (sql->failed) {
		say("%s", strerror(ENOMEM));
		bytes_free(sql);
		return false;
	}
	for (unsigned i = 0; i < server->address.hosts && result == SERVER_ABSENT; i++) {
		if (i)
			server_next_host(server);
		result = server_request(server, sql->at, NULL, limit);
	}
	bytes_free(sql);
	if (result != SERVER_OK)
		say("%s", server->reason);
	return result == SERVER_OK;
}

bool fetch_say_wrong(const char *table)
{
	say("%s: the answer of the server about %s is cut or wrong", fetch.place, table);
	return false;
}

void fetch_from(const char *table, struct bytes *sql)
{
	bytes_printf(sql, " FROM %s WHERE ", table);
	fleet_counts_sql(fetch.server.address.database, sql);
}

/* ------------------------------------------------------------------ values */

/* Reads an integer of this number of bytes, the least significant byte first. */
static uint64_t read_integer(struct fetch_row *row, size_t size)
{
	const struct bytes *answer = &fetch.server.answer;
	uint64_t value = 0;

	row->failed |= answer->used - row->at < size;
	if (row->failed)
		return 0;
	memcpy(&value, answer->at + row->at, size);
	row->at += size;
	return value;
}

uint64_t fetch_u8(struct fetch_row *row)
{
	return read_integer(row, sizeof(uint8_t));
}

uint64_t fetch_u32(struct fetch_row *row)
{
	return read_integer(row, sizeof(uint32_t));
}

uint64_t fetch_u64(struct fetch_row *row)
{
	return read_integer(row, sizeof(uint64_t));
}

const char *fetch_text(struct fetch_row *row, size_t *len)
{
	const char *text = "";

	*len = 0;
	if (!row->failed)
		row->failed = !server_get_text(&fetch.server.answer, &row->at, &text, len);
	return text;
}

void fetch_string(struct fetch_row *row, char *to, size_t size)
{
	size_t len;
	const char *text = fetch_text(row, &len);

	row->failed |= len >= size || memchr(text, '\0', len);
	if (row->failed)
		len = 0;
	memcpy(to, text, len);
	to[len] = '\0';
}

char *fetch_copy(struct fetch_row *row)
{
	size_t len;
	const char *text = fetch_text(row, &len);
	char *copy = NULL;

	row->failed |= memchr(text, '\0', len) != NULL;
	if (!row->failed)
		copy = strndup(text, len);
	row->failed |= !copy;
	return copy;
}
