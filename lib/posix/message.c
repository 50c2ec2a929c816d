/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/message.c - makes the message of an event from the format of its type and its fields.
 *
 * Format and data come from a file. Each directive is rebuilt from its parts, with the length
 * modifier of the value that is passed, and printed by snprintf(). Widths and precisions are
 * limited, so that every number fits into the buffer. A value that does not suit its directive is
 * printed in the notation of its own type.
 */
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/libc.h"
#include "posix/call.h"
#include "posix/first.h"
#include "posix/message.h"
#include "record/format.h"

/*
 * Room for a number. The largest double has 309 digits before its point, and at most as many behind
 * the point as the greatest precision. A sign and separators of thousands may be added.
 */
#define NUMBER_BYTES 2048

/*
 * The values of an event and the receiver of its text. All values are read first, because a
 * directive may name any argument by its number.
 */
struct message {
	struct posix_trace_value_np value[POSIX_TRACE_FIELDS_MAX_NP];
	unsigned values;
	void (*put)(void *arg, const char *part, size_t len);
	void *arg;
};

/* The value of an argument; NULL: the event does not have it. */
static const struct posix_trace_value_np *value_of(const struct message *message, int argument)
{
	return argument >= 0 && (unsigned)argument < message->values ? &message->value[argument] :
								       NULL;
}

/*
 * Returns a width or precision: a number of the format or of an argument. Format and argument are
 * hostile; without the limits, one event could print gigabytes.
 */
static int size_of(const struct message *message, int size, int argument)
{
	const struct posix_trace_value_np *value = value_of(message, argument);

	if (argument != PTX_FORMAT_NONE)
		size = value && value->field->form == POSIX_TRACE_FORM_SIGNED_NP ?
			       (value->s64 < -PTX_FORMAT_WIDTH_MAX ? -PTX_FORMAT_WIDTH_MAX :
				value->s64 > PTX_FORMAT_WIDTH_MAX  ? PTX_FORMAT_WIDTH_MAX :
								     (int)value->s64) :
			       PTX_FORMAT_NONE;
	return size > PTX_FORMAT_WIDTH_MAX ? PTX_FORMAT_WIDTH_MAX : size;
}

/*
 * Passes bytes, with blanks before or after them up to the width of the directive. Strings are not
 * printed by snprintf(): they may lack a NUL, contain one, and be of any length.
 */
static void put_padded(const struct message *message, const struct ptx_format_part *part,
		       const char *text, size_t len)
{
	static const char blanks[] = "                                ";
	int width = size_of(message, part->width, part->width_argument);
	/*
	 * A negative width from an argument means the flag "-" and the absolute value as width. So
	 * an argument with the value -1 is a width, too.
	 */
	bool is_left = strchr(part->flags, '-') ||
		       (part->width_argument != PTX_FORMAT_NONE && width < 0);
	/* The number of blanks that are still to be written. */
	size_t blank;

	if (part->width_argument == PTX_FORMAT_NONE && width < 0)
		width = 0;
	width = width < 0 ? -width : width;
	/* A text that is wider than its column is printed whole, as by printf(). */
	blank = (size_t)width > len ? (size_t)width - len : 0;
	if (is_left)
		message->put(message->arg, text, len);
	for (; blank; blank -= blank < 32 ? blank : 32)
		message->put(message->arg, blanks, blank < 32 ? blank : 32);
	if (!is_left)
		message->put(message->arg, text, len);
}

/*
 * Makes the directive for a value: %[flags][width][.precision][length]conversion. A width or
 * precision that was an argument becomes part of the directive, so that only the value is passed to
 * snprintf().
 */
static void make_directive(const struct message *message, const struct ptx_format_part *part,
			   const char *length, char *directive)
{
	const int width = size_of(message, part->width, part->width_argument);
	const int precision = size_of(message, part->precision, part->precision_argument);
	const bool has_width = part->width_argument != PTX_FORMAT_NONE ?
				       value_of(message, part->width_argument) != NULL :
				       width > 0;
	char *to = directive;

	/* 1 + 7 flags + 2 numbers of at most 4 characters + a point + a length + a letter. */
	*to++ = '%';
	to = stpcpy(to, part->flags);
	/* snprintf() reads the sign of a negative width as the flag "-". */
	if (has_width)
		to += sprintf(to, "%d", width);
	if (precision >= 0)
		to += sprintf(to, ".%d", precision);
	to = stpcpy(to, length);
	*to++ = part->conversion;
	*to = '\0';
}

/*
 * Returns whether a conversion has an integer argument. The caller has checked that the letter is
 * not NUL.
 */
static bool is_integer(char conversion)
{
	return strchr("diouxXbB", conversion);
}

