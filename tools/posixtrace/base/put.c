/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * put.c - converts numbers to digits, several digits at a time. Most of the processor time of a
 * command that prints events is in these functions.
 */
#include "base/put.h"

#define EIGHT UINT32_C(100000000) /* the first number with more than eight digits */

/* The two digits of each number below 100. With this table one division gives two digits. */
static const char digit_pair[] =
	"00010203040506070809" "10111213141516171819" "20212223242526272829" "30313233343536373839"
	"40414243444546474849" "50515253545556575859" "60616263646566676869" "70717273747576777879"
	"80818283848586878889" "90919293949596979899";

/*
 * Returns the eight digits of a number below 10^8 as characters, the highest digit in the first
 * byte of memory. The function first puts the two halves of the number, of four digits each, side
 * by side into one word. It divides both halves by 100 in one step, which gives four numbers of two
 * digits. It then divides these by 10 in one step, which gives the digits. For numbers below 10^4
 * and below 100, the multiplications by 10486 / 2^20 and 103 / 2^10 give the exact quotients.
 */
static uint64_t eight_digits(uint32_t value)
{
	uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32, tens;

	tens = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
	x = tens | (x - 100 * tens) << 16;
	tens = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	x = (tens | (x - 10 * tens) << 8) + UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

static char *put_eight(char *p, uint32_t value)
{
	uint64_t digits = eight_digits(value);

	memcpy(p, &digits, 8);
	return p + 8;
}

static char *put_two(char *p, uint32_t value)
{
	memcpy(p, digit_pair + 2 * value, 2);
	return p + 2;
}

/* Writes a number below 100 with one or two digits. */
static char *put_below_100(char *p, uint32_t value)
{
	if (value >= 10)
		return put_two(p, value);
	*p = (char)('0' + value);
	return p + 1;
}

/*
 * Writes a number below 10^8. Five to eight digits are copied by two stores of four bytes each. If
 * there are fewer than eight digits, the two stores overlap, so that no byte behind the number is
 * written.
 */
static char *put_below_eight(char *p, uint32_t value)
{
	unsigned digits;
	char text[8];

	if (value < 100)
		return put_below_100(p, value);
	if (value < 10000)
		return put_two(put_below_100(p, value / 100), value % 100);
	digits = 5 + (value >= 100000) + (value >= 1000000) + (value >= 10000000);
	put_eight(text, value);
	memcpy(p, text + 8 - digits, 4);
	memcpy(p + digits - 4, text + 4, 4);
	return p + digits;
}

char *put_unsigned(char *p, uint64_t value)
{
	uint64_t high;

	if (value < EIGHT)
		return put_below_eight(p, (uint32_t)value);
	high = value / EIGHT;
	/* The number has at most 20 digits, so its highest part has at most four. */
	if (high < EIGHT)
		p = put_below_eight(p, (uint32_t)high);
	else
		p = put_eight(put_below_eight(p, (uint32_t)(high / EIGHT)),
			      (uint32_t)(high % EIGHT));
	return put_eight(p, (uint32_t)(value % EIGHT));
}

/* The value is negated as an unsigned number, because -INT64_MIN does not fit into a signed one. */
char *put_signed(char *p, int64_t value)
{
	if (value < 0)
		*p++ = '-';
	return put_unsigned(p, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

char *put_padded(char *p, uint64_t value, unsigned width, char pad)
{
	char text[20];
	size_t digits = (size_t)(put_unsigned(text, value) - text);

	for (; width > digits; width--)
		*p++ = pad;
	memcpy(p, text, digits);
	return p + digits;
}

char *put_nine(char *p, uint32_t value)
{
	*p = (char)('0' + value / EIGHT);
	return put_eight(p + 1, value % EIGHT);
}

char *put_digits(char *p, uint64_t value, unsigned digits)
{
	unsigned i = digits;

	for (; i >= 2; i -= 2, value /= 100)
		put_two(p + i - 2, (uint32_t)(value % 100));
	if (i)
		*p = (char)('0' + value % 10);
	return p + digits;
}

/*
 * Returns the hexadecimal digits of 32 bits as eight characters, the highest digit in the first
 * byte of memory. The function first gives each of the eight nibbles a byte of its own. Then it
 * converts all bytes to characters in one step; bytes above 9 become letters.
 */
static uint64_t hex_of(uint32_t value)
{
	uint64_t x = value, letters;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	x += UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

/*
 * Writes the lowest digits of a value, at most sixteen. Four or more digits need two stores of
 * eight or of four bytes, which may overlap, as in put_below_eight(). No load is wider than the
 * store whose bytes it reads: for a wider load, the processor would wait until the store has
 * reached the cache.
 */
static void put_hex_digits(char *p, uint64_t value, unsigned digits)
{
	/* The first eight digits. If there are fewer than eight, zeros follow the digits. */
	uint64_t first = hex_of((uint32_t)(value << (64 - 4 * digits) >> 32));
	uint64_t last = hex_of((uint32_t)value);
	char text[8];

	if (digits >= 8) {
		memcpy(p, &first, 8);
		memcpy(p + digits - 8, &last, 8);
		return;
	}
	memcpy(text, &first, 8);
	if (digits >= 4) {
		memcpy(p, text, 4);
		memcpy(p + digits - 4, text + digits - 4, 4);
		return;
	}
	for (unsigned i = 0; i < digits; i++)
		p[i] = text[i];
}

char *put_hex(char *p, uint64_t value, unsigned digits)
{
	unsigned needed = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;

	/*
	 * If digits is too small for the value, the function writes as many digits as the value
	 * needs.
	 */
	if (digits < needed)
		digits = needed;
	for (; digits > 16; digits--)
		*p++ = '0';
	put_hex_digits(p, value, digits);
	return p + digits;
}

/* Sixteen characters. A processor with vector instructions computes all of them in one step. */
typedef unsigned char vector __attribute__((vector_size(16)));
typedef uint64_t words __attribute__((vector_size(16)));

/*
 * Writes the sixteen hexadecimal digits of eight bytes. The function places the high and the low
 * halves of the bytes alternately, and then converts all halves to digits in one step. In the
 * result of a comparison, an element is 255 if the comparison is true for it, and otherwise 0.
 */
static void put_hex_eight(char *p, const unsigned char *byte)
{
	uint64_t eight;
	vector bytes, digits;

	/*
	 * The copy goes through an integer. If memcpy() stored into a part of the vector, the load
	 * of the whole vector would wait for this store.
	 */
	memcpy(&eight, byte, 8);
	bytes = (vector)(words){ eight };
	digits = __builtin_shufflevector(bytes >> 4, bytes & 15, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
					 5, 21, 6, 22, 7, 23);
	digits += (unsigned char)'0' + ((vector)(digits > 9) & (unsigned char)('a' - '0' - 10));
	memcpy(p, &digits, 16);
}

char *put_hex_bytes(char *p, const void *bytes, size_t len)
{
	const unsigned char *byte = bytes;

	for (; len >= 8; len -= 8, byte += 8, p += 16)
		put_hex_eight(p, byte);
	for (; len; len--, byte++) {
		*p++ = "0123456789abcdef"[*byte >> 4];
		*p++ = "0123456789abcdef"[*byte & 15];
	}
	return p;
}
