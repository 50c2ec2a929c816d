/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_value.c - reads values of ETW payloads. Types are those of TDH (tdh.h: TDH_IN_TYPE_*,
 * TDH_OUT_TYPE_*). Each function checks the remaining bytes before it reads. The functions take_...
 * that return bool return false if the payload has no valid value.
 */
#include "convert/etw/etw_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/real.h"
#include "convert/etw/etw.h"
#include "convert/octets.h"

/* ---- kinds */

/*
 * Returns the kind of an integer. The out-type and the size decide whether the integer is shown as
 * a decimal number, a hexadecimal number, a truth value, a character or a text.
 */
static struct etw_kind_of_value integer_kind(const struct etw_field *f, unsigned size,
					     bool is_signed)
{
	struct etw_kind_of_value kind = { is_signed ? ETW_FORM_SIGNED : ETW_FORM_UNSIGNED, size };

	if (f->out >= ETW_OUT_HEX_BINARY && f->out <= ETW_OUT_HEX64)
		kind.form = ETW_FORM_HEX;
	else if (f->out == ETW_OUT_NTSTATUS || f->out == ETW_OUT_HRESULT ||
		 f->out == ETW_OUT_CODE_POINTER)
		kind.form = ETW_FORM_HEX;
	else if (f->out == ETW_OUT_BOOL && size == 1)
		kind.form = ETW_FORM_BOOL;
	else if (f->out == ETW_OUT_STRING && size == 1)
		kind.form = ETW_FORM_CHAR;
	else if (f->out == ETW_OUT_STRING && size == 2)
		kind = (struct etw_kind_of_value){ ETW_FORM_TEXT, 0 };
	else if (f->out == ETW_OUT_IPV4 && size == 4)
		kind = (struct etw_kind_of_value){ ETW_FORM_TEXT, 0 };
	return kind;
}

/*
 * Returns the kind for an in-type and out-type. Schema and data are made by this function, so they
 * agree.
 */
struct etw_kind_of_value etw_value_kind(const struct etw_field *f)
{
	switch (f->in) {
	case ETW_IN_S8: return integer_kind(f, 1, true);
	case ETW_IN_U8: return integer_kind(f, 1, false);
	case ETW_IN_S16: return integer_kind(f, 2, true);
	case ETW_IN_U16: return integer_kind(f, 2, false);
	case ETW_IN_S32: return integer_kind(f, 4, true);
	case ETW_IN_U32: return integer_kind(f, 4, false);
	case ETW_IN_S64: return integer_kind(f, 8, true);
	case ETW_IN_U64: return integer_kind(f, 8, false);
	case ETW_IN_FLOAT: return (struct etw_kind_of_value){ ETW_FORM_FLOAT, 4 };
	case ETW_IN_DOUBLE: return (struct etw_kind_of_value){ ETW_FORM_FLOAT, 8 };
	case ETW_IN_BOOL32: return (struct etw_kind_of_value){ ETW_FORM_BOOL, 1 };
	case ETW_IN_HEX32: return (struct etw_kind_of_value){ ETW_FORM_HEX, 4 };
	case ETW_IN_POINTER:
	case ETW_IN_HEX64: return (struct etw_kind_of_value){ ETW_FORM_HEX, 8 };
	case ETW_IN_SIZE: return (struct etw_kind_of_value){ ETW_FORM_UNSIGNED, 8 };
	case ETW_IN_FILETIME:
	case ETW_IN_SYSTEMTIME: return (struct etw_kind_of_value){ ETW_FORM_TIME, 8 };
	case ETW_IN_ANSI_CHAR: return (struct etw_kind_of_value){ ETW_FORM_CHAR, 1 };
	case ETW_IN_BINARY:
	case ETW_IN_COUNTED_BINARY:
		if (f->out == ETW_OUT_IPV6 || f->out == ETW_OUT_SOCKET_ADDRESS)
			return (struct etw_kind_of_value){ ETW_FORM_TEXT, 0 };
		__attribute__((fallthrough));
	case ETW_IN_HEXDUMP: return (struct etw_kind_of_value){ ETW_FORM_BYTES, 0 };
	default: return (struct etw_kind_of_value){ ETW_FORM_TEXT, 0 };
	}
}

