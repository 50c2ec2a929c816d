/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/payload.h - event data that proves its origin and that it is complete.
 *
 * A payload has its maker, its number among the maker's payloads, its length and a checksum of the
 * whole. The rest is noise that is computed from these values. So the test notices a payload that
 * was mixed from two payloads, is incomplete, or was shifted.
 *
 * Threads   any number; no state.
 * Signals   payload_make is async-signal-safe.
 */
#ifndef PTX_TESTS_PAYLOAD_H
#define PTX_TESTS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_MIN 24

/* Fills len bytes at data with a payload. len is at least PAYLOAD_MIN. */
void payload_make(void *data, size_t len, uint32_t who, uint64_t sequence);

/* Stores the maker and the number and returns 1. Returns 0 if the bytes are no complete payload. */
int payload_read(const void *data, size_t len, uint32_t *who, uint64_t *sequence);

#endif
