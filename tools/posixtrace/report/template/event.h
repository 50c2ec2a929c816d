/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event.h - what a template sees of an event, and the pointer into its data.
 *
 * Offsets 0 to 7 are a word that stands for AIX's hook word; the event's data begins at offset 8.
 * The pointer may be anywhere, also before the beginning: reading there is reading past the end.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_EVENT_H
#define POSIXTRACE_REPORT_TEMPLATE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/template/codes.h"

#define HOOK_WORD_BYTES 8

struct template_event {
	const char *name;    /* NULL: not known */
	const char *shown;   /* its name, or evt_ and its number */
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
	int64_t at;          /* the byte */
	unsigned bit;        /* 0 is its most significant one */
	int64_t base;
};

void reader_init(struct reader *reader, const struct template_event *event);

/* G O R W. */
void reader_move(struct reader *reader, const struct code *code);

/* The byte to which the pointer is rounded up, as offset from the base. */
int64_t reader_pointer(const struct reader *reader);
void reader_set_pointer(struct reader *reader, int64_t pointer);

/*
 * Reads, and moves the pointer behind it; false, and nothing is moved, when less is left.
 * An integer is that of a code for which code_is_integer() holds; bytes are 16 at most.
 */
bool reader_integer(struct reader *reader, const struct code *code, uint64_t *value);
bool reader_bytes(struct reader *reader, size_t count, unsigned char *bytes);

/*
 * A text of len bytes, or as many as there are, at *offset: reader_byte() has each. False: nothing
 * is left, unless may_be_empty.
 */
bool reader_text(struct reader *reader, uint64_t len, bool may_be_empty, int64_t *offset,
		 size_t *text_len);
unsigned char reader_byte(const struct reader *reader, int64_t offset);

/* The text of an A or S code; of A up to its first NUL. */
bool reader_code_text(struct reader *reader, const struct code *code, int64_t *offset,
		      size_t *text_len);

/* The data word n, from 1. */
uint64_t reader_data_word(const struct reader *reader, unsigned n);

/* A value of so many bytes with this sign; what a macro's format makes of it. */
uint64_t narrow(uint64_t value, char letter, unsigned m, unsigned n);

/* The number that bytes form. */
uint64_t number_of_bytes(const unsigned char *bytes, size_t count, bool big_endian);

#endif
