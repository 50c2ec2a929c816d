/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_listing.c - makes a line of text for each frame (F), for each fault (!), and for the sums
 * (=).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "base/vec.h"
#include "convert/octets.h"
#include "convert/rkh/rkh.h"

/* Makes room for len bytes more and a NUL. Returns false if memory is lacking. */
static bool make_room(struct rkh_text *text, size_t len)
{
	if (!text->failed)
		text->failed = !vec_reserve(&text->bytes, &text->room, text->len, len + 1);
	return !text->failed;
}

static void put_format(struct rkh_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends formatted text of at most 511 bytes. */
static void put_format(struct rkh_text *text, const char *format, ...)
{
	va_list args;
	int n;

	if (!make_room(text, 512))
		return;
	va_start(args, format);
	n = vsnprintf(text->bytes + text->len, text->room - text->len, format, args);
	va_end(args);
	if (n > 0)
		/*
		 * Longer output would be shortened, but the texts of all callers have at most 511
		 * bytes.
		 */
		text->len += (size_t)n < text->room - text->len ? (size_t)n
								: text->room - text->len - 1;
}

/*
 * Appends text as printable ASCII, because the text comes from the input. A backslash precedes each
 * quote and each backslash. Bytes that are not printable are written as \xNN.
 */
static void put_text(struct rkh_text *text, const unsigned char *p, size_t len)
{
	if (!make_room(text, 4 * len))
		return;
	for (size_t i = 0; i < len; i++) {
		char *to = text->bytes + text->len;

		if (p[i] == '"' || p[i] == '\\') {
			to[0] = '\\';
			to[1] = (char)p[i];
			text->len += 2;
		} else if (p[i] >= 0x20 && p[i] < 0x7f) {
			to[0] = (char)p[i];
			text->len++;
		} else {
			text->len += (size_t)sprintf(to, "\\x%02X", p[i]);
		}
	}
}

/* Appends bytes as hexadecimal digits in brackets. */
static void put_bytes(struct rkh_text *text, const unsigned char *p, size_t len)
{
	put_format(text, "[");
	if (!make_room(text, 3 * len + 1))
		return;
	for (size_t i = 0; i < len; i++)
		text->len += (size_t)sprintf(text->bytes + text->len, i ? " %02X" : "%02X", p[i]);
	put_format(text, "]");
}

/* Appends the name of a value in parentheses, if it has one. */
static void put_name(struct rkh_text *text, const struct rkh_names *names, enum rkh_space space,
		     uint64_t value)
{
	const char *name = names ? rkh_names_find(names, space, (uint32_t)value) : NULL;

	if (!name)
		return;
	put_format(text, "(");
	put_text(text, (const unsigned char *)name, strlen(name));
	put_format(text, ")");
}

/* Appends an address with its name. */
static void put_pointer(struct rkh_text *text, const struct rkh_names *names,
			const unsigned char *p, unsigned size)
{
	uint64_t value = rkh_number(p, size);

	put_format(text, "0x%0*" PRIX64, (int)(2 * size), value);
	put_name(text, names, RKH_ADDRESSES, value);
}

/* Appends the arguments of a record. rkh_measure() has checked their length. */
static void put_args(struct rkh_text *text, const struct rkh_frame *frame,
		     const struct rkh_config *config, const struct rkh_names *names)
{
	const struct rkh_record *record = frame->record;
	const unsigned char *p = frame->args;

	for (unsigned i = 0; i < record->args; i++) {
		enum rkh_kind kind = record->arg[i].kind;
		unsigned size = rkh_size(config, kind);
		/*
		 * A dictionary record defines the name of a value, so the name is not shown with
		 * this value.
		 */
		bool defines = i + 2 == record->args && record->arg[i + 1].kind == RKH_STR;

		if (!rkh_is_present(config, kind))
			continue;
		put_format(text, " %s=", record->arg[i].name);
		switch (kind) {
		case RKH_SYM:
		case RKH_FUN:
		case RKH_SNDR:
			put_pointer(text, defines ? NULL : names, p, size);
			break;
		case RKH_STR:
			size = (unsigned)strlen((const char *)p);
			put_format(text, "\"");
			put_text(text, p, size);
			put_format(text, "\"");
			size++;
			break;
		default:
			put_format(text, "%" PRIu64, rkh_number(p, size));
			if (kind == RKH_SIG && !defines)
				put_name(text, names, RKH_SIGNALS, rkh_number(p, size));
		}
		p += size;
	}
}

/* Appends an item of a user event with its type. */
static void put_item(struct rkh_text *text, const struct rkh_item *item,
		     const struct rkh_names *names)
{
	uint64_t value = rkh_number(item->value, (unsigned)(item->len < 8 ? item->len : 8));
	uint32_t word = (uint32_t)value;
	char real[REAL_BYTES];
	double wide;
	float narrow;

	put_format(text, " %s", rkh_type_names[item->type]);
	if (item->width)
		put_format(text, "/%u", item->width);
	put_format(text, "=");
	switch (item->type) {
	case RKH_I8:
		put_format(text, "%d", (int8_t)value);
		break;
	case RKH_I16:
		put_format(text, "%d", (int16_t)value);
		break;
	case RKH_I32:
		put_format(text, "%" PRId32, (int32_t)value);
		break;
	case RKH_I64:
		put_format(text, "%" PRId64, (int64_t)value);
		break;
	case RKH_UI8:
	case RKH_UI16:
	case RKH_UI32:
	case RKH_U64:
		put_format(text, "%" PRIu64, value);
		break;
	case RKH_X32:
		put_format(text, "0x%08" PRIX32, word);
		break;
	case RKH_TEXT:
		put_format(text, "\"");
		put_text(text, item->value, item->len);
		put_format(text, "\"");
		break;
	case RKH_MEM:
		put_bytes(text, item->value, item->len);
		break;
	case RKH_OBJ:
	case RKH_FUNCTION:
		put_pointer(text, names, item->value, (unsigned)item->len);
		break;
	case RKH_ESIG:
		put_format(text, "%" PRIu64, value);
		put_name(text, names, RKH_SIGNALS, value);
		break;
	case RKH_F32:
		memcpy(&narrow, &word, sizeof(narrow));
		real_text(real, (double)narrow, true);
		put_format(text, "%s", real);
		break;
	case RKH_F64:
		memcpy(&wide, &value, sizeof(wide));
		real_text(real, wide, false);
		put_format(text, "%s", real);
		break;
	}
}

/* Appends the contents of a TCFG. */
static void put_config(struct rkh_text *text, const struct rkh_config *c)
{
	put_format(text, " version=%x.%x.%02x flags=0x%08" PRIX32, c->version >> 12,
		   c->version >> 8 & 15, c->version & 0xff, c->flags);
	put_format(
		text,
		" sz.sig=%u sz.ts=%u sz.ptr=%u sz.ntimer=%u sz.nblock=%u sz.nelem=%u sz.esize=%u "
		"sz.bsize=%u epools=%u hz=%" PRIu32,
		c->sig, c->ts, c->ptr, c->ntimer, c->nblock, c->nelem, c->esize, c->bsize,
		c->epools, c->hz);
}

/* Appends the group and the name of the frame's record, or the id if the record is unknown. */
static void put_title(struct rkh_text *text, const struct rkh_frame *frame,
		      const struct rkh_names *names, bool user)
{
	const char *name;

	if (frame->record) {
		put_format(text, " %s.%s", frame->record->group, frame->record->name);
	} else if (user) {
		name = rkh_names_find(names, RKH_EVENTS, frame->id - RKH_USER);
		put_format(text, " USR.");
		if (name)
			put_text(text, (const unsigned char *)name, strlen(name));
		else
			put_format(text, "%u", frame->id - RKH_USER);
	} else {
		put_format(text, " %s", frame->is_config ? "FWK.TCFG" : "-");
	}
}

/*
 * The line has offset, id, name, sequence number, timestamp, and the arguments by name. Bytes
 * behind the arguments follow as "raw".
 */
void rkh_list_frame(struct rkh_text *text, const struct rkh_frame *frame,
		    const struct rkh_decoder *decoder, const struct rkh_names *names)
{
	bool user = decoder->dialect != RKH_DIALECT_2 && frame->id >= RKH_USER &&
		    frame->id < RKH_USER_END;
	struct rkh_item item;
	size_t at = 0;

	text->len = 0;
	put_format(text, "F off=%" PRIu64 " id=%02X", frame->offset, frame->id);
	put_title(text, frame, names, user);
	if (frame->has_seq)
		put_format(text, " seq=%u", frame->seq);
	else
		put_format(text, " seq=-");
	if (frame->has_time)
		put_format(text, " ts=%" PRIu64, frame->ticks);
	else
		put_format(text, " ts=-");
	if (frame->is_config)
		put_config(text, &decoder->config);
	else if (frame->record && !frame->raw)
		put_args(text, frame, &decoder->config, names);
	else if (user && !frame->raw)
		while (rkh_item(&decoder->config, decoder->dialect == RKH_DIALECT_PTX, frame->args,
				frame->used, &at, &item) > 0)
			put_item(text, &item, names);
	if (frame->raw || frame->used < frame->len) {
		put_format(text, " raw=");
		put_bytes(text, frame->args + frame->used, frame->len - frame->used);
	}
}

/* A line begins with "!" and has the name of the fault, which posixtrace-convert(1) explains. */
void rkh_list_trouble(struct rkh_text *text, const struct rkh_trouble *t)
{
	text->len = 0;
	put_format(text, "! off=%" PRIu64 " %s", t->offset, rkh_anomaly_names[t->anomaly]);
	switch (t->anomaly) {
	case RKH_CHECKSUM:
		put_format(text, " len=%" PRIu64 " sum=0x%02X", t->bytes, t->sum);
		break;
	case RKH_SHORT:
	case RKH_ABORT:
	case RKH_BAD_ESCAPE:
	case RKH_OVERLONG:
	case RKH_TRUNCATED:
		put_format(text, " len=%" PRIu64, t->bytes);
		break;
	case RKH_NOISE:
	case RKH_ARGS_TRAILING:
		put_format(text, " bytes=%" PRIu64, t->bytes);
		break;
	case RKH_GAP:
		put_format(text, " expected=%u got=%u missing=%u damaged=%" PRIu64, t->expected,
			   t->got, t->missing, t->damaged);
		break;
	case RKH_DUPLICATE:
		put_format(text, " seq=%u", t->got);
		break;
	default:
		break;
	}
}

/* Writes the last line of a listing. The two kinds of faults in arguments have one common sum. */
void rkh_list_counts(struct rkh_text *text, const struct rkh_counts *c)
{
	static const enum rkh_anomaly order[] = {
		RKH_CHECKSUM, RKH_SHORT, RKH_ABORT, RKH_BAD_ESCAPE, RKH_OVERLONG, RKH_TRUNCATED,
		RKH_UNKNOWN,
	};

	text->len = 0;
	put_format(text, "= frames=%" PRIu64 " good=%" PRIu64, c->frames, c->good);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		put_format(text, " %s=%" PRIu64, rkh_anomaly_names[order[i]], c->of[order[i]]);
	put_format(text,
		   " args=%" PRIu64 " gaps=%" PRIu64 " missing=%" PRIu64 " duplicate=%" PRIu64
		   " noise=%" PRIu64,
		   c->of[RKH_ARGS_SHORT] + c->of[RKH_ARGS_TRAILING], c->of[RKH_GAP], c->missing,
		   c->of[RKH_DUPLICATE], c->noise);
}
