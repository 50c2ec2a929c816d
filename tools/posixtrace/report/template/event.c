/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event.c - reads numbers and texts from the data of an event. The data comes from a log and the
 * pointer from a template, so both are hostile. No byte is read at the pointer before event_left()
 * has checked that the data has it.
 */
#include "report/template/event.h"

#include <string.h>

/* Stores 16 bits of the hook word in the byte order of the log. */
static void put_16(unsigned char *p, uint16_t value, bool big_endian)
{
	p[big_endian ? 0 : 1] = (unsigned char)(value >> 8);
	p[big_endian ? 1 : 0] = (unsigned char)value;
}

/*
 * Builds the hook word of 8 bytes that AIX puts before the data. The word has AIX's hook type
 * 0x8000, the length of the data and the number of the event type, in 16 bits each, then 0. A
 * length above 65535 is stored as 65535. The pointer begins at the data.
 */
void reader_init(struct reader *reader, const struct template_event *event)
{
	bool big = event->big_endian;
	size_t len = event->data_len;

	memset(reader, 0, sizeof(*reader));
	reader->event = event;
	reader->at = HOOK_WORD_BYTES;
	put_16(reader->hook, 0x8000, big);
	put_16(reader->hook + 2, (uint16_t)(len > 0xffff ? 0xffff : len), big);
	put_16(reader->hook + 4, (uint16_t)event->id, big);
}

/* Adds two numbers. Pointers wrap, as all numbers of templates do. */
static int64_t event_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Returns the offset of the first whole byte at or behind the pointer. */
static int64_t event_rounded(const struct reader *reader)
{
	return event_add(reader->at, reader->bit > 0);
}

static void round_up(struct reader *reader)
{
	reader->at = event_rounded(reader);
	reader->bit = 0;
}

/* Returns the number of bytes from offset to the end of the data, or 0 for an offset outside. */
static uint64_t event_left(const struct reader *reader, int64_t offset)
{
	uint64_t all = HOOK_WORD_BYTES + reader->event->data_len;

	return offset < 0 || (uint64_t)offset > all ? 0 : all - (uint64_t)offset;
}

/*
 * Moves the pointer without a check, because a template may move it out of the data and back again.
 * Only the code R stops at the beginning of the hook word.
 */
void reader_move(struct reader *reader, const struct code *code)
{
	switch (code->letter) {
	case 'G':
		reader->at = event_add(reader->base, code->m);
		reader->bit = code->n;
		break;
	case 'O':
		reader->at = event_add(reader->at, code->m + (reader->bit + code->n) / 8);
		reader->bit = (reader->bit + code->n) % 8;
		break;
	case 'R':
		round_up(reader);
		reader->at = reader->at < (int64_t)code->m ? 0 : reader->at - code->m;
		break;
	case 'W':
		reader->at = event_add(reader->base, 8 * (int64_t)code->m);
		reader->bit = 0;
		break;
	}
}

int64_t reader_pointer(const struct reader *reader)
{
	return event_add(event_rounded(reader), (int64_t) - (uint64_t)reader->base);
}

void reader_set_pointer(struct reader *reader, int64_t pointer)
{
	reader->at = event_add(reader->base, pointer);
	reader->bit = 0;
}

/* The caller has checked that "offset" is not negative and is before the end of the data. */
unsigned char reader_byte(const struct reader *reader, int64_t offset)
{
	return offset < HOOK_WORD_BYTES ? reader->hook[offset] :
					  reader->event->data[offset - HOOK_WORD_BYTES];
}

/*
 * Copies a range of bytes. The caller has checked the range with event_left(). The range may
 * include bytes of the hook word and of the data.
 */
static void event_copy(const struct reader *reader, int64_t offset, size_t count,
		       unsigned char *bytes)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = reader_byte(reader, offset + (int64_t)i);
}

bool reader_bytes(struct reader *reader, size_t count, unsigned char *bytes)
{
	int64_t at = event_rounded(reader);

	if (event_left(reader, at) < count)
		return false;
	event_copy(reader, at, count, bytes);
	reader->at = at + (int64_t)count;
	reader->bit = 0;
	return true;
}

uint64_t number_of_bytes(const unsigned char *bytes, size_t count, bool big_endian)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[big_endian ? i : count - 1 - i];
	return value;
}

