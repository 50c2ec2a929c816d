/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * print.c - prints numbers in the forms of codes and macros. No text is longer than PRINT_BYTES.
 * The longest text has the 64 digits of a binary number. The returned lengths include no null byte
 * at the end.
 */
#include "report/template/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/errnames.h"
#include "base/out.h"

/* "bits" is 1 to 64, as codes.c has checked. */
static size_t print_binary(char *text, uint64_t value, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		text[i] = (char)('0' + (value >> (bits - 1 - i) & 1));
	return bits;
}

static size_t print_hexadecimal(char *text, uint64_t value, unsigned digits)
{
	for (unsigned i = digits; i--; value >>= 4)
		text[i] = "0123456789ABCDEF"[value & 15];
	return digits;
}

/*
 * The negation is done on the unsigned number, so that the smallest number is printed correctly,
 * too.
 */
static size_t print_decimal(char *text, int64_t value)
{
	char *p = text;

	if (value < 0)
		*p++ = '-';
	return (size_t)(put_unsigned(p, value < 0 ? -(uint64_t)value : (uint64_t)value) - text);
}

/*
 * Writes a floating-point number. "value" has the representation of IEEE 754 in the byte order of
 * this machine, so the function copies its bytes and does not convert it.
 */
static size_t print_floating(char *text, uint64_t value, unsigned bytes)
{
	uint32_t word = (uint32_t)value;
	float narrow_number;
	double number;

	if (bytes == 4) {
		memcpy(&narrow_number, &word, sizeof(word));
		return (size_t)snprintf(text, PRINT_BYTES, "%.4E", (double)narrow_number);
	}
	memcpy(&number, &value, sizeof(number));
	return (size_t)snprintf(text, PRINT_BYTES, "%.8E", number);
}

/*
 * Writes a time as asctime() does, but for any year. If the year does not fit in struct tm, the
 * time is written as a number.
 */
static size_t print_date(char *text, int64_t seconds)
{
	static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t t = seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm))
		return print_decimal(text, seconds);
	return (size_t)snprintf(text, PRINT_BYTES, "%s %s %2d %02d:%02d:%02d %" PRId64,
				days[tm.tm_wday], months[tm.tm_mon], tm.tm_mday, tm.tm_hour,
				tm.tm_min, tm.tm_sec, (int64_t)tm.tm_year + 1900);
}

/*
 * Names of errors do not depend on the locale or the C library of this machine; see
 * base/errnames.h. An unknown number is written as a number.
 */
static size_t error_number(char *text, int64_t number)
{
	const char *name = errno_name(number);
	size_t len;

	if (!name)
		return print_decimal(text, number);
	len = strlen(name);
	memcpy(text, name, len);
	return len;
}

/* A time T of 4 bytes is read as unsigned, so that times after 2038 are printed correctly. */
size_t print_number(char *text, uint64_t value, char letter, unsigned m)
{
	switch (letter) {
	case 'D':
		return print_decimal(text, (int64_t)narrow(value, 'D', m, 0));
	case 'U':
		return (size_t)(put_unsigned(text, narrow(value, 'U', m, 0)) - text);
	case 'o':
		return (size_t)snprintf(text, PRINT_BYTES, "%" PRIo64, narrow(value, 'o', m, 0));
	case 'B':
		return print_binary(text, value, m);
	case 'E':
		return error_number(text, (int64_t)narrow(value, 'E', m, 0));
	case 'F':
		return print_floating(text, value, m);
	case 'T':
		return print_date(text, (int64_t)narrow(value, m == 4 ? 'U' : 'D', m, 0));
	case 'P': /* a log does not have the name of a process's program */
		return print_decimal(text, (int64_t)narrow(value, 'D', m, 0));
	default:
		return print_hexadecimal(text, value, 2 * m);
	}
}

/* AIX's hook numbers have three digits. A damaged log may have greater numbers. */
size_t print_id(char *text, uint64_t id)
{
	unsigned digits = 3;

	while (digits < 16 && id >> (4 * digits))
		digits++;
	return print_hexadecimal(text, id, digits);
}

/* The form PRINT_SHORTEST has 4, 8 or 16 digits, the fewest that are enough for the value. */
size_t print_macro(char *text, uint64_t value, enum macro_print print)
{
	switch (print) {
	case PRINT_DECIMAL:
		return print_decimal(text, (int64_t)value);
	case PRINT_UNSIGNED:
		return print_number(text, value, 'U', 8);
	case PRINT_ID:
		return print_id(text, value);
	case PRINT_ADDRESS:
		return print_hexadecimal(text, value, 16);
	default:
		return print_hexadecimal(text, value, value >> 32 ? 16 : value >> 16 ? 8 : 4);
	}
}

/* "count" is 16 at most, so the text fits in PRINT_BYTES. */
size_t print_bytes(char *text, const unsigned char *bytes, size_t count)
{
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		len += print_hexadecimal(text + len, bytes[i], 2);
	return len;
}
