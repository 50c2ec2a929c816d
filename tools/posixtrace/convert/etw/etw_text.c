/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_text.c - appends texts, numbers and addresses of payloads to an array of bytes. */
#include "convert/etw/etw_text.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "base/vec.h"
#include "convert/octets.h"

void etw_bytes_add(struct etw_bytes *to, const void *bytes, size_t len)
{
	if (!vec_reserve(&to->bytes, &to->room, to->len, len)) {
		to->no_memory = true;
		return;
	}
	if (len)
		memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
}

/* Appends the number in the byte order of this machine, as schemas require. */
void etw_bytes_number(struct etw_bytes *to, uint64_t value, unsigned bytes)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;

	etw_bytes_add(to, bytes == 1 ? (void *)&u8 : bytes == 2 ? (void *)&u16 :
		      bytes == 4 ? (void *)&u32 : (void *)&value, bytes);
}

void etw_bytes_text(struct etw_bytes *to, const char *text)
{
	etw_bytes_add(to, text, strlen(text));
}

void etw_character_text(uint32_t c, struct etw_bytes *to)
{
	char utf8[UTF8_BYTES];

	etw_bytes_add(to, utf8, utf8_put(c == UTF_INVALID ? UTF_REPLACEMENT : c, utf8));
}

/* An odd byte at the end is ignored. */
void etw_utf16_text(const unsigned char *from, size_t size, struct etw_bytes *to)
{
	for (size_t at = 0; at + 2 <= size;) {
		uint32_t c = utf16_take(from, size, &at);

		if (!c)
			return;
		etw_character_text(c, to);
	}
}

/* The value of a byte in Latin-1 is the number of the character in Unicode. */
void etw_ansi_text(const unsigned char *from, size_t size, struct etw_bytes *to)
{
	for (size_t at = 0; at < size && from[at];) {
		uint32_t c;
		size_t bytes = utf8_take(from + at, size - at, &c);

		etw_character_text(bytes ? c : from[at], to);
		at += bytes ? bytes : 1;
	}
}

/* The result has at most "max" bytes of whole characters, and a NUL. */
char *etw_text_copy(const char *text, size_t len, size_t max)
{
	struct etw_bytes copy = { 0 };

	/*
	 * The copy never has fewer bytes than the text, so at most "max" bytes of the text are
	 * copied.
	 */
	etw_ansi_text((const unsigned char *)text, utf8_cut(text, len, max), &copy);
	if (copy.len > max)
		copy.len = utf8_cut((const char *)copy.bytes, copy.len, max);
	etw_bytes_add(&copy, "", 1);
	if (!copy.no_memory)
		return (char *)copy.bytes;
	free(copy.bytes);
	return NULL;
}

/*
 * The fields of a SID are described in [MS-DTYP] 2.4.2.1: revision, authority (big endian),
 * subauthorities (little endian).
 */
void etw_sid_text(const unsigned char *sid, unsigned count, struct etw_bytes *to)
{
	char text[32];

	snprintf(text, sizeof(text), "S-%u-%" PRIu64, sid[0], octets_get(sid + 2, 6, true));
	etw_bytes_text(to, text);
	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "-%" PRIu32, octets_u32(sid + 8 + 4 * (size_t)i));
		etw_bytes_text(to, text);
	}
}

void etw_address_text(int family, const unsigned char *address, struct etw_bytes *to)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(family, address, text, sizeof(text)))
		etw_bytes_text(to, text);
}

/*
 * For an address of another family, or an address that is too short, the function appends no text.
 */
void etw_socket_text(const unsigned char *p, size_t len, struct etw_bytes *to)
{
	char port[16];

	/* The families of Windows: 2 is IPv4, 23 is IPv6. The port is in network order. */
	if (len >= 8 && octets_u16(p) == 2) {
		etw_address_text(AF_INET, p + 4, to);
	} else if (len >= 24 && octets_u16(p) == 23) {
		etw_bytes_text(to, "[");
		etw_address_text(AF_INET6, p + 8, to);
		etw_bytes_text(to, "]");
	} else {
		return;
	}
	snprintf(port, sizeof(port), ":%u", (unsigned)octets_get(p + 2, 2, true));
	etw_bytes_text(to, port);
}
