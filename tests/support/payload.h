/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/payload.h - event data that proves where it came from and that it is whole.
 *
 * A payload carries who made it, its number in that maker's own count, its length and a checksum
 * over all of it; the rest is noise derived from them. A record mixed from two, cut, or shifted
 * is detected.
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

/* 1 and the maker and its number, or 0 when the bytes are not one whole payload. */
int payload_read(const void *data, size_t len, uint32_t *who, uint64_t *sequence);

#endif
