/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_schema.c - sends and receives schemas of event types, in the dialect of posixtrace. If the
 * sender has the option --schemas, an event RKH_SCHEMA before the first event of a type has the
 * schema of the type. A schema may be longer than a frame, so several such events may have its
 * pieces.
 *
 * The items of an event RKH_SCHEMA are the number of the type, the length of the schema, the offset
 * of the piece, and the piece. Events RKH_SCHEMA are not events of the trace and are not counted.
 */
#include <string.h>

#include "convert/octets.h"
#include "convert/rkh/rkh_sink.h"
#include "convert/rkh/rkh_source.h"

/* the greatest number of bytes of a piece, so that its frame is shorter than RKH_FRAME_MAX */
#define PIECE_BYTES 512

/*
 * A schema that is longer than the library's limit is not sent, because a reader would not accept
 * it.
 */
void rkh_sink_schema(struct rkh_sink *sink, uint32_t number, const char *schema, uint32_t ticks)
{
	size_t len = strlen(schema);

	if (!sink->has_schema)
		sink->schema = (uint32_t)sink->used++;
	sink->has_schema = true;
	if (!sink->is_schema_named)
		rkh_sink_name(sink, sink->schema, RKH_SCHEMA, strlen(RKH_SCHEMA), ticks);
	sink->is_schema_named = true;
	for (size_t at = 0; at < len && len <= POSIX_TRACE_SCHEMA_MAX_NP; at += PIECE_BYTES) {
		size_t piece = len - at < PIECE_BYTES ? len - at : PIECE_BYTES;

		rkh_sink_begin_event(sink, sink->schema, ticks);
		rkh_write_item(&sink->writer, RKH_UI32, number);
		rkh_write_item(&sink->writer, RKH_UI32, len);
		rkh_write_item(&sink->writer, RKH_UI32, at);
		rkh_write_number(&sink->writer, RKH_TEXT, 1);
		rkh_write_bytes(&sink->writer, schema + at, piece);
		rkh_write_number(&sink->writer, 0, 1);
		rkh_write_end(&sink->writer);
	}
}

struct piece {
	uint32_t number, total, at;
	const char *text;
	size_t len;
};

/* Returns whether these items are exactly one piece. */
static bool read_piece(const struct rkh_source *source, const unsigned char *items, size_t len,
		       struct piece *piece)
{
	uint32_t *const words[] = { &piece->number, &piece->total, &piece->at };
	struct rkh_item item;
	size_t at = 0;

	for (unsigned i = 0; i < 3; i++) {
		if (rkh_item(&source->decoder.config, true, items, len, &at, &item) <= 0 ||
		    item.type != RKH_UI32)
			return false;
		*words[i] = octets_u32(item.value);
	}
	if (rkh_item(&source->decoder.config, true, items, len, &at, &item) <= 0 ||
	    item.type != RKH_TEXT || at != len)
		return false;
	piece->text = (const char *)item.value;
	piece->len = strlen(piece->text);
	return piece->len && piece->total <= POSIX_TRACE_SCHEMA_MAX_NP &&
	       piece->at < piece->total && piece->len <= piece->total - piece->at;
}

/*
 * Pieces must arrive in order. If a piece is missing, the schema is not used, and the events of the
 * type have no fields.
 */
bool rkh_source_schema(struct rkh_source *source, const struct rkh_frame *frame, size_t at,
		       const char *name)
{
	struct rkh_schema_text *schema = &source->schema;
	struct piece piece;

	/*
	 * The frame that gives the type its name may be missing. Therefore a piece whose type has
	 * no name is recognized by its form.
	 */
	if ((name && strcmp(name, RKH_SCHEMA) != 0) || frame->raw ||
	    !read_piece(source, frame->args + at, frame->len - at, &piece))
		return false;
	if (!piece.at)
		*schema = (struct rkh_schema_text){ .number = piece.number, .total = piece.total };
	if (piece.number != schema->number || piece.total != schema->total ||
	    piece.at != schema->len)
		return true; /* the piece before this one is missing */
	memcpy(schema->text + schema->len, piece.text, piece.len);
	schema->len += piece.len;
	schema->text[schema->len] = '\0';
	if (schema->len == schema->total)
		rkh_source_named(source, rkh_names_set(source->names, RKH_SCHEMAS, piece.number,
						       schema->text));
	return true;
}
