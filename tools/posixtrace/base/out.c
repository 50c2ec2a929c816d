/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * out.c - the buffer of the output, and the functions that write digits. The first error is kept in
 * the struct, as the header explains.
 */
#include "base/out.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct out out_stdout = { .fd = STDOUT_FILENO };

/*
 * Ends the process by SIGPIPE. Some shells and supervisors start programs with this signal ignored.
 * Therefore the function first restores the signal's default action, so that the exit status is the
 * same in both cases.
 */
static _Noreturn void reader_went_away(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	_exit(1);
}

/*
 * Writes all bytes unless the output has failed. A signal handler may interrupt a write to a slow
 * terminal or pipe, so the write is repeated after EINTR.
 */
static void write_all(struct out *out, const char *bytes, size_t len)
{
	while (len && !out->err) {
		ssize_t n = write(out->fd, bytes, len);

		if (n >= 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (errno == EPIPE) {
			reader_went_away();
		} else if (errno != EINTR) {
			out->err = errno;
		}
	}
}

int out_flush(struct out *out)
{
	write_all(out, out->bytes, out->used);
	out->used = 0;
	return out->err;
}

void out_bytes_past(struct out *out, const void *bytes, size_t len)
{
	out_flush(out);
	/* The buffer is empty now, so a piece that does not fit into it is written directly. */
	if (len > OUT_BYTES)
		write_all(out, bytes, len);
	else
		out_bytes(out, bytes, len);
}

void out_printf(struct out *out, const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	/*
	 * If the text could not be formatted, the function stores this as an error of the output.
	 * The caller checks for errors once, at the end.
	 */
	if (len < 0) {
		if (!out->err)
			out->err = ENOMEM;
		return;
	}
	out_bytes(out, text, (size_t)len);
	free(text);
}

/* The two digits of each number below 100. With this table one division gives two digits. */
static const char digit_pair[] =
	"00010203040506070809" "10111213141516171819" "20212223242526272829" "30313233343536373839"
	"40414243444546474849" "50515253545556575859" "60616263646566676869" "70717273747576777879"
	"80818283848586878889" "90919293949596979899";

/* Returns the number of decimal digits. */
static unsigned count_digits(uint64_t value)
{
	/* powers of 10, but the first element is 0, so that the number 0 has one digit */
	static const uint64_t power[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		UINT64_C(10000000000000000000),
	};
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
	/*
	 * A number of n bits has about n * log10(2) decimal digits, and 1233 / 4096 is log10(2),
	 * rounded down.
	 */
	unsigned digits = bits * 1233 >> 12;

	return digits + (value >= power[digits]);
}

/*
 * The number of digits is determined first, so that each digit can be written at its final place.
 */
char *put_unsigned(char *p, uint64_t value)
{
	return put_digits(p, value, count_digits(value));
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
	unsigned digits = count_digits(value);

	for (; width > digits; width--)
		*p++ = pad;
	return put_digits(p, value, digits);
}

/*
 * Returns the eight digits of a number below 10^8 as characters, the highest digit in the first
 * byte of memory. One word first has the two halves of the number, of four digits each, side by
 * side. Both are divided by 100 in one step, which gives four numbers of two digits. These are
 * divided by 10 in one step, which gives the digits. For numbers below 10^4 and below 100, the
 * multiplications by 10486 / 2^20 and 103 / 2^10 give the exact quotients.
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

/*
 * Writes nine digits without a loop. Nearly each line of output has such a number, the fraction of
 * a second.
 */
static char *put_nine(char *p, uint32_t value)
{
	uint64_t digits = eight_digits(value % 100000000);

	p[0] = (char)('0' + value / 100000000 % 10);
	memcpy(p + 1, &digits, 8);
	return p + 9;
}

/*
 * Numbers of at most 32 bits are handled separately, because most numbers are so small, and a
 * division of 32 bits is faster.
 */
char *put_digits(char *p, uint64_t value, unsigned digits)
{
	unsigned i = digits;
	uint32_t low = (uint32_t)value;

	if (digits == 9 && low == value)
		return put_nine(p, low);
	if (low != value) {
		for (; i >= 2; i -= 2, value /= 100)
			memcpy(p + i - 2, digit_pair + 2 * (value % 100), 2);
		low = (uint32_t)(value % 10);
	}
	for (; i >= 2; i -= 2, low /= 100)
		memcpy(p + i - 2, digit_pair + 2 * (low % 100), 2);
	if (i)
		*p = (char)('0' + low % 10);
	return p + digits;
}

/*
 * Returns the hexadecimal digits of 32 bits as eight characters, the highest digit in the first
 * byte of memory. The function first gives each of the eight nibbles a byte of its own. Then it
 * converts all bytes to characters at once; bytes above 9 become letters.
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

char *put_hex(char *p, uint64_t value, unsigned digits)
{
	unsigned needed = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;
	uint64_t high = hex_of((uint32_t)(value >> 32)), low = hex_of((uint32_t)value);
	char text[16];

	/*
	 * If digits is too small for the value, the function writes as many digits as the value
	 * needs.
	 */
	if (digits < needed)
		digits = needed;
	memcpy(text, &high, 8);
	memcpy(text + 8, &low, 8);
	for (; digits > 16; digits--)
		*p++ = '0';
	memcpy(p, text + 16 - digits, digits);
	return p + digits;
}

char *put_hex_bytes(char *p, const void *bytes, size_t len)
{
	const unsigned char *byte = bytes;

	/*
	 * The loop converts four bytes at a time. The digits of the first byte are the highest
	 * ones.
	 */
	for (; len >= 4; len -= 4, byte += 4, p += 8) {
		uint64_t digits = hex_of((uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 |
					 (uint32_t)byte[2] << 8 | byte[3]);

		memcpy(p, &digits, 8);
	}
	for (; len; len--, byte++) {
		*p++ = "0123456789abcdef"[*byte >> 4];
		*p++ = "0123456789abcdef"[*byte & 15];
	}
	return p;
}

void out_hex(struct out *out, const void *bytes, size_t len)
{
	const unsigned char *byte = bytes;

	while (len) {
		/*
		 * out_room() provides OUT_PIECE bytes, so half as many bytes can be converted at a
		 * time.
		 */
		size_t n = len < OUT_PIECE / 2 ? len : OUT_PIECE / 2;

		out_done(out, put_hex_bytes(out_room(out), byte, n));
		len -= n;
		byte += n;
	}
}

void out_base64(struct out *out, const void *bytes, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t x = (uint32_t)byte[i] << 16;
		char *p = out_room(out);

		x |= i + 1 < len ? (uint32_t)byte[i + 1] << 8 : 0;
		x |= i + 2 < len ? byte[i + 2] : 0;
		p[0] = digit[x >> 18];
		p[1] = digit[x >> 12 & 63];
		p[2] = i + 1 < len ? digit[x >> 6 & 63] : '=';
		p[3] = i + 2 < len ? digit[x & 63] : '=';
		out_done(out, p + 4);
	}
}

void out_unsigned(struct out *out, uint64_t value)
{
	out_done(out, put_unsigned(out_room(out), value));
}

void out_signed(struct out *out, int64_t value)
{
	out_done(out, put_signed(out_room(out), value));
}
