/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/label.c - makes the label of a value, such as the name of an error, and finds the value of
 * a name.
 *
 * A label has at most POSIX_TRACE_LABEL_MAX_NP bytes: each name of bits occurs at most once, all
 * names with their separators are shorter than the text of the schema, and at most one number
 * follows.
 */
#include <signal.h>
#include <string.h>

#include <trace_np.h>

#include "base/clock.h"
#include "base/libc.h"
#include "posix/call.h"
#include "posix/first.h"
#include "posix/label.h"
#include "record/schema.h"

/* All error numbers of the kernel, and all signals, are below these limits. */
#define ERRORS  4096
#define SIGNALS 65

/* glibc uses the first two real-time signals itself, so SIGRTMIN is the third real-time signal. */
#define FIRST_REAL_TIME 34

/* Each put function appends text at the address `to`, without a NUL, and returns the end. */
static char *label_put(char *to, const char *text)
{
	const size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

/*
 * Appends a number. `base` is 8, 10 or 16. The function makes the digits from the last to the
 * first.
 */
static char *put_number(char *to, uint64_t number, unsigned base)
{
	char digits[24], *at = digits + sizeof(digits);

	do
		*--at = "0123456789abcdef"[number % base];
	while (number /= base);
	memcpy(to, at, (size_t)(digits + sizeof(digits) - at));
	return to + (digits + sizeof(digits) - at);
}

/* Returns whether the type is printed in octal. */
static bool is_octal(enum posix_trace_type_np type)
{
	return type >= POSIX_TRACE_TYPE_O8_NP && type <= POSIX_TRACE_TYPE_O64_NP;
}

/*
 * Returns the bits to which a name of bits applies: the bits of its mask or, without a mask, the
 * bits of its value. If the result is 0, the name belongs to the value 0.
 */
static uint64_t mask_of(const struct posix_trace_field_np *field, unsigned i)
{
	const uint64_t mask = field->value_mask ? field->value_mask[i] : 0;

	return mask ? mask : field->value_name[i].value;
}

/*
 * Appends the names of the bits that are set, with | between them, then the bits without a name as
 * one number. A name needs all of its bits, and earlier names have precedence. A signed field of
 * less than 64 bits was extended: the copies of its sign are not bits of the field.
 */
static char *put_bits(char *to, const struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *field = value->field;
	const char *begin = to;
	uint64_t left, bits = value->u64;

	if (field->form == POSIX_TRACE_FORM_SIGNED_NP && field->size < 8)
		bits &= (UINT64_C(1) << 8 * field->size) - 1;
	left = bits;
	for (unsigned i = 0; i < field->value_names; i++) {
		const uint64_t named = field->value_name[i].value, mask = mask_of(field, i);

		/* Bits that an earlier name has used are not used again. */
		if (mask ? (bits & mask) != named || (left & named) != named : bits != 0)
			continue;
		left &= ~mask;
		if (to != begin)
			*to++ = '|';
		to = label_put(to, field->value_name[i].name);
	}
	if (!left && to != begin)
		return to;
	if (to != begin)
		*to++ = '|';
	to = label_put(to, is_octal(field->type) ? "0" : "0x");
	/* For the octal number 0, the prefix "0" is already its digit. */
	return left || !is_octal(field->type) ? put_number(to, left, is_octal(field->type) ? 8 : 16)
					      : to;
}

/*
 * Appends the name of an error. Many calls return the negative number of an error, so a negative
 * number has the name of its absolute value with a minus sign. If there is no such name, nothing is
 * appended.
 */
static char *put_error(char *to, int64_t value)
{
	const char *name = NULL;

	if (value > -ERRORS && value < ERRORS && value != 0)
		name = ptx_libc_error_name((int)(value < 0 ? -value : value));
	if (!name)
		return to;
	if (value < 0)
		*to++ = '-';
	return label_put(to, name);
}

/*
 * Appends the name of a signal, such as SIGHUP or SIGRTMIN+2. If the number is no signal, nothing
 * is appended.
 */
static char *put_signal(char *to, int64_t value)
{
	const char *name = value > 0 && value < SIGNALS ? ptx_libc_signal_name((int)value) : NULL;

	if (name)
		return label_put(label_put(to, "SIG"), name);
	if (value < FIRST_REAL_TIME || value >= SIGNALS)
		return to;
	to = label_put(to, "SIGRTMIN");
	return value == FIRST_REAL_TIME
		       ? to
		       : put_number(label_put(to, "+"), (uint64_t)value - FIRST_REAL_TIME, 10);
}

/* Appends the name of a signal, or its number if it has no name. */
static char *put_any_signal(char *to, unsigned signal)
{
	char *end = put_signal(to, signal);

	return end != to ? end : put_number(label_put(to, "signal "), signal, 10);
}

/*
 * Appends the meaning of a status. The layout is that of Linux. The second byte has the exit
 * status, or the signal of a stop. The first byte has 0 after an exit, 0x7f for a stop, or the
 * signal that killed the process, with 0x80 for a core dump.
 */
static char *put_status(char *to, uint64_t value)
{
	const unsigned low = value & 0x7f, high = value >> 8 & 0xff;

	/* wait(2) never stores this number; system(3) returns it after an error. */
	if ((uint32_t)value == UINT32_MAX)
		return to;
	if ((value & 0xffffffff) == 0xffff)
		return label_put(to, "continued");
	if (low == 0)
		return put_number(label_put(to, "exited with "), high, 10);
	if (low == 0x7f)
		return put_any_signal(label_put(to, "stopped by "), high);
	to = put_any_signal(label_put(to, "killed by "), low);
	return value & 0x80 ? label_put(to, " (core dumped)") : to;
}

/* The name that a schema gives to a value precedes every other label. */
size_t ptx_label(const struct posix_trace_value_np *value, char *label)
{
	const struct posix_trace_field_np *field = value->field;
	const char *name = field->value_names ? posix_trace_value_name_np(value) : NULL;
	char *end = label;

	if (name)
		end = label_put(label, name);
	else if (field->has_bits)
		end = put_bits(label, value);
	else if (field->type == POSIX_TRACE_TYPE_ERRNO_NP)
		end = put_error(label, value->s64);
	else if (field->type == POSIX_TRACE_TYPE_SIGNAL_NP)
		end = put_signal(label, value->s64);
	else if (field->type == POSIX_TRACE_TYPE_WAIT_NP)
		end = put_status(label, value->u64);
	*end = '\0';
	return (size_t)(end - label);
}

/* A text that does not fit is truncated, as by snprintf(). */
PTX_EXPORT size_t posix_trace_value_label_sized_np(const struct posix_trace_value_np *value,
						   size_t value_size, char *text, size_t size)
{
	char label[POSIX_TRACE_LABEL_MAX_NP + 1];
	struct posix_trace_value_np known;
	size_t len, kept;

	label[0] = '\0';
	len = 0;
	if (value_size >= PTX_FIRST_VALUE) {
		ptx_sized_load(&known, sizeof(known), value,
			       value_size < sizeof(known) ? value_size : sizeof(known));
		len = ptx_label(&known, label);
	}
	if (size) {
		kept = len < size ? len : size - 1;
		memcpy(text, label, kept);
		text[kept] = '\0';
	}
	return len;
}

/* Finds the number from 1 to limit - 1 that has the given label in a field of this type. */
static bool find_number(const struct posix_trace_field_np *field, const char *name, int limit,
			uint64_t *number)
{
	char label[POSIX_TRACE_LABEL_MAX_NP + 1];
	struct posix_trace_value_np value = { .field = field };

	for (value.s64 = 1; value.s64 < limit; value.s64++)
		if (ptx_label(&value, label) && !strcmp(label, name)) {
			*number = value.u64;
			return true;
		}
	return false;
}

PTX_EXPORT int posix_trace_value_find_np(const struct posix_trace_field_np *field,
					 const char *name, uint64_t *number, uint64_t *mask)
{
	*mask = UINT64_MAX;
	for (unsigned i = 0; i < field->value_names; i++)
		if (!strcmp(field->value_name[i].name, name)) {
			*number = field->value_name[i].value;
			/* The name of the value 0 applies to all bits, so *mask stays as it is. */
			if (field->has_bits && mask_of(field, i))
				*mask = mask_of(field, i);
			return 1;
		}
	if (field->type == POSIX_TRACE_TYPE_ERRNO_NP)
		return find_number(field, name, ERRORS, number);
	if (field->type == POSIX_TRACE_TYPE_SIGNAL_NP)
		return find_number(field, name, SIGNALS, number);
	return 0;
}
