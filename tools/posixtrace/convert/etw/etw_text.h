/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_text.h - a growing array of bytes, and values of ETW payloads as text.
 *
 * Every appended text is valid UTF-8, for any input.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_TEXT_H
#define POSIXTRACE_CONVERT_ETW_ETW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etw_bytes {
	unsigned char *bytes;
	size_t len, room;
	bool no_memory;         /* some bytes were not appended */
};

/* Appends bytes. If memory is lacking, the function appends nothing and sets no_memory. */
void etw_bytes_add(struct etw_bytes *to, const void *bytes, size_t len);
/* Appends a number in the byte order of this machine, as schemas require. */
void etw_bytes_number(struct etw_bytes *to, uint64_t value, unsigned bytes);
void etw_bytes_text(struct etw_bytes *to, const char *text);

/* Appends a character up to U+10FFFF. UTF_INVALID becomes U+FFFD. */
void etw_character_text(uint32_t character, struct etw_bytes *to);

/*
 * Appends a UTF-16 text that ends at a NUL or after "size" bytes. A surrogate without its partner
 * becomes U+FFFD.
 */
void etw_utf16_text(const unsigned char *from, size_t size, struct etw_bytes *to);

/*
 * Appends an 8-bit text that ends at a NUL or after "size" bytes. The log does not have the code
 * page of its writer. So a byte that begins no character of UTF-8 is read as Latin-1.
 */
void etw_ansi_text(const unsigned char *from, size_t size, struct etw_bytes *to);

/*
 * Returns a copy of the text as etw_ansi_text() makes it, shortened to whole characters in at most
 * "max" bytes. Returns NULL if memory is lacking.
 */
char *etw_text_copy(const char *text, size_t len, size_t max);

/* Appends a SID with "count" subauthorities. */
void etw_sid_text(const unsigned char *sid, unsigned count, struct etw_bytes *to);
void etw_address_text(int family, const unsigned char *address, struct etw_bytes *to);
/* Appends a sockaddr, which consists of the family, the port in network order and the address. */
void etw_socket_text(const unsigned char *p, size_t len, struct etw_bytes *to);

#endif
