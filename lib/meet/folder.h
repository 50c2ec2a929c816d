/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/folder.h - the runtime folder, where the processes of a user find what they share.
 *
 * It is POSIXTRACE_RUNTIME_DIR, an absolute path, or else the first existing folder of
 * /run/user/UID/posixtrace and /tmp/.posixtrace-UID. The folder is used only if it belongs to the
 * user and no other user may enter it. Without a folder, as in a container or on a full disk,
 * everything that a process can do alone still works.
 *
 * Signals   async-signal-safe as long as no folder is made.
 */
#ifndef PTX_MEET_FOLDER_H
#define PTX_MEET_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the environment. The library's constructor calls it. */
void ptx_folder_init(void);

/*
 * Returns a descriptor of the folder of user uid, or -1 if there is none. If `make` is true, the
 * folder is made if necessary.
 */
int ptx_folder_open(uint32_t uid, bool make);

/*
 * Does the same for the folder `name` inside the runtime folder. If `make` is false and there is no
 * such folder, which is the usual case, the call costs one system call for each place.
 */
int ptx_folder_open_in(uint32_t uid, const char *name, bool make);

/* Removes the folder `name` from the runtime folder if it is empty. */
void ptx_folder_remove_from(uint32_t uid, const char *name);

#endif
