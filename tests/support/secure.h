/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/secure.h - what support/secure, run as secure OUT FOLDER INODE, says in its descriptor
 * OUT.
 *
 * FOLDER is where the environment wants the runtime folder to be; INODE is of the memory that who
 * executes it shares with its streams, 0 for none.
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
