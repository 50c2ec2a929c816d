/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay.c - runs a fuzz target without an engine.
 *
 *	TARGET FILE...              reads each file; names that end in .hex are text (text.h)
 *	TARGET -o FOLDER FILE...    writes their bytes into a folder, for an engine to begin with
 *	TARGET -x FILE [BASE]       prints bytes as text, or how they differ from BASE (below
 *	                            tests/)
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/text.h"

/* An engine has a main() of its own. */
#ifndef PTX_FUZZ_ENGINE

static bool write_input(const char *folder, const char *path, const struct text_bytes *input)
{
	const char *name = strrchr(path, '/');
	char out[600];
	FILE *file;
	bool good;

	snprintf(out, sizeof(out), "%s/%s", folder, name ? name + 1 : path);
	file = fopen(out, "we");
	if (!file) {
		perror(out);
		return false;
	}
	good = fwrite(input->bytes, 1, input->size, file) == input->size;
	return fclose(file) == 0 && good;
}

int main(int argc, char **argv)
{
	const char *folder = NULL;
	bool as_text = argc > 2 && strcmp(argv[1], "-x") == 0;
	int first = 1;

	if (argc > 2 && strcmp(argv[1], "-o") == 0) {
		folder = argv[2];
		first = 3;
	}
	if (as_text)
		first = 2;
	for (int i = first; i < (as_text ? 3 : argc); i++) {
		struct text_bytes input = { 0 };

		if (!text_read(argv[i], &input))
			return 2;
		if (as_text) {
			text_write(stdout, input.bytes, input.size, argc > 3 ? argv[3] : NULL);
		} else if (folder) {
			if (!write_input(folder, argv[i], &input))
				return 2;
		} else {
			fprintf(stderr, "%s: %zu bytes\n", argv[i], input.size);
			LLVMFuzzerTestOneInput(input.bytes, input.size);
		}
		free(input.bytes);
	}
	if (!as_text && !folder)
		printf("%d inputs\n", argc - first);
	return argc > first ? 0 : 2;
}

#endif