/* Returns whether a conversion has a floating-point argument. */
static bool is_real(char conversion)
{
	return strchr("fFeEgGaA", conversion);
}

/*
 * Prints a value in the notation of its type, because the directive does not suit the value. The
 * text is truncated to the buffer, which holds every value that is not a string.
 */
static void put_plain(const struct message *message, const struct ptx_format_part *part,
		      const struct posix_trace_value_np *value)
{
	char text[256];
	size_t len = posix_trace_value_print_np(value, text, sizeof(text));

	put_padded(message, part, text, len < sizeof(text) ? len : sizeof(text) - 1);
}

#pragma GCC diagnostic push
/*
 * The directive consists of checked parts, and the argument has the type that the directive
 * requires.
 */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/*
 * Prints a number. snprintf() also returns the length of a text that does not fit, but every valid
 * number fits.
 */
static void put_number(const struct message *message, const struct ptx_format_part *part,
		       const struct posix_trace_value_np *value)
{
	/*
	 * The modifiers h and hh are kept, so that they convert the argument as the program's own
	 * printf() would. Other integers were recorded as 32 or 64 bits. The reader has extended
	 * them to 64 bits, with their sign if they have one.
	 */
	const char *length = part->length[0] == 'h' ? part->length : "ll";
	char directive[48], text[NUMBER_BYTES];
	int len;

	make_directive(message, part, length, directive);
	len = part->length[0] == 'h' ?
		      snprintf(text, sizeof(text), directive, (int)value->s64) :
		      snprintf(text, sizeof(text), directive, (long long)value->s64);
	if (len > 0)
		message->put(message->arg, text,
			     (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

/* Prints a floating-point number. */
static void put_real(const struct message *message, const struct ptx_format_part *part,
		     const struct posix_trace_value_np *value)
{
	char directive[48], text[NUMBER_BYTES];
	int len;

	/* A long double was recorded as a double, so its modifier is omitted. */
	make_directive(message, part, "", directive);
	len = snprintf(text, sizeof(text), directive, value->f64);
	if (len > 0)
		message->put(message->arg, text,
			     (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

#pragma GCC diagnostic pop

/*
 * Prints a string, truncated to the precision of its directive. The precision counts bytes, as in
 * C, so it can divide a character of UTF-8.
 */
static void put_string(const struct message *message, const struct ptx_format_part *part,
		       const struct posix_trace_value_np *value)
{
	size_t len = value->len;
	int precision = part->precision;
	const struct posix_trace_value_np *given = value_of(message, part->precision_argument);

	/* The writer has already truncated the string, unless another program made the log. */
	if (given)
		precision = given->s64 < 0 || given->s64 > 1000000 ? PTX_FORMAT_NONE :
								     (int)given->s64;
	if (precision >= 0 && (size_t)precision < len)
		len = (size_t)precision;
	put_padded(message, part, value->data, len);
}

/*
 * Prints a pointer in the notation of the GNU C library. It is printed as a number, because the
 * reader's own pointers may be shorter than the pointers of the log.
 */
static void put_pointer(const struct message *message, const struct ptx_format_part *part,
			const struct posix_trace_value_np *value)
{
	char text[24];
	const int len = value->u64 ? snprintf(text, sizeof(text), "0x%llx",
					      (unsigned long long)value->u64) :
				     snprintf(text, sizeof(text), "(nil)");

	put_padded(message, part, text, (size_t)len);
}

/*
 * Prints the byte of %c, or the character of %lc as UTF-8. snprintf() is not used, because it
 * depends on the locale of the reader.
 */
static void put_character(const struct message *message, const struct ptx_format_part *part,
			  const struct posix_trace_value_np *value)
{
	/* Values above 0x10ffff are no characters; their bytes are then no UTF-8. */
	const uint32_t c = (uint32_t)value->u64;
	char text[4];
	size_t len = 0;

	if (part->length[0] != 'l' || c < 0x80) {
		text[len++] = (char)c;
	} else if (c < 0x800) {
		text[len++] = (char)(0xc0 | c >> 6);
		text[len++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		text[len++] = (char)(0xe0 | c >> 12);
		text[len++] = (char)(0x80 | (c >> 6 & 0x3f));
		text[len++] = (char)(0x80 | (c & 0x3f));
	} else {
		text[len++] = (char)(0xf0 | (c >> 18 & 7));
		text[len++] = (char)(0x80 | (c >> 12 & 0x3f));
		text[len++] = (char)(0x80 | (c >> 6 & 0x3f));
		text[len++] = (char)(0x80 | (c & 0x3f));
	}
	put_padded(message, part, text, len);
}

/* Prints the text of %m. The last field of the event has the error number. */
static void put_error(const struct message *message, const struct ptx_format_part *part)
{
	const struct posix_trace_value_np *value =
		message->values ? &message->value[message->values - 1] : NULL;
	char number[24];
	const char *text = NULL;

	if (!value || value->field->form != POSIX_TRACE_FORM_SIGNED_NP) {
		put_padded(message, part, "?", 1);
		return;
	}
	/*
	 * strerror() is not used: for unknown numbers its text is in a buffer that threads share.
	 */
	if (value->s64 >= 0 && value->s64 < 4096)
		text = ptx_libc_error_text((int)value->s64);
	if (!text) {
		snprintf(number, sizeof(number), "error %lld", (long long)value->s64);
		text = number;
	}
	put_padded(message, part, text, strlen(text));
}

/*
 * Prints a directive with the value of its argument. A missing value is a question mark: the data
 * may have been truncated, or may be shorter than the format requires.
 */
static void put_directive(const struct message *message, const struct ptx_format_part *part)
{
	const struct posix_trace_value_np *value = value_of(message, part->argument);
	enum posix_trace_form_np form;

	if (part->conversion == 'm') {
		put_error(message, part);
		return;
	}
	/* %n prints nothing. */
	if (part->conversion == 'n')
		return;
	if (!value) {
		put_padded(message, part, "?", 1);
		return;
	}
	/*
	 * A schema may come from a file in which fields and format do not suit each other. The
	 * form of the field decides which member of the value exists.
	 */
	form = value->field->form;
	if (part->conversion == 's' && form == POSIX_TRACE_FORM_BYTES_NP)
		put_string(message, part, value);
	else if (form == POSIX_TRACE_FORM_BYTES_NP)
		put_plain(message, part, value);
	else if (is_real(part->conversion) && form == POSIX_TRACE_FORM_FLOAT_NP)
		put_real(message, part, value);
	else if (form == POSIX_TRACE_FORM_FLOAT_NP || part->conversion == 's')
		put_plain(message, part, value);
	else if (part->conversion == 'c')
		put_character(message, part, value);
	else if (part->conversion == 'p')
		put_pointer(message, part, value);
	else if (is_integer(part->conversion))
		put_number(message, part, value);
	else
		put_plain(message, part, value);
}

/* The text is passed in parts, so that no buffer limits the length of a message. */
void ptx_message_parts(const struct posix_trace_schema_np *schema, const void *data, size_t len,
		       unsigned flags, void (*put)(void *arg, const char *part, size_t len),
		       void *arg)
{
	struct message message = { .put = put, .arg = arg };
	struct ptx_format format = { .at = schema->format };
	struct posix_trace_values_np values;
	struct ptx_format_part part;

	/* Each element of an array counts as one value. */
	posix_trace_values_begin_np(&values, schema, data, len, flags);
	/*
	 * The schema bounds the fields, but an array in it may have many values. Values behind the
	 * limit are not needed, because a format has at most as many arguments.
	 */
	while (message.values < POSIX_TRACE_FIELDS_MAX_NP &&
	       posix_trace_field_next_np(&values, &message.value[message.values]))
		message.values++;
	while (ptx_format_next(&format, &part))
		if (part.conversion)
			put_directive(&message, &part);
		else
			put(arg, part.text, part.len);
}

/*
 * The receiver of a text of any length. It keeps the first size - 1 bytes and counts all bytes, so
 * that the caller gets the length of the whole text.
 */
struct kept {
	char *to;
	size_t size, len;
};

/*
 * Appends a part, and keeps only the bytes that have room. The NUL is written at the end: until
 * then the kept text may fill the whole room.
 */
static void message_keep(void *arg, const char *part, size_t len)
{
	struct kept *kept = arg;

	if (kept->len < kept->size) {
		const size_t room = kept->size - kept->len;

		memcpy(kept->to + kept->len, part, len < room ? len : room);
	}
	kept->len += len;
}

/*
 * If the program was compiled before schemas had formats, its structure has no member `format`, and
 * the events have no message. snprintf() may set errno, which belongs to the program.
 */
PTX_EXPORT size_t posix_trace_message_print_sized_np(const struct posix_trace_schema_np *schema,
						     size_t schema_size, const void *data,
						     size_t len, unsigned flags, char *text,
						     size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct kept kept = { .to = text, .size = size };

	if (schema_size >= PTX_THROUGH(struct posix_trace_schema_np, format) && schema->format)
		ptx_message_parts(schema, data, len, flags, message_keep, &kept);
	if (size)
		text[kept.len < size ? kept.len : size - 1] = '\0';
	ptx_call_end(call, 0);
	return kept.len;
}