/*
 * Reads 1 to 64 bits, the most significant bit first. The bits may extend over 9 bytes, because
 * they may begin within a byte. Afterwards the pointer may be within a byte, too. No other code
 * that reads leaves the pointer within a byte.
 */
static bool read_bits(struct reader *reader, unsigned bits, uint64_t *value)
{
	unsigned end = reader->bit + bits;

	if (event_left(reader, reader->at) < (end + 7) / 8)
		return false;
	*value = 0;
	for (unsigned i = reader->bit; i < end; i++)
		*value = *value << 1 |
			 (reader_byte(reader, reader->at + i / 8) >> (7 - i % 8) & 1);
	reader->at += end / 8;
	reader->bit = end % 8;
	return true;
}

/*
 * Extends the sign of a number of 1, 2, 4 or 8 bytes to 64 bits. The right shift of a negative
 * number is arithmetic with all supported compilers.
 */
static uint64_t event_extended(uint64_t value, unsigned bytes)
{
	unsigned unused = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/*
 * "m" is a number of bytes in most formats, and a number of bits for B. For W, "m" and "n" are the
 * lowest and the highest bit. A shift by 64 is undefined, so a number of 64 bits is returned
 * unchanged.
 */
uint64_t narrow(uint64_t value, char letter, unsigned m, unsigned n)
{
	unsigned bits = letter == 'B' ? m : 8 * m;

	switch (letter) {
	case 'W':
		value >>= m;
		bits = n - m + 1;
		return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
	case 'D':
	case 'E':
		return event_extended(value, m);
	default:
		return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
	}
}

/* For a code other than B, code->m is at most 8 bytes, because code_is_integer() holds. */
bool reader_integer(struct reader *reader, const struct code *code, uint64_t *value)
{
	unsigned char bytes[8];

	switch (code->letter) {
	case CODE_DATA_BYTES:
		*value = reader->event->data_len;
		return true;
	case CODE_HOOK_TYPE:
		*value = 0x8000;
		return true;
	case 'B':
		return read_bits(reader, code->m, value);
	}
	if (!reader_bytes(reader, code->m, bytes))
		return false;
	*value = narrow(number_of_bytes(bytes, code->m, reader->event->big_endian), code->letter,
			code->m, 0);
	return true;
}

/*
 * "len" may be any number of 64 bits, because it may come from the data or from a macro. If no byte
 * is left at the pointer, *offset may be outside the data. In that case *text_len is 0, so the
 * caller reads no byte at *offset.
 */
bool reader_text(struct reader *reader, uint64_t len, bool may_be_empty, int64_t *offset,
		 size_t *text_len)
{
	uint64_t rest;

	*offset = event_rounded(reader);
	rest = event_left(reader, *offset);
	if (!rest && !may_be_empty)
		return false;
	*text_len = (size_t)(len < rest ? len : rest);
	reader->at = event_add(*offset, (int64_t)*text_len);
	reader->bit = 0;
	return true;
}

/*
 * The pointer moves behind all m bytes of an A code, although its text ends at the first null byte.
 */
bool reader_code_text(struct reader *reader, const struct code *code, int64_t *offset,
		      size_t *text_len)
{
	struct code length = { .letter = 'U', .m = code->m };
	uint64_t len;

	if (code->letter == 'S')
		return reader_integer(reader, &length, &len) &&
		       reader_text(reader, len, true, offset, text_len);
	/* the text of A0 with a width is empty and is printed as blanks */
	if (!code->m && code->has_n) {
		*offset = 0;
		*text_len = 0;
		return true;
	}
	if (!reader_text(reader, code->m ? code->m : 1, false, offset, text_len))
		return false;
	for (size_t i = 0; i < *text_len; i++)
		if (!reader_byte(reader, *offset + (int64_t)i))
			*text_len = i;
	return true;
}

/*
 * If the data contains only a part of the word, the result is the number that the bytes of this
 * part form. If the whole word is behind the end of the data, the result is 0. n is 1 to 5.
 */
uint64_t reader_data_word(const struct reader *reader, unsigned n)
{
	const struct template_event *event = reader->event;
	size_t begin = 8 * (size_t)(n - 1);
	size_t count = event->data_len > begin ? event->data_len - begin : 0;

	return count ? number_of_bytes(event->data + begin, count < 8 ? count : 8,
				       event->big_endian)
		     : 0;
}
