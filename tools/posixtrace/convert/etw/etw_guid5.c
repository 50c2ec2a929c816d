/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_guid5.c - the class of an event type by its name: a UUID of version 5 (RFC 9562, section
 * 5.5), which is SHA-1 of a namespace and the name. SHA-1 is good enough, because no secret
 * depends on it.
 */
#include <string.h>
#include <uuid.h>

#include "convert/etw/etw_write.h"
#include "convert/octets.h"

/*
 * A longer name is shortened to ETW_CLASS_NAME_MAX bytes, because etw_restore.c keeps no more bytes
 * of a name.
 */
void etw_guid_of_name(const char *name, size_t len, unsigned char guid[ETW_GUID_BYTES])
{
	/*
	 * The namespace of posixtrace. It must never change, because a change would change the
	 * GUIDs of all classes.
	 */
	static const unsigned char space[] = { 0x8f, 0x6d, 0x2c, 0x1e, 0x5b, 0x1a, 0x4c, 0x57,
					       0x9a, 0x3e, 0x7d, 0x0b, 0x6f, 0x1e, 0x2a, 0x94 };
	unsigned char d[16];

	if (len > ETW_CLASS_NAME_MAX)
		len = ETW_CLASS_NAME_MAX;
	uuid_generate_sha1(d, space, name, len);
	/* The numbers are big endian in a UUID, and little endian in a GUID. */
	octets_put(guid, octets_get(d, 4, true), 4);
	octets_put(guid + 4, octets_get(d + 4, 2, true), 2);
	octets_put(guid + 6, octets_get(d + 6, 2, true), 2);
	memcpy(guid + 8, d + 8, 8);
}
