/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/secure.h - the output of support/secure, run as secure OUT FOLDER INODE, in its
 * descriptor OUT.
 *
 * FOLDER is the runtime folder of the environment; INODE is that of the memory that the executing
 * process shares with its streams, 0 for none.
 */
#ifndef PTX_TESTS_SECURE_H
#define PTX_TESTS_SECURE_H

struct secure_report {
	int privileged; /* AT_SECURE */
	int memory;     /* a descriptor of INODE is open */
	int traced;
	int obedient;   /* it uses FOLDER */
};

#endif
