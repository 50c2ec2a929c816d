/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/secure.h - the report of the program support/secure. It is called as
 * secure OUT FOLDER INODE, and writes the report to its descriptor OUT.
 *
 * FOLDER is the runtime folder that the environment names. INODE is the inode of the memory that
 * the caller of secure shares with its streams, or 0 if there is no such memory.
 */
#ifndef PTX_TESTS_SECURE_H
#define PTX_TESTS_SECURE_H

struct secure_report {
	int privileged; /* the kernel has set AT_SECURE */
	int memory;     /* a descriptor of INODE is open */
	int traced;
	int obedient;   /* it uses FOLDER */
};

#endif
