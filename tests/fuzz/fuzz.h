/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/fuzz.h - shared by the fuzz targets. README lists them.
 *
 * A target is a program that has LLVMFuzzerTestOneInput() and fuzz_words[]. Linked with replay.c,
 * it reads the files that its arguments name. Linked with an engine (libFuzzer or AFL++), it gets
 * the inputs of the engine. It must keep no state from one input to the next.
 */
#ifndef PTX_TESTS_FUZZ_H
#define PTX_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The word for a byte in the text form of an input. The last entry has no word. */
struct fuzz_word {
	const char *word;
	uint8_t byte;
};

extern const struct fuzz_word fuzz_words[];

/* Reports a finding and aborts. */
void fuzz_found(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define FUZZ_MUST(condition, ...) ((condition) ? (void)0 : fuzz_found(__VA_ARGS__))

/* A memory file with the bytes. Its file offset is 0. */
int fuzz_file(const uint8_t *data, size_t size);

/* Returns the lowest free descriptor. If it grows, descriptors leak. */
int fuzz_next_descriptor(void);

#endif
