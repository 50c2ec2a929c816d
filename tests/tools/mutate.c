/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mutate.c - gives decoders of foreign formats damaged copies of good files.
 *
 *	mutate ROUNDS SEED FILE...
 *
 * The same arguments give the same copies. A copy has a few changed bytes. They are often numbers
 * near a limit, at places where the file has numbers. Sometimes the end of the copy is missing. The
 * decoder must end with any content, and a sanitizer must find no fault.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "support/random.h"

#define FILE_BYTES (16u << 20)

uint64_t mutate_sum;

static uint64_t state;

static uint64_t below(uint64_t limit)
{
	return limit ? random_word(&state) % limit : 0;
}

/*
 * Returns the place of a change. It is often at the beginning of the file or of one of its blocks,
 * because most numbers that control the decoder are there.
 */
static size_t place(size_t size)
{
	size_t head = size < 512 ? size : 512;
	size_t block = below(size / 4096 + 1) * 4096 + below(256);

	switch (below(3)) {
	case 0:
		return below(head);
	case 1:
		return block < size ? block : 0;
	}
	return below(size);
}

static void change(unsigned char *bytes, size_t size)
{
	static const uint64_t odd[] = {
		0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 47, 48, 63, 71, 72, 0x7f, 0x80, 0xff, 0x100,
		0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff,
		0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	};
	size_t at = place(size), len = (size_t)1 << below(4);
	uint64_t value = odd[below(sizeof(odd) / sizeof(odd[0]))];

	switch (below(5)) {
	case 0:
		bytes[at] ^= (unsigned char)(1u << below(8));
		return;
	case 1:
		bytes[at] = (unsigned char)random_word(&state);
		return;
	case 2:
		value = size - below(64) + below(64);
		break;
	case 3: /* copies a piece of the file to this place */
		len = below(64);
		if (at + len <= size)
			memmove(bytes + at, bytes + below(size - len + 1), len);
		return;
	}
	at -= at % len;
	for (size_t i = 0; i < len && at + i < size; i++)
		bytes[at + i] = (unsigned char)(value >> 8 * i);
}

static unsigned char *load(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes = malloc(FILE_BYTES);

	if (!file || !bytes) {
		perror(path);
		exit(99);
	}
	*size = fread(bytes, 1, FILE_BYTES, file);
	fclose(file);
	return bytes;
}

static void mutate(const char *path, unsigned long rounds, uint64_t seed)
{
	size_t size;
	unsigned char *good = load(path, &size);

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (unsigned long i = 0; i < rounds; i++) {
		size_t len = below(8) ? size : below(size + 1);
		/* The memory has exactly this size, so that a sanitizer notices reads beyond it. */
		unsigned char *bad = malloc(len ? len : 1);

		if (!bad)
			exit(99);
		memcpy(bad, good, len);
		for (uint64_t n = below(8); n && len; n--)
			change(bad, len);
		mutate_decode(bad, len);
		free(bad);
	}
	free(good);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: mutate ROUNDS SEED FILE...\n");
		return 2;
	}
	for (int i = 3; i < argc; i++)
		mutate(argv[i], strtoul(argv[1], NULL, 0), strtoull(argv[2], NULL, 0));
	printf("%016llx\n", (unsigned long long)mutate_sum);
	return 0;
}
