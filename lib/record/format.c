/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/format.c - the directives of a format: %[N$][flags][width][.precision][length]conversion.
 *
 * The writer uses this parser to determine the types of the arguments before it fetches them. The
 * reader uses it to print the values. So both give each argument the same number, whatever the
 * format is. The compiler has checked the format in a program; the format in a log may be any text.
 *
 * Directives without a number use the arguments one after the other. printf() does not define a
 * mixture of directives with and without numbers; here the two kinds are counted independently.
 */
#include "record/format.h"

#include <string.h>

/*
 * Consumes decimal digits and returns the number that they show; 0 if there are none. A number that
 * is too large for any use becomes a number of seven digits.
 */
static int take_number(const char **at)
{
	/*
	 * From seven digits on the number does not change any more, so that no text can overflow
	 * it.
	 */
	int number = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		if (number < 1000000)
			number = number * 10 + (**at - '0');
	return number;
}

/* Consumes "N$" and returns N - 1, or NONE. A number without $ is not consumed. */
static int take_position(const char **at)
{
	/*
	 * A number directly behind % may also be a width. Only a number with a $ behind it is a
	 * position.
	 */
	const char *begin = *at;
	const int number = take_number(at);

	if (*at != begin && **at == '$' && number > 0) {
		++*at;
		return number - 1;
	}
	/* If there were digits, they are a width. */
	*at = begin;
	return PTX_FORMAT_NONE;
}

/*
 * Consumes "*" or "*N$", or a number. Stores the number, or the index of the argument; the other
 * result is NONE. In the argument list, an argument for the width precedes the argument for the
 * value, unless both are numbered.
 */
static void take_size(struct ptx_format *format, int *size, int *argument)
{
	*size = PTX_FORMAT_NONE;
	*argument = PTX_FORMAT_NONE;
	if (*format->at != '*') {
		*size = take_number(&format->at);
		return;
	}
	/* A * without a number uses the next argument, as a directive does. */
	format->at++;
	*argument = take_position(&format->at);
	if (*argument == PTX_FORMAT_NONE)
		*argument = format->next++;
}

/*
 * Consumes a length modifier, or none. The modifiers q and Z of BSD and old C libraries count as ll
 * and z. This parser does not accept the modifiers that C23 adds, such as w32. A format with one of
 * them is wrong.
 */
static void take_length(const char **at, char *length)
{
	/*
	 * Longer modifiers come first, because a shorter modifier may be the beginning of a longer
	 * modifier.
	 */
	static const char *const known[] = { "hh", "h", "ll", "l", "q", "j", "z", "Z", "t", "L" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const size_t len = strlen(known[i]);

		if (!strncmp(*at, known[i], len)) {
			strcpy(length, known[i]);
			*at += len;
			return;
		}
	}
	/* There is no modifier: the argument is an int or a double. */
	length[0] = '\0';
}

/*
 * Returns the type of the argument of a conversion with its length modifier. Returns UNKNOWN if no
 * conversion has this letter. The letters C and S have been replaced before.
 */
static enum ptx_format_type type_of(const struct ptx_format_part *part)
{
	const char length = part->length[0];
	/* Arguments for h and hh are int after the promotion. */
	const bool is_long = length && length != 'h';

	/* Only sizes matter: long and long long have 64 bits on all supported machines. */
	switch (part->conversion) {
	case 'd':
	case 'i':
		return is_long ? PTX_FORMAT_LONG : PTX_FORMAT_INT;
	case 'o':
	case 'u':
	case 'x':
	case 'X':
	case 'b':
	case 'B':
		return is_long ? PTX_FORMAT_UNSIGNED_LONG : PTX_FORMAT_UNSIGNED;
	case 'c':
		return is_long ? PTX_FORMAT_UNSIGNED : PTX_FORMAT_INT;
	case 's':
		/* A string with a precision may lack its NUL, so it has a type of its own. */
		if (is_long)
			return PTX_FORMAT_WIDE_STRING;
		return part->precision != PTX_FORMAT_NONE ||
				       part->precision_argument != PTX_FORMAT_NONE ?
			       PTX_FORMAT_SHORT_STRING : PTX_FORMAT_STRING;
	case 'p':
		return PTX_FORMAT_POINTER;
	case 'n':
		return PTX_FORMAT_COUNT;
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
	case 'a':
	case 'A':
		return length == 'L' ? PTX_FORMAT_LONG_DOUBLE : PTX_FORMAT_DOUBLE;
	/* No supported C library accepts any other letter. */
	default:
		return PTX_FORMAT_UNKNOWN;
	}
}

/*
 * Consumes a directive behind its %. Returns false if this is not a directive. The position
 * format->at is then behind the consumed part. The caller treats the directive and the rest of the
 * format as text.
 */
