/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_class.c - the names of event classes and types. The classes and their GUIDs come from
 * Microsoft's "NT Kernel Logger Constants" and from the kernel's event groups.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf.h"
#include "convert/etw/etw.h"
#include "convert/etw/etw_describe.h"
#include "convert/etw/etw_part.h"
#include "convert/octets.h"

#define EVENT_IS_CLASSIC 0x100
#define CHANNEL_TRACELOGGING 11
#define SHOWN_MAX 54 /* bytes of a name before its checksum: 54 + "~" + 8 digits + NUL */

struct class {
	const char *name;
	const char *guid;
};

/* The first GROUPS classes are indexed by group. Classes without a group follow. */
static const struct class classes[] = {
	{ "eventtrace", "68fdd900-4a3e-11d1-84f4-0000f80464e3" },
	{ "diskio", "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c" },
	{ "pagefault", "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c" },
	{ "process", "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c" },
	{ "fileio", "90cbdc39-4a3e-11d1-84f4-0000f80464e3" },
	{ "thread", "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c" },
	{ "tcpip", "9a280ac0-c8e0-11d1-84e2-00c04fb998a2" },
	{ "job", "3282fc76-feed-498e-8aa7-e70f459d430e" },
	{ "udpip", "bf3a50c5-a9c9-4988-a005-2df0b7c80f80" },
	{ "registry", "ae53722e-c863-11d2-8659-00c04fa321a1" },
	{ "dbgprint", "13976d09-a327-438c-950b-7f03192815c7" },
	{ "config", "01853a65-418f-4f36-aefc-dc0f1d2fd235" },
	{ "spare1", "99134383-5248-43fc-834b-529454e75df3" },
	{ "wnf", "42695762-ea50-497a-9068-5cbbb35e0b95" },
	{ "pool", "0268a8b6-74fd-4302-9dd0-6e8f1795c0cf" },
	{ "perfinfo", "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc" },
	{ "heap", "222962ab-6180-4b88-a825-346b75f2a24a" },
	{ "object", "89497f50-effe-4440-8cf2-ce6b1cdcaca7" },
	{ "power", "e43445e0-0903-48c3-b878-ff0fccebdd04" },
	{ "modbound", "a9152f00-3f58-4bee-92a1-70c7d079d5dd" },
	{ "image", "2cb15d1d-5fc1-11d2-abe1-00a0c911f518" },
	{ "dpc", "b2d14872-7c5b-463d-8419-ee9bf7d23e04" },
	{ "cc", "7687a439-f752-45b8-b741-321aec0f8df9" },
	{ "critsec", "3ac66736-cc59-4cff-8115-8df50e39816b" },
	{ "stackwalk", "def2fe46-7bd6-4b80-bd94-f57fe20d0ce3" },
	{ "ums", "9aec974b-5b8e-4118-9b92-3186d8002ce5" },
	{ "alpc", "45d8cccd-539f-4b72-a8b7-5c683142609a" },
	{ "splitio", "d837ca92-12b9-44a5-ad6a-3a65b3578aa8" },
	{ "threadpool", "c861d0e2-a2c1-4d36-9f9c-970bab943a12" },
	{ "hypervisor", "7f2a405c-69b5-4bf9-a1f5-30e8f1afab5e" },
	{ "hypervisorx", "2ce9a149-effe-42f0-a635-a1d39e26c8f2" },
#define GROUPS 0x1f
	{ "sysconfig", "9b79ee91-b5fd-41c0-a243-4248e266e9d0" },
	{ "lostevent", "6a399ae0-4bc6-4de9-870b-3657f8947e7e" },
	{ "kernel", "9e814aad-3204-11d2-9a82-006008a86939" },
	{ "metadata", "bbccf6c1-6cd1-48c4-80ff-839482e37671" },
	{ "imageid", "b3e675d7-2554-4f18-830b-2762732560de" },
	{ "dotnet", "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4" },
	{ "dotnet_rundown", "a669021c-c450-4609-a035-5af59af4df18" },
};

#define CLASSES (sizeof(classes) / sizeof(classes[0]))

/*
 * The first three numbers of a GUID are little endian. The rest of the GUID is a sequence of bytes.
 */
void etw_guid_text(const unsigned char g[ETW_GUID_BYTES], char text[ETW_GUID_TEXT])
{
	snprintf(text, ETW_GUID_TEXT, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 octets_u32(g), octets_u16(g + 4), octets_u16(g + 6), g[8], g[9], g[10], g[11],
		 g[12], g[13], g[14], g[15]);
}

/* A linear search in 38 entries is fast enough. */
const char *etw_class_name(const unsigned char guid[ETW_GUID_BYTES])
{
	char text[ETW_GUID_TEXT];

	etw_guid_text(guid, text);
	for (size_t i = 0; i < CLASSES; i++)
		if (!strcmp(classes[i].guid, text))
			return classes[i].name;
	return NULL;
}

/* Returns the name of the kernel's class with that group, or NULL if the group is unknown. */
const char *etw_group_name(unsigned group)
{
	return group < GROUPS ? classes[group].name : NULL;
}

/* The types that evntrace.h defines for all classes (EVENT_TRACE_TYPE_*). */
const char *etw_type_name(unsigned type)
{
	static const char *const names[] = {
		"info", "start", "end", "dc_start", "dc_end", "extension", "reply", "dequeue",
		"checkpoint", "send",
	};

	if (type < sizeof(names) / sizeof(names[0]))
		return names[type];
	return type == 0xf0 ? "receive" : NULL;
}

/*
 * Returns the CRC of IEEE 802.3. The computation is bit by bit and without a table, because names
 * are short.
 */