/* Returns a type of schemas (include/trace_np.h). An integer has 1, 2, 4 or 8 bytes. */
const char *etw_value_type(struct etw_kind_of_value kind)
{
	static const char *const number[][4] = {
		[ETW_FORM_UNSIGNED] = { "u8", "u16", "u32", "u64" },
		[ETW_FORM_SIGNED] = { "s8", "s16", "s32", "s64" },
		[ETW_FORM_HEX] = { "x8", "x16", "x32", "x64" },
	};

	switch (kind.form) {
	case ETW_FORM_FLOAT: return kind.size == 4 ? "f32" : "f64";
	case ETW_FORM_BOOL: return "bool";
	case ETW_FORM_CHAR: return "char";
	case ETW_FORM_TIME: return "time";
	case ETW_FORM_TEXT: return "str";
	case ETW_FORM_BYTES: return "bytes";
	default:
		return number[kind.form][kind.size == 1 ? 0 : kind.size == 2 ? 1 :
					 kind.size == 4 ? 2 : 3];
	}
}

/* ---- from the payload */

/* Returns the next bytes of the payload, or NULL if fewer bytes are left. */
static const unsigned char *take_raw(struct etw_reader *r, size_t bytes)
{
	if (bytes > r->size - r->at)
		return NULL;
	r->at += bytes;
	return r->bytes + r->at - bytes;
}

/* Reads a little-endian number. A signed number is extended to 64 bits with its sign. */
static bool take_number(struct etw_reader *r, unsigned bytes, bool is_signed, uint64_t *number)
{
	const unsigned char *p = take_raw(r, bytes);

	if (!p)
		return false;
	*number = octets_get(p, bytes, false);
	if (is_signed && bytes < 8 && *number >> (8 * bytes - 1))
		*number |= ~UINT64_C(0) << 8 * bytes;
	return true;
}

/* Reads a text of the given length, or up to a NUL or the end of the payload. */
static bool take_text(const struct etw_field *f, struct etw_reader *r, size_t length,
		      struct etw_bytes *to)
{
	unsigned width = f->in == ETW_IN_UTF16 ? 2 : 1;
	size_t left = r->size - r->at, len = 0;
	const unsigned char *p = r->bytes + r->at;

	if (f->length_rule != ETW_RULE_NONE) {
		if (length > left / width)
			return false;
		len = length * width;
		r->at += len;
	} else {
		while (len + width <= left && (p[len] || (width == 2 && p[len + 1])))
			len += width;
		r->at += len + width <= left ? len + width : left;
	}
	if (width == 2)
		etw_utf16_text(p, len, to);
	else
		etw_ansi_text(p, len, to);
	return true;
}

/* Reads a length of "prefix" bytes, and then the bytes of this length. */
static bool take_counted(struct etw_reader *r, unsigned prefix, bool big, const unsigned char **p,
			 size_t *len)
{
	const unsigned char *count = take_raw(r, prefix);

	if (!count)
		return false;
	*len = (size_t)octets_get(count, prefix, big);
	*p = take_raw(r, *len);
	return *p != NULL;
}

/* Reads a SID, which has 8 bytes and then up to 15 subauthorities of 4 bytes. */
static bool take_sid(struct etw_reader *r, struct etw_bytes *to)
{
	size_t left = r->size - r->at;
	const unsigned char *sid = r->bytes + r->at;

	if (left < 8 || sid[1] > 15 || left < 8 + 4 * (size_t)sid[1])
		return false;
	r->at += 8 + 4 * (size_t)sid[1];
	etw_sid_text(sid, sid[1], to);
	return true;
}

/*
 * Returns whether the bytes are a SID of revision 1 with subauthorities and an authority below 256.
 */
static bool is_sid(const unsigned char *p, size_t left)
{
	static const unsigned char zeros[5];

	return left >= 8 && p[0] == 1 && p[1] && p[1] <= 15 &&
	       !memcmp(p + 2, zeros, sizeof(zeros)) && left >= 8 + 4 * (size_t)p[1];
}

/*
 * A TOKEN_USER of two pointers precedes the SID. If there is no SID, the payload has only four
 * bytes of 0 in place of the TOKEN_USER and the SID. But a program may clear the first pointer of
 * the TOKEN_USER and still write a SID. Therefore the function also examines the place behind the
 * TOKEN_USER. If this place has a SID, the four bytes of 0 do not mean that the SID is missing.
 */
static bool take_wbem_sid(struct etw_reader *r, struct etw_bytes *to)
{
	size_t token = 2 * r->pointer_bytes, left = r->size - r->at;
	const unsigned char *p = take_raw(r, 4);

	if (!p)
		return false;
	if (!octets_u32(p) && !(left > token && is_sid(p + token, left - token)))
		return true;
	return take_raw(r, token - 4) && take_sid(r, to);
}

