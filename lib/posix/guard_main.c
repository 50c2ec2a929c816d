/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posixtrace-guardian BIT GENERATION SAME-IDS LOG LOCK [UUID] - completes the log of a killed
 * writer; posix/guard.h. A process that has run since before an upgrade of the library may pass no
 * UUID.
 *
 * Only the library starts it: descriptor 3 is the arena, 4 is the log, 5 is a file that the creator
 * has mapped. It has no terminal to which it could print, so errors go into its exit
 * status.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "posix/guard.h"

/*
 * Reads the 32 digits of a uuid. Returns false if the text has another form. strtoul() would also
 * accept a blank or a sign in place of a digit.
 */
static bool take_uuid(const char *text, uint8_t uuid[PTX_LOG_UUID_BYTES])
{
	char pair[3] = "";

	if (strlen(text) != 2 * PTX_LOG_UUID_BYTES ||
	    strspn(text, "0123456789abcdefABCDEF") != 2 * PTX_LOG_UUID_BYTES)
		return false;
	for (size_t i = 0; i < PTX_LOG_UUID_BYTES; i++) {
		memcpy(pair, text + 2 * i, 2);
		uuid[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return true;
}

/* Reads a decimal number. Returns false if the text has another form or the number is too large. */
static bool take_number(const char *text, uint64_t most, uint64_t *number)
{
	errno = 0;
	*number = strtoull(text, NULL, 10);
	return *text && !text[strspn(text, "0123456789")] && !errno && *number <= most;
}

/* If a user starts the guardian by hand, it prints a message. */
int main(int argc, char **argv)
{
	uint8_t uuid[PTX_LOG_UUID_BYTES];
	uint64_t bit, generation, same_ids, log_number, which;

	if ((argc != 6 && (argc != 7 || !take_uuid(argv[6], uuid))) ||
	    !take_number(argv[1], UINT_MAX, &bit) ||
	    !take_number(argv[2], UINT64_MAX, &generation) ||
	    !take_number(argv[3], 1, &same_ids) ||
	    !take_number(argv[4], UINT64_MAX, &log_number) || !take_number(argv[5], 1, &which)) {
		fprintf(stderr, "posixtrace-guardian is started by libposixtrace\n");
		return 2;
	}
	/*
	 * The memory of the completed stream is not freed, since the process ends here. A leak
	 * check at exit() would report it, and would replace the exit status.
	 */
	_exit(ptx_guard_run(&(struct ptx_guarded){
		.arena_fd = 3,
		.log_fd = 4,
		.life_fd = 5,
		.bit = (unsigned)bit,
		.generation = generation,
		.same_ids = same_ids,
		.log_number = log_number,
		.which = which,
		.uuid = argc == 7 ? uuid : NULL,
	}));
}
