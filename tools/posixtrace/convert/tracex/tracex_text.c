/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_text.c - converts Intel HEX, S-records and hexadecimal text into the bytes that they
 * describe. Debuggers save memory in these forms.
 *
 * The offset of a byte in the result is the difference between its address and the lowest address.
 * Bytes without an address in the text are zero. The range of addresses must not exceed the length
 * of the text. Otherwise a few lines with distant addresses would require gigabytes of memory.
 * Functions that return int return 0, EINVAL after a finding, or ENOMEM.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "convert/octets.h"
#include "convert/tracex/tracex.h"

#define RECORD_BYTES 260 /* count, address, type, 255 bytes of data, checksum */

struct text {
	const unsigned char *p, *end, *begin;
	size_t line;
	const unsigned char *line_begin;
	struct findings *f;
};

/* A record of Intel HEX or an S-record: its data and the address of the data, or the end. */
struct record {
	uint64_t address;
	size_t len;
	bool data, last;
	unsigned char bytes[RECORD_BYTES];
};

bool tracex_is(const unsigned char *p, size_t size)
{
	return (size >= 4 && (!memcmp(p, "TXTB", 4) || !memcmp(p, "BTXT", 4))) ||
	       (size >= 8 && !memcmp(p, "\0\0\0\0TXTB", 8));
}

/*
 * Recognizes a text by its first bytes. Hexadecimal text has no mark, so the bytes that it
 * describes must begin as a dump does.
 */
bool tracex_is_text(const unsigned char *p, size_t size)
{
	unsigned char first[8];
	size_t digits = 0;

	if (size >= 2 && p[0] == ':' && text_digit(p[1]) < 16)
		return true;
	if (size >= 2 && p[0] == 'S' && p[1] >= '0' && p[1] <= '9')
		return true;
	memset(first, 0, sizeof(first));
	for (size_t i = 0; i < size && digits < 16; i++) {
		if (isspace(p[i]))
			continue;
		if (text_digit(p[i]) > 15)
			return false;
		first[digits / 2] |=
			(unsigned char)(text_digit(p[i]) << (digits & 1 ? 0 : 4));
		digits++;
	}
	return tracex_is(first, digits / 2);
}

/*
 * Refuses the text by a finding with the number and the offset of the line. Always returns EINVAL.
 */
static int tracex_text_bad(const struct text *t, const char *what)
{
	return finding(t->f, FINDING_REFUSAL, "T16", (uint64_t)(t->line_begin - t->begin),
		       "line %zu: %s", t->line, what);
}

/* Reads pairs of digits up to the end of the line. */
static int read_pairs(struct text *t, unsigned char *bytes, size_t *len)
{
	*len = 0;
	while (t->p < t->end && *t->p != '\n' && *t->p != '\r') {
		unsigned high = text_digit(*t->p);
		unsigned low = t->end - t->p > 1 ? text_digit(t->p[1]) : 16;

		if (high > 15 || low > 15)
			return tracex_text_bad(t, "not a hexadecimal digit");
		if (*len == RECORD_BYTES)
			return tracex_text_bad(t, "the line is longer than a record can be");
		bytes[(*len)++] = (unsigned char)(high << 4 | low);
		t->p += 2;
	}
	return 0;
}

static unsigned tracex_text_sum(const unsigned char *bytes, size_t len)
{
	unsigned total = 0;

	for (size_t i = 0; i < len; i++)
		total += bytes[i];
	return total & 0xff;
}

/*
 * Reads one record of Intel HEX, which begins with a colon. *upper is the base address, which
 * records of types 2 and 4 set. The function compares the count with the length of the line before
 * it copies the data.
 */
static int read_hex(struct text *t, uint64_t *upper, struct record *r)
{
	unsigned char b[RECORD_BYTES];
	size_t len;

	t->p++;
	if (read_pairs(t, b, &len))
		return EINVAL;
	if (len < 5 || len != (size_t)b[0] + 5)
		return tracex_text_bad(t, "the count of bytes does not fit the length of the line");
	if (tracex_text_sum(b, len))
		return tracex_text_bad(t, "wrong checksum");
	r->address = *upper + ((uint64_t)b[1] << 8 | b[2]);
	r->data = b[3] == 0;
	r->last = b[3] == 1;
	r->len = b[0];
	memcpy(r->bytes, b + 4, r->len);
	if (b[3] == 2 || b[3] == 4) {
		if (b[0] != 2)
			return tracex_text_bad(t, "the count of bytes does not fit the address");
		*upper = octets_get(b + 4, 2, true) << (b[3] == 2 ? 4 : 16);
	} else if (b[3] > 5) {
		return tracex_text_bad(t, "no such type of record");
	}
	return 0;
}

