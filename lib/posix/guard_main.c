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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "posix/guard.h"

/* Reads the 32 digits of a uuid. Returns false if the text has another form. */
static bool take_uuid(const char *text, uint8_t uuid[PTX_LOG_UUID_BYTES])
{
	char pair[3] = "", *end;

	if (strlen(text) != 2 * PTX_LOG_UUID_BYTES)
		return false;
	for (size_t i = 0; i < PTX_LOG_UUID_BYTES; i++) {
		memcpy(pair, text + 2 * i, 2);
		uuid[i] = (uint8_t)strtoul(pair, &end, 16);
		if (end != pair + 2)
			return false;
	}
	return true;
}

/* If a user starts the guardian by hand, it prints a message. */
int main(int argc, char **argv)
{
	uint8_t uuid[PTX_LOG_UUID_BYTES];

	if (argc != 6 && (argc != 7 || !take_uuid(argv[6], uuid))) {
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
		.bit = (unsigned)strtoul(argv[1], NULL, 10),
		.generation = strtoull(argv[2], NULL, 10),
		.same_ids = argv[3][0] == '1',
		.log_number = strtoull(argv[4], NULL, 10),
		.which = argv[5][0] == '1',
		.uuid = argc == 7 ? uuid : NULL,
	}));
}
