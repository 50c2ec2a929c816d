/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/secure.h - the report of the program support/secure. A test executes
 * "secure OUT FOLDER INODE". The program writes the report to its descriptor OUT.
 *
 * FOLDER is the runtime folder that the environment names. INODE is the inode of the caller's
 * arena, or 0 if the caller has no arena.
 */
#ifndef PTX_TESTS_SECURE_H
#define PTX_TESTS_SECURE_H

struct secure_report {
	int privileged; /* the kernel has set AT_SECURE */
	int memory;     /* a descriptor of INODE is open */
	int traced;
	int obedient;   /* the program uses FOLDER */
};

#endif
