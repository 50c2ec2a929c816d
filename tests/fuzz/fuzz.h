/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/fuzz.h - what the fuzz targets share. README here says what there is.
 *
 * A target is a program that has LLVMFuzzerTestOneInput() and fuzz_words[]. Linked with replay.c
 * it gives itself the files that it is called with; linked with an engine (libFuzzer, or that of
 * AFL++) it is given whatever the engine thinks of. It must not remember anything from one
 * input to the next.
 */
#ifndef PTX_TESTS_FUZZ_H
#define PTX_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What stands for a byte in the text of an input; the last has no word. */
struct fuzz_word {
	const char *word;
	uint8_t byte;
};

extern const struct fuzz_word fuzz_words[];

/* A finding: says what, and aborts. */
void fuzz_found(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define FUZZ_MUST(condition, ...) ((condition) ? (void)0 : fuzz_found(__VA_ARGS__))

/* A memory file with the bytes; the place is at its beginning. */
int fuzz_file(const uint8_t *data, size_t size);

/* The least free descriptor: one that grows is a leak. */
int fuzz_next_descriptor(void);

#endif
