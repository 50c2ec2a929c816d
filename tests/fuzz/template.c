/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* template.c - a template file, read and linked: the text is the input. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "report/template/load.h"

const struct fuzz_word fuzz_words[] = { { 0 } };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct templates templates;
	int fd = fuzz_file(data, size);
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	templates_init(&templates);
	if (templates_load(&templates, path) == 0)
		templates_link(&templates);
	templates_for_event(&templates, "read", 64);
	templates_fini(&templates);
	close(fd);
	return 0;
}