static uint32_t crc32_of(const char *text, size_t len)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned char)text[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* Shortens a name that is longer than 63 bytes, the limit for names of event types. */
void etw_shorten(const char *full, char name[ETW_NAME_BYTES])
{
	size_t len = strlen(full);

	if (len < ETW_NAME_BYTES)
		memcpy(name, full, len + 1);
	else
		etw_shorten_always(full, full, name);
}

/* Cuts "shown" between two characters, so that the name remains valid UTF-8. */
void etw_shorten_always(const char *shown, const char *full, char name[ETW_NAME_BYTES])
{
	size_t shown_len = utf8_cut(shown, strlen(shown), SHOWN_MAX);

	snprintf(name, ETW_NAME_BYTES, "%.*s~%08x", (int)shown_len, shown,
		 crc32_of(full, strlen(full)));
}

/* An EVENT record with the flag EVENT_IS_CLASSIC is a classic event that has the newer header. */
bool etw_is_classic(const struct etw_record *r)
{
	return r->kind == ETW_FULL || r->kind == ETW_INSTANCE ||
	       (r->kind == ETW_EVENT && r->flags & EVENT_IS_CLASSIC);
}

/*
 * Returns true if the record has a group, or if it is classic and has a GUID. Such records have a
 * class and a type of one byte.
 */
bool etw_is_kernel(const struct etw_record *r)
{
	return r->kind != ETW_MESSAGE && (r->group != ETW_NO_GROUP || etw_is_classic(r));
}

/* Events of manifests and of TraceLogging have the newer header and an identifier of 16 bits. */
bool etw_is_provider(const struct etw_record *r)
{
	return r->kind == ETW_EVENT && !etw_is_classic(r);
}

/*
 * A record about a loss has the GUID of the class lostevent and one of the types 32 to 34. Records
 * of this class with other types report no loss.
 */
unsigned etw_lost_type(const struct etw_record *r)
{
	const char *name = r->has_guid && etw_is_classic(r) ? etw_class_name(r->guid) : NULL;

	return name && !strcmp(name, "lostevent") && r->type >= 32 && r->type <= 34 ? r->type : 0;
}

/* Finds a text up to its NUL within the bytes. Returns false if the text is empty or has no NUL. */
static bool text_in(const unsigned char *bytes, size_t size, size_t at, const char **text,
		    size_t *next)
{
	const unsigned char *end;

	if (at >= size)
		return false;
	end = memchr(bytes + at, 0, size - at);
	if (!end || end == bytes + at)
		return false;
	*text = (const char *)bytes + at;
	*next = (size_t)(end - bytes) + 1;
	return true;
}

/*
 * Finds the name of a TraceLogging event. In the schema, a size of two bytes and tags precede the
 * name. In the tags, each byte except the last has bit 7 set.
 */
static bool event_text(const struct etw_record *r, const char **text)
{
	size_t at = 2, next;

	if (!r->schema || r->channel != CHANNEL_TRACELOGGING)
		return false;
	while (at < r->schema_bytes && r->schema[at] & 0x80)
		at++;
	return text_in(r->schema, r->schema_bytes, at + 1, text, &next);
}

/* Finds the provider's name, which follows a size of two bytes in the traits. */
static bool provider_text(const struct etw_record *r, const char **text)
{
	size_t next;

	return r->traits && text_in(r->traits, r->traits_bytes, 2, text, &next);
}

/*
 * A known class has a short name. The name of any other class is the number of its group or
 * component, or the text of its GUID.
 */
void etw_class(const struct etw_record *r, char name[ETW_GUID_TEXT])
{
	const char *known = NULL;

	if (r->group != ETW_NO_GROUP) {
		known = etw_group_name((unsigned)r->group);
		if (!known) {
			/* A group without a known class is named by its number. */
			snprintf(name, ETW_GUID_TEXT, "group%02x", (unsigned)r->group);
			return;
		}
	} else if (r->kind == ETW_MESSAGE && !r->has_guid) {
		snprintf(name, ETW_GUID_TEXT, "%u", r->component);
		return;
	} else if (etw_is_classic(r)) {
		known = etw_class_name(r->guid);
	}
	if (known)
		snprintf(name, ETW_GUID_TEXT, "%s", known);
	else
		etw_guid_text(r->guid, name);
}

/*
 * The name begins with "etw.". A message has a number, an event of a provider has a name or a
 * number, and a classic event has the name or the number of its type. The array "full" is large
 * enough for the longest names that a record of 64 KiB can have.
 */
void etw_name(const struct etw_record *r, char name[ETW_NAME_BYTES])
{
	char class[ETW_GUID_TEXT], full[0x20000];
	const char *event, *provider, *type;

	etw_class(r, class);
	if (r->kind == ETW_MESSAGE) {
		snprintf(full, sizeof(full), "etw.wpp.%s.%u", class, r->id);
	} else if (etw_is_provider(r)) {
		/*
		 * The name of a provider's event is in the record. If the record has no name, the
		 * number of the event is used.
		 */
		if (event_text(r, &event))
			snprintf(full, sizeof(full), "etw.%s.%s",
				 provider_text(r, &provider) ? provider : class, event);
		else
			snprintf(full, sizeof(full), "etw.%s.%u", class, r->id);
	} else {
		type = etw_kernel_type_name(class, r->type);
		if (!type)
			type = etw_type_name(r->type);
		if (type)
			snprintf(full, sizeof(full), "etw.%s.%s", class, type);
		else
			snprintf(full, sizeof(full), "etw.%s.%u", class, r->type);
	}
	etw_shorten(full, name);
}