static bool take_directive(struct ptx_format *format, struct ptx_format_part *part)
{
	const int position = take_position(&format->at);
	size_t flags = 0;

	/*
	 * There may be any number of flags in any order. Each of the seven is kept once, so that
	 * repeated flags leave room for the others.
	 */
	for (; *format->at && strchr("-+ #0'I", *format->at); format->at++)
		if (!memchr(part->flags, *format->at, flags))
			part->flags[flags++] = *format->at;
	part->flags[flags] = '\0';
	if (*format->at == '*' || (*format->at >= '1' && *format->at <= '9'))
		take_size(format, &part->width, &part->width_argument);
	/* A point without a number means precision 0. An argument below 0 means no precision. */
	if (*format->at == '.') {
		format->at++;
		take_size(format, &part->precision, &part->precision_argument);
	}
	take_length(&format->at, part->length);
	part->conversion = *format->at;
	/* The format ends within the directive. */
	if (!part->conversion)
		return false;
	format->at++;
	/* %C and %S are the names of X/Open for %lc and %ls. */
	if (part->conversion == 'C' || part->conversion == 'S') {
		part->conversion = part->conversion == 'C' ? 'c' : 's';
		strcpy(part->length, "l");
	}
	if (part->conversion == 'm')
		return true;
	part->type = type_of(part);
	/* An unknown letter may have an argument of any size, so nothing behind it can be used. */
	if (part->type == PTX_FORMAT_UNKNOWN)
		return false;
	part->argument = position != PTX_FORMAT_NONE ? position : format->next++;
	return true;
}

/*
 * Returns true if the argument has a place among the fields of a schema, or if it is NONE. A format
 * can contain any number, so this check bounds every index into an array of arguments.
 */
static bool has_place(int argument)
{
	return argument == PTX_FORMAT_NONE || (argument >= 0 && argument < PTX_FORMAT_ARGUMENTS);
}

/*
 * Each call advances, so that a loop over the parts ends. After a wrong directive, the format from
 * its % to its end is text.
 */
bool ptx_format_next(struct ptx_format *format, struct ptx_format_part *part)
{
	const char *begin = format->at;

	/* NONE is not 0, because 0 is a valid width, precision and argument. */
	memset(part, 0, sizeof(*part));
	part->width = part->precision = PTX_FORMAT_NONE;
	part->width_argument = part->precision_argument = part->argument = PTX_FORMAT_NONE;
	if (!*begin)
		return false;
	/* Text up to the next % is one part. */
	part->text = begin;
	if (*begin != '%') {
		part->len = strcspn(begin, "%");
		format->at += part->len;
		return true;
	}
	/* %% is the text %. C allows no flags between the two. */
	if (begin[1] == '%') {
		part->len = 1;
		format->at += 2;
		return true;
	}
	format->at++;
	if (take_directive(format, part) && has_place(part->argument) &&
	    has_place(part->width_argument) && has_place(part->precision_argument))
		return true;
	/*
	 * The behaviour of printf() with this format is undefined. A reader shows the rest of the
	 * format as text.
	 */
	format->is_wrong = true;
	part->conversion = 0;
	part->len = strlen(begin);
	format->at = begin + part->len;
	return true;
}

/*
 * Notes the type of an argument and counts the argument. If two directives use the same argument,
 * it has the type of the first directive. The compiler warns of a format in which the sizes of the
 * two types differ.
 */
static void set_type(enum ptx_format_type *type, int *count, int argument,
		     enum ptx_format_type is)
{
	if (argument == PTX_FORMAT_NONE)
		return;
	if (type[argument] == PTX_FORMAT_UNKNOWN)
		type[argument] = is;
	/* The numbers of arguments may be in any order. */
	if (argument >= *count)
		*count = argument + 1;
}

/*
 * Each width and precision that is an argument is an int. The number of arguments follows from the
 * highest one, as printf() requires that all arguments below it are used.
 */
int ptx_format_types(const char *text, enum ptx_format_type type[PTX_FORMAT_ARGUMENTS],
		     bool *has_error)
{
	struct ptx_format format = { .at = text };
	struct ptx_format_part part;
	int count = 0;

	memset(type, 0, PTX_FORMAT_ARGUMENTS * sizeof(*type));
	*has_error = false;
	while (ptx_format_next(&format, &part)) {
		set_type(type, &count, part.width_argument, PTX_FORMAT_INT);
		set_type(type, &count, part.precision_argument, PTX_FORMAT_INT);
		set_type(type, &count, part.argument, part.type);
		*has_error |= part.conversion == 'm';
	}
	/* va_arg() cannot skip an argument whose type is not known. */
	for (int i = 0; i < count; i++)
		if (type[i] == PTX_FORMAT_UNKNOWN)
			return -1;
	return format.is_wrong ? -1 : count;
}
