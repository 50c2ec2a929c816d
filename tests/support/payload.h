/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/payload.h - event data that proves its origin and that it is complete.
 *
 * A payload has its maker, its number in that maker's count, its length and a checksum of the
 * whole; the rest is noise derived from them. A record mixed from two, cut, or shifted is detected.
 *
 * Threads   any number; no state.
 * Signals   payload_make is async-signal-safe.
 */
#ifndef PTX_TESTS_PAYLOAD_H
#define PTX_TESTS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_MIN 24

/* Fills len bytes at data; len is at least PAYLOAD_MIN. */
void payload_make(void *data, size_t len, uint32_t who, uint64_t sequence);

/* Returns 1 with the maker and its number, or 0 if the bytes are not one complete payload. */
int payload_read(const void *data, size_t len, uint32_t *who, uint64_t *sequence);

#endif