static bool take_guid(struct etw_reader *r, struct etw_bytes *to)
{
	const unsigned char *p = take_raw(r, ETW_GUID_BYTES);
	char text[ETW_GUID_TEXT];

	if (!p)
		return false;
	etw_guid_text(p, text);
	etw_bytes_text(to, text);
	return true;
}

/* Reads a SYSTEMTIME, [MS-DTYP] 2.3.13. */
static bool take_system_time(struct etw_reader *r, uint64_t *ns)
{
	const unsigned char *p = take_raw(r, 16);
	struct tm tm = { 0 };

	if (!p)
		return false;
	tm.tm_year = octets_u16(p) - 1900;
	tm.tm_mon = octets_u16(p + 2) - 1;
	tm.tm_mday = octets_u16(p + 6);
	tm.tm_hour = octets_u16(p + 8);
	tm.tm_min = octets_u16(p + 10);
	tm.tm_sec = octets_u16(p + 12);
	/*
	 * A time before 1678 or after 2261 becomes 0, because its nanoseconds may not fit in 64
	 * bits.
	 */
	*ns = octets_u16(p) < 1678 || octets_u16(p) > 2261 ? 0 :
	      (uint64_t)timegm(&tm) * 1000000000 + octets_u16(p + 14) * UINT64_C(1000000);
	return true;
}

/* Reads bytes, or an address that becomes text. */
static bool take_bytes(const struct etw_field *f, struct etw_reader *r, size_t length,
		       struct etw_value *v)
{
	const unsigned char *p;
	size_t len;

	if (f->in == ETW_IN_COUNTED_BINARY || f->in == ETW_IN_HEXDUMP) {
		if (!take_counted(r, f->in == ETW_IN_HEXDUMP ? 4 : 2, false, &p, &len))
			return false;
	} else {
		len = f->length_rule != ETW_RULE_NONE ? length :
		      f->out == ETW_OUT_IPV6 ? 16 : r->size - r->at;
		p = take_raw(r, len);
		if (!p)
			return false;
	}
	if (v->kind.form == ETW_FORM_BYTES) {
		v->bytes = p;
		v->len = len;
	} else if (f->out == ETW_OUT_IPV6) {
		if (len == 16)
			etw_address_text(AF_INET6, p, &v->text);
	} else {
		etw_socket_text(p, len, &v->text);
	}
	return true;
}

/* Reads a value that becomes text. */
static bool take_as_text(const struct etw_field *f, struct etw_reader *r, size_t length,
			 struct etw_value *v)
{
	const unsigned char *p;
	size_t len;

	switch (f->in) {
	case ETW_IN_UTF16:
	case ETW_IN_ANSI:
		return take_text(f, r, length, &v->text);
	case ETW_IN_COUNTED_UTF16:
	case ETW_IN_COUNTED_UTF16_OLD:
	case ETW_IN_REVERSED_UTF16:
		if (!take_counted(r, 2, f->in == ETW_IN_REVERSED_UTF16, &p, &len))
			return false;
		etw_utf16_text(p, len, &v->text);
		return true;
	case ETW_IN_COUNTED_ANSI:
	case ETW_IN_COUNTED_ANSI_OLD:
	case ETW_IN_REVERSED_ANSI:
		if (!take_counted(r, 2, f->in == ETW_IN_REVERSED_ANSI, &p, &len))
			return false;
		etw_ansi_text(p, len, &v->text);
		return true;
	case ETW_IN_REST_UTF16:
	case ETW_IN_REST_ANSI:
		len = r->size - r->at;
		p = take_raw(r, len);
		if (f->in == ETW_IN_REST_UTF16)
			etw_utf16_text(p, len, &v->text);
		else
			etw_ansi_text(p, len, &v->text);
		return true;
	case ETW_IN_UTF16_CHAR:
	case ETW_IN_S16:
	case ETW_IN_U16:
		p = take_raw(r, 2);
		if (p)
			etw_utf16_text(p, 2, &v->text);
		return p;
	case ETW_IN_S32:
	case ETW_IN_U32: /* an address of IPv4, in network order */
		p = take_raw(r, 4);
		if (p)
			etw_address_text(AF_INET, p, &v->text);
		return p;
	case ETW_IN_GUID: return take_guid(r, &v->text);
	case ETW_IN_SID: return take_sid(r, &v->text);
	case ETW_IN_WBEM_SID: return take_wbem_sid(r, &v->text);
	case ETW_IN_BINARY:
	case ETW_IN_COUNTED_BINARY: return take_bytes(f, r, length, v);
	default: return false; /* a type that this version does not know */
	}
}

