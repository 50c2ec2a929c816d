/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event.h - an event in the form that templates use, and the pointer into its data.
 *
 * Offsets 0 to 7 are a word in place of AIX's hook word; the event's data begins at offset 8. The
 * pointer may have any value, also a value before the beginning. A read before the beginning fails,
 * like a read behind the end.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_EVENT_H
#define POSIXTRACE_REPORT_TEMPLATE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/template/codes.h"

#define HOOK_WORD_BYTES 8

struct template_event {
	const char *shown;   /* the name of the type, or evt_ and its number */
	uint32_t id;
	int64_t pid;
	uint64_t tid;        /* posix_thread_id as a number */
	uint64_t address;
	int64_t time_ns;
	unsigned truncated;
	const unsigned char *data;
	size_t data_len;
	bool big_endian;     /* the log's byte order */
};

struct reader {
	const struct template_event *event;
	unsigned char hook[HOOK_WORD_BYTES];
	int64_t at;          /* the pointer: an offset in bytes */
	/* the pointer's bit in the byte at this offset; 0: the most significant */
	unsigned bit;
	int64_t base;
};

/*
 * Sets the pointer to the beginning of the data. Makes the hook word, which AIX puts before the
 * data, from the length of the data and the number of the event type. The event must remain valid
 * as long as the reader is used.
 */
void reader_init(struct reader *reader, const struct template_event *event);

/* Moves the pointer by a code G, O, R or W. */
void reader_move(struct reader *reader, const struct code *code);

/*
 * The pointer as an offset from the base, which reader->base has. reader_pointer() rounds it up to
 * a whole byte.
 */
int64_t reader_pointer(const struct reader *reader);
void reader_set_pointer(struct reader *reader, int64_t pointer);

/*
 * These functions read the number of a code, or "count" bytes, and move the pointer behind the bits
 * or bytes that they have read. If too few bytes are left, the functions return false and do not
 * move the pointer. reader_integer() needs a code for which code_is_integer() holds. The codes HB
 * and HT read no bytes.
 */
bool reader_integer(struct reader *reader, const struct code *code, uint64_t *value);
bool reader_bytes(struct reader *reader, size_t count, unsigned char *bytes);

/*
 * Finds the text at the pointer, of at most len bytes, and stores its offset and length. The caller
 * gets the bytes of the text by reader_byte(). If no byte is left and may_be_empty is true, the
 * text is empty. If no byte is left and may_be_empty is false, the function returns false.
 */
bool reader_text(struct reader *reader, uint64_t len, bool may_be_empty, int64_t *offset,
		 size_t *text_len);
unsigned char reader_byte(const struct reader *reader, int64_t offset);

/* Finds the text of an A or S code. The text of A ends at its first NUL. */
bool reader_code_text(struct reader *reader, const struct code *code, int64_t *offset,
		      size_t *text_len);

/* Returns the number in the word n of the data; a word has 8 bytes, and n counts from 1. */
uint64_t reader_data_word(const struct reader *reader, unsigned n);

/*
 * Reduces a number of 64 bits to the bits that a format code shows. "letter", "m" and "n" are the
 * parts of the code, as in struct code.
 */
uint64_t narrow(uint64_t value, char letter, unsigned m, unsigned n);

/* Returns the number that the bytes form. */
uint64_t number_of_bytes(const unsigned char *bytes, size_t count, bool big_endian);

#endif
