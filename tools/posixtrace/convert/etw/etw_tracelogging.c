/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_tracelogging.c - reads the layout in the schema item of a TraceLogging event
 * (TraceLoggingProvider.h).
 *
 *	u16 size; tag bytes; name NUL; then for each field: name NUL, u8 in-type,
 *	[u8 out-type if in-type has bit 7], [tag bytes if out-type has bit 7],
 *	[u16 count if in-type & 0x60 is 0x20],
 *	[u16 size and bytes of a custom type if in-type & 0x60 is 0x60]
 *
 * A struct has in-type 24, and the number of its fields in the place of the out-type. The fields of
 * the struct follow.
 */
#include <string.h>

#include "convert/etw/etw_describe.h"
#include "convert/octets.h"

#define CHAIN 0x80
#define COUNT_MASK 0x60
#define COUNT_CONSTANT 0x20
#define COUNT_VARIABLE 0x40
#define COUNT_CUSTOM 0x60
#define IN_MASK 0x1f

struct parser {
	const unsigned char *p;
	size_t size, at;
	struct etw_layout *layout;
	bool no_memory; /* a function take_... failed because memory is lacking */
};

/*
 * Each function take_... reads the next part of the item. It returns false if the item is too short
 * for this part. take_field() and take_fields() also return false if the item has too many fields,
 * if structs are nested too deeply, or if memory is lacking. In the last case they set no_memory.
 */
static bool take_byte(struct parser *parser, unsigned *byte)
{
	if (parser->at == parser->size)
		return false;
	*byte = parser->p[parser->at++];
	return true;
}

static bool take_u16(struct parser *parser, unsigned *value)
{
	if (parser->size - parser->at < 2)
		return false;
	*value = octets_u16(parser->p + parser->at);
	parser->at += 2;
	return true;
}

/* Skips tags: any number of bytes with bit 7 set, and then one byte with bit 7 clear. */
static bool skip_tags(struct parser *parser)
{
	unsigned byte = CHAIN;

	while (byte & CHAIN)
		if (!take_byte(parser, &byte))
			return false;
	return true;
}

/* *name points into the record and is not checked for UTF-8. The name may be empty. */
static bool take_name(struct parser *parser, const char **name, size_t *len)
{
	const unsigned char *from = parser->p + parser->at, *nul;

	nul = memchr(from, 0, parser->size - parser->at);
	if (!nul)
		return false;
	*name = (const char *)from;
	*len = (size_t)(nul - from);
	parser->at += *len + 1;
	return true;
}

static bool take_fields(struct parser *parser, unsigned wanted, unsigned depth, unsigned *count);

/* Sets the count of an array. A constant count is in the item, a variable count in the payload. */
static bool take_count(struct parser *parser, unsigned in, struct etw_field *field)
{
	unsigned custom;

	switch (in & COUNT_MASK) {
	case COUNT_CONSTANT:
		field->count_rule = ETW_RULE_FIXED;
		return take_u16(parser, &field->count);
	case COUNT_VARIABLE:
		field->count_rule = ETW_RULE_PREFIX;
		return true;
	case COUNT_CUSTOM:
		/*
		 * The provider has defined the type. In the payload, a count precedes the bytes of
		 * the value.
		 */
		if (!take_u16(parser, &custom) || parser->size - parser->at < custom)
			return false;
		parser->at += custom;
		field->in = ETW_IN_COUNTED_BINARY;
		return true;
	default:
		return true;
	}
}

/* Reads a field. If the field is a struct, reads its members, too. */
static bool take_field(struct parser *parser, unsigned depth)
{
	unsigned in, out = 0, index = parser->layout->fields, members;
	struct etw_field *field;
	const char *name;
	size_t len;

	if (!take_name(parser, &name, &len) || !take_byte(parser, &in) ||
	    (in & CHAIN && !take_byte(parser, &out)) || (out & CHAIN && !skip_tags(parser)))
		return false;
	field = etw_layout_add(parser->layout, name, len);
	if (!field) {
		parser->no_memory = index < ETW_FIELDS_MAX;
		return false;
	}
	field->in = in & IN_MASK;
	field->out = out & ~(unsigned)CHAIN;
	if (!take_count(parser, in, field))
		return false;
	if (field->in == ETW_IN_BINARY)
		field->in = ETW_IN_COUNTED_BINARY;
	field->next = index + 1;
	if (field->in != ETW_IN_STRUCT)
		return true;
	members = field->out;
	field->out = 0;
	field->first = index + 1;
	if (!take_fields(parser, members, depth + 1, &members))
		return false;
	field = &parser->layout->field[index]; /* the array may have moved */
	field->members = members;
	field->next = parser->layout->fields;
	return true;
}

/*
 * Reads "wanted" fields, or all fields up to the end if "wanted" is UINT_MAX. The function checks
 * the depth, which bounds the recursion.
 */
static bool take_fields(struct parser *parser, unsigned wanted, unsigned depth, unsigned *count)
{
	if (depth > ETW_DEPTH_MAX)
		return false;
	for (*count = 0; *count < wanted; ++*count) {
		if (wanted == ~0u && parser->at == parser->size)
			return true;
		if (!take_field(parser, depth))
			return false;
	}
	return true;
}

/*
 * Reads the whole item and returns true, or returns false as the functions above do. The item has
 * its own size, which must be within the record.
 */
static bool take_item(struct parser *parser)
{
	const char *name;
	size_t len;

	if (parser->size < 3 || octets_u16(parser->p) > parser->size)
		return false;
	parser->size = octets_u16(parser->p);
	if (parser->size < 3 || !skip_tags(parser) || !take_name(parser, &name, &len))
		return false;
	parser->layout = etw_layout_new();
	parser->no_memory = !parser->layout;
	return parser->layout && take_fields(parser, ~0u, 0, &parser->layout->top);
}

bool etw_tracelogging(const struct etw_record *r, struct etw_layout **layout, bool *damaged)
{
	struct parser parser = { r->schema, r->schema_bytes, 2, NULL, false };

	*layout = NULL;
	*damaged = false;
	if (!r->schema)
		return true;
	if (take_item(&parser)) {
		*layout = parser.layout;
		return true;
	}
	etw_layout_free(parser.layout);
	*damaged = !parser.no_memory;
	return !parser.no_memory;
}