/* Numbers are extended to 64 bits. A pointer has reader->pointer_bytes bytes. */
bool etw_value_take(const struct etw_field *f, struct etw_reader *r, size_t length,
		    struct etw_value *v)
{
	uint64_t raw;

	v->kind = etw_value_kind(f);
	v->number = 0;
	v->text.len = 0;
	switch (v->kind.form) {
	case ETW_FORM_TEXT:
		return take_as_text(f, r, length, v);
	case ETW_FORM_BYTES:
		return take_bytes(f, r, length, v);
	case ETW_FORM_TIME:
		if (f->in == ETW_IN_SYSTEMTIME)
			return take_system_time(r, &v->number);
		if (!take_number(r, 8, false, &raw))
			return false;
		v->number = (uint64_t)etw_filetime_ns((int64_t)raw);
		return true;
	case ETW_FORM_BOOL:
		if (!take_number(r, f->in == ETW_IN_BOOL32 ? 4 : 1, false, &raw))
			return false;
		v->number = raw != 0;
		return true;
	default:
		break;
	}
	if (f->in == ETW_IN_POINTER || f->in == ETW_IN_SIZE)
		return take_number(r, r->pointer_bytes, false, &v->number);
	if (!take_number(r, v->kind.size, v->kind.form == ETW_FORM_SIGNED, &v->number))
		return false;
	/* Ports are in network order. */
	if (f->out == ETW_OUT_PORT && v->kind.size == 2)
		v->number = (v->number & 0xff) << 8 | (v->number >> 8 & 0xff);
	return true;
}

/* ---- decoded values */

/*
 * The function stores texts and bytes in the form that schemas define for the types "str" and
 * "bytes". A NUL follows a text, and a length of four bytes precedes bytes.
 */
void etw_value_pack(const struct etw_value *v, struct etw_bytes *to)
{
	if (v->kind.form == ETW_FORM_TEXT) {
		etw_bytes_add(to, v->text.bytes, v->text.len);
		etw_bytes_number(to, 0, 1);
	} else if (v->kind.form == ETW_FORM_BYTES) {
		etw_bytes_number(to, v->len, 4);
		etw_bytes_add(to, v->bytes, v->len);
	} else {
		etw_bytes_number(to, v->number, v->kind.size);
	}
}

static void float_text(const struct etw_value *v, char text[REAL_BYTES])
{
	uint32_t bits = (uint32_t)v->number;
	double d;
	float f;

	if (v->kind.size == 4) {
		memcpy(&f, &bits, sizeof(f));
		real_text(text, (double)f, true);
	} else {
		memcpy(&d, &v->number, sizeof(d));
		real_text(text, d, false);
	}
}

/*
 * If the map of the field has a name for the value, the name replaces the number. The function does
 * not use a map of bits: the names of bits are only in the schema.
 */
void etw_value_text(const struct etw_field *f, const struct etw_value *v, struct etw_bytes *to)
{
	const char *name = f->map && !f->map->bits ? etw_map_name(f->map, v->number) : NULL;
	char text[64] = "";

	switch (v->kind.form) {
	case ETW_FORM_TEXT:
		etw_bytes_add(to, v->text.bytes, v->text.len);
		return;
	case ETW_FORM_BYTES:
		for (size_t i = 0; i < v->len; i++) {
			snprintf(text, sizeof(text), "%02x", v->bytes[i]);
			etw_bytes_add(to, text, 2);
		}
		return;
	case ETW_FORM_FLOAT:
		float_text(v, text);
		break;
	case ETW_FORM_HEX:
		snprintf(text, sizeof(text), "0x%" PRIx64, v->number);
		break;
	case ETW_FORM_SIGNED:
	case ETW_FORM_TIME:
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)v->number);
		break;
	case ETW_FORM_BOOL:
		etw_bytes_text(to, v->number ? "true" : "false");
		return;
	case ETW_FORM_CHAR:
		etw_character_text((uint32_t)v->number & 0xff, to);
		return;
	case ETW_FORM_UNSIGNED:
		snprintf(text, sizeof(text), "%" PRIu64, v->number);
		break;
	}
	etw_bytes_text(to, name ? name : text);
}
