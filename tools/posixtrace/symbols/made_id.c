/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* made_id.c - identifies a file by its contents. */
#include "symbols/made_id.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/table.h"

static const uint8_t mark[8] = { 'c', 'o', 'n', 't', 'e', 'n', 't', 's' };

/*
 * The function hashes words of 8 bytes. The file is read by pread() and not mapped: if another
 * process shortened a mapped file meanwhile, reading it would raise SIGBUS.
 */
uint32_t made_id_of(int fd, uint8_t id[MADE_ID_BYTES])
{
	uint64_t hash = HASH_BEGIN, size, word[8192];
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	do {
		memset(word, 0, sizeof(word));
		n = pread(fd, word, sizeof(word), at);
		if (n < 0)
			return 0;
		for (size_t i = 0; i < ((size_t)n + 7) / 8; i++)
			hash = hash_number(hash, word[i]);
		at += n;
	} while (n == sizeof(word));
	if (at != st.st_size)
		return 0;
	size = (uint64_t)at;
	memcpy(id, mark, 8);
	memcpy(id + 8, &size, 8);
	memcpy(id + 16, &hash, 8);
	return MADE_ID_BYTES;
}

bool made_id_is(const uint8_t *id, uint32_t bytes)
{
	return bytes == MADE_ID_BYTES && !memcmp(id, mark, sizeof(mark));
}
