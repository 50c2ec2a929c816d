/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * octets.h - unsigned numbers in bytes of either order, at any alignment.
 *
 * The functions check no bounds. The caller must have checked that the bytes exist.
 */
#ifndef POSIXTRACE_CONVERT_OCTETS_H
#define POSIXTRACE_CONVERT_OCTETS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns a number of 1 to 8 bytes, big or little endian. */
static inline uint64_t octets_get(const unsigned char *p, unsigned bytes, bool big)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)p[i] << 8 * (big ? bytes - 1 - i : i);
	return value;
}

static inline uint16_t octets_u16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t octets_u32(const unsigned char *p)
{
	return (uint32_t)octets_get(p, 4, false);
}

static inline uint64_t octets_u64(const unsigned char *p)
{
	return octets_get(p, 8, false);
}

/* Stores a number little endian. Returns the address behind it. */
static inline unsigned char *octets_put(unsigned char *p, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(value >> 8 * i);
	return p + bytes;
}

#endif
