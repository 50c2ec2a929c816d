/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run_text.c - codes that print, and texts of the data. */
#include <stdio.h>
#include <string.h>

#include "report/template/print.h"
#include "report/template/run.h"

#define BUILTIN_BYTES 32 /* greatest number of bytes of data that the built-in form shows */

/*
 * A long text needs more time than a step, so it counts as further steps, one for each 64 bytes.
 * Otherwise a loop over a long text could take minutes within the limit of steps. At most 1024
 * steps are added, so the number cannot wrap.
 */
static void run_text_charge(struct run *run, size_t bytes)
{
	run->steps += (uint32_t)(bytes < 65536 ? bytes / 64 : 1024);
}

/*
 * Prints a text of the data as a field. The text is shortened or padded to the width, unless the
 * width is 0.
 */
static void print_text(struct run *run, int64_t offset, size_t len, unsigned width, bool separated)
{
	struct prose *prose = &run->prose;
	size_t shown = width && len > width ? width : len;

	run_text_charge(run, len);
	prose_begin_field(prose);
	for (size_t i = 0; i < shown && prose->len < PROSE_BYTES; i++)
		prose_byte(prose, reader_byte(&run->reader, offset + (int64_t)i));
	for (size_t i = shown; i < width; i++)
		prose_byte(prose, ' ');
	prose_end_field(prose, separated);
}

static bool print_text_code(struct run *run, const struct code *code)
{
	int64_t offset;
	size_t len;

	if (!reader_code_text(&run->reader, code, &offset, &len))
		return false;
	/* A0 without a width prints a single character of a word, so no separator follows it. */
	print_text(run, offset, len, code->n, code->m || code->n);
	return true;
}

/*
 * Prints the data of a code X byte by byte, if no integer has this length. X0 prints one byte
 * without a separator behind it, so that several X0 form one field. "count" is 16 at most.
 */
static bool print_byte_string(struct run *run, unsigned count)
{
	unsigned char bytes[16];
	char text[PRINT_BYTES];
	size_t len;

	if (!reader_bytes(&run->reader, count ? count : 1, bytes))
		return false;
	len = print_bytes(text, bytes, count ? count : 1);
	prose_begin_field(&run->prose);
	for (size_t i = 0; i < len; i++)
		prose_byte(&run->prose, (unsigned char)text[i]);
	prose_end_field(&run->prose, count > 0);
	return true;
}

/*
 * Prints the field of a code, and moves the pointer behind the data that the code reads. The codes
 * F, T and P can only be printed, so code_is_integer() is false for them.
 */
bool run_print_code(struct run *run, const struct code *code)
{
	char text[PRINT_BYTES];
	unsigned char bytes[8];
	uint64_t value;
	size_t len;

	if (code_is_text(code))
		return print_text_code(run, code);
	if (code->letter == 'X' && !code_is_integer(code))
		return print_byte_string(run, code->m);
	if (code_is_integer(code)) {
		if (!reader_integer(&run->reader, code, &value))
			return false;
	} else { /* F T P */
		if (!reader_bytes(&run->reader, code->m, bytes))
			return false;
		value = number_of_bytes(bytes, code->m, run->event->big_endian);
	}
	if (code->letter == CODE_DATA_BYTES)
		len = print_number(text, value, 'U', 8);
	else if (code->letter == CODE_HOOK_TYPE)
		len = print_number(text, value, 'X', 2);
	else
		len = print_number(text, value, code->letter, code->m);
	prose_field(&run->prose, text, len);
	return true;
}

/*
 * Prints the text at the pointer. The length of the text is on the stack and may be any number.
 * reader_text() limits it to the data that is left.
 */
bool run_counted(struct run *run, unsigned width)
{
	uint64_t wanted = run->depth ? run->stack[--run->depth] : 0;
	int64_t offset;
	size_t len;

	if (!reader_text(&run->reader, wanted, true, &offset, &len))
		return false;
	print_text(run, offset, len, width, true);
	return true;
}

/*
 * Reads a text into the register of the switch. The register has only the position and length of
 * the text, because the data does not change while the event is processed.
 */
bool run_read_text(struct run *run, const struct code *code)
{
	run->subject_string = NULL;
	if (!reader_code_text(&run->reader, code, &run->subject_at, &run->subject_len))
		return false;
	run_text_charge(run, run->subject_len);
	return true;
}

/*
 * Returns whether the subject of a switch equals a text. The instruction that put a subject of the
 * data into the register has checked its range.
 */
bool run_subject_is(struct run *run, const char *text, size_t len)
{
	if (len != run->subject_len)
		return false;
	if (run->subject_string)
		return !memcmp(run->subject_string, text, len);
	run_text_charge(run, len);
	for (size_t i = 0; i < len; i++)
		if (reader_byte(&run->reader, run->subject_at + (int64_t)i) !=
		    (unsigned char)text[i])
			return false;
	return true;
}

/*
 * Prints "len=" and the length, then at most BUILTIN_BYTES bytes of the data in hexadecimal, and
 * "..." if there are more.
 */
void run_body_of_builtin(struct run *run)
{
	const struct template_event *event = run->event;
	size_t shown = event->data_len < BUILTIN_BYTES ? event->data_len : BUILTIN_BYTES;
	struct prose *prose = &run->prose;
	char text[PRINT_BYTES];

	prose_literal(prose, "len=", 4);
	prose_field(prose, text, print_number(text, event->data_len, 'U', 8));
	if (!event->data_len)
		return;
	prose_begin_field(prose);
	for (size_t i = 0; i < shown; i++) {
		size_t len = print_bytes(text, event->data + i, 1);

		for (size_t j = 0; j < len; j++)
			prose_byte(prose, (unsigned char)text[j]);
	}
	if (shown < event->data_len)
		for (unsigned i = 0; i < 3; i++)
			prose_byte(prose, '.');
	prose_end_field(prose, true);
}