/* Reads one S-record. Its count includes the address and the checksum. */
static int read_srecord(struct text *t, struct record *r)
{
	static const unsigned char address_bytes[10] = { 2, 2, 3, 4, 0, 2, 3, 4, 3, 2 };
	unsigned char b[RECORD_BYTES];
	unsigned type, address;
	size_t len;

	if (t->end - t->p < 2 || t->p[1] < '0' || t->p[1] > '9' || t->p[1] == '4')
		return tracex_text_bad(t, "no such type of record");
	type = t->p[1] - '0';
	address = address_bytes[type];
	t->p += 2;
	if (read_pairs(t, b, &len))
		return EINVAL;
	if (len < address + 2 || len != (size_t)b[0] + 1)
		return tracex_text_bad(t, "the count of bytes does not fit the length of the line");
	if (tracex_text_sum(b, len) != 0xff)
		return tracex_text_bad(t, "wrong checksum");
	r->address = octets_get(b + 1, address, true);
	r->data = type >= 1 && type <= 3;
	r->last = type >= 7;
	r->len = len - address - 2;
	memcpy(r->bytes, b + 1 + address, r->len);
	return 0;
}

/* Reads the next record. At the end of the text, sets *end, and *r has no data. */
static int next_record(struct text *t, uint64_t *upper, struct record *r, bool *end)
{
	memset(r, 0, offsetof(struct record, bytes));
	while (t->p < t->end && isspace(*t->p)) {
		t->line += *t->p == '\n';
		t->p++;
	}
	*end = t->p == t->end;
	if (*end)
		return 0;
	t->line_begin = t->p;
	if (*t->p == ':')
		return read_hex(t, upper, r);
	if (*t->p == 'S')
		return read_srecord(t, r);
	return tracex_text_bad(t, "neither an Intel HEX record nor an S-record");
}

static void rewind_text(struct text *t)
{
	t->p = t->line_begin = t->begin;
	t->line = 1;
}

/*
 * Checks the records up to the end record. Finds the lowest address, the span of addresses and the
 * number of bytes.
 */
static int tracex_text_measure(struct text *t, uint64_t *lowest, uint64_t *span,
			       uint64_t *data_bytes)
{
	uint64_t upper = 0, low = UINT64_MAX, high = 0;
	struct record r;
	bool end;

	*data_bytes = 0;
	rewind_text(t);
	do {
		if (next_record(t, &upper, &r, &end))
			return EINVAL;
		if (!r.data || !r.len)
			continue;
		if (r.address < low)
			low = r.address;
		if (r.address + r.len > high)
			high = r.address + r.len;
		*data_bytes += r.len;
	} while (!end && !r.last);
	if (high == 0)
		return tracex_text_bad(t, "no data");
	if (high - low > (uint64_t)(t->end - t->begin))
		return finding(t->f, FINDING_REFUSAL, "T16", 0,
			       "the addresses of %llu bytes of data span %llu bytes, more than "
			       "the file has",
			       (unsigned long long)*data_bytes, (unsigned long long)(high - low));
	if (!r.last)
		finding(t->f, FINDING_DAMAGE, "T17", (uint64_t)(t->end - t->begin),
			"no end record: the data so far is read");
	*lowest = low;
	*span = high - low;
	return 0;
}

/*
 * Reads the text twice. tracex_text_measure() first checks all records and computes the span of
 * addresses. So the second pass writes only within *bytes.
 */
static int read_records(struct text *t, unsigned char **bytes, size_t *size)
{
	uint64_t lowest = 0, span = 0, data_bytes = 0, upper = 0;
	struct record r;
	bool end;

	if (tracex_text_measure(t, &lowest, &span, &data_bytes))
		return EINVAL;
	*bytes = calloc(span, 1);
	if (!*bytes)
		return ENOMEM;
	*size = span;
	rewind_text(t);
	do {
		if (next_record(t, &upper, &r, &end))
			return EINVAL; /* tracex_text_measure() has already accepted the record */
		if (r.data)
			memcpy(*bytes + (r.address - lowest), r.bytes, r.len);
	} while (!end && !r.last);
	if (data_bytes < span)
		finding(t->f, FINDING_WARNING, NULL, 0,
			"bytes that are in no record are read as zero: %llu",
			(unsigned long long)(span - data_bytes));
	return 0;
}

/*
 * Reads hexadecimal text. Two digits are one byte, and white space is ignored. The text is always
 * longer than the bytes.
 */
static int read_digits(struct text *t, unsigned char **bytes, size_t *size)
{
	size_t digits = 0;

	*bytes = calloc((size_t)(t->end - t->begin) / 2 + 1, 1);
	if (!*bytes)
		return ENOMEM;
	for (rewind_text(t); t->p < t->end; t->p++) {
		if (*t->p == '\n') {
			t->line++;
			t->line_begin = t->p + 1;
		}
		if (isspace(*t->p))
			continue;
		if (text_digit(*t->p) > 15)
			return tracex_text_bad(t, "not a hexadecimal digit");
		(*bytes)[digits / 2] |=
			(unsigned char)(text_digit(*t->p) << (digits & 1 ? 0 : 4));
		digits++;
	}
	if (digits & 1)
		return tracex_text_bad(t, "half a byte at the end");
	*size = digits / 2;
	return 0;
}

int tracex_text(const unsigned char *text, size_t text_size, unsigned char **bytes, size_t *size,
		struct findings *findings)
{
	struct text t = { .begin = text, .end = text + text_size, .f = findings };
	int err;

	*bytes = NULL;
	*size = 0;
	if (text_size && (text[0] == ':' || text[0] == 'S'))
		err = read_records(&t, bytes, size);
	else
		err = read_digits(&t, bytes, size);
	if (err) {
		free(*bytes);
		*bytes = NULL;
	}
	return err;
}
