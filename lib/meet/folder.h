/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/folder.h - the runtime folder, with the links (rendezvous.h) and the file (quota.h) that the
 * processes of a user share.
 *
 * The environment variable POSIXTRACE_RUNTIME_DIR has the absolute path of the folder. If it is not
 * set, the folder is the first existing one of /run/user/UID/posixtrace and /tmp/.posixtrace-UID. A
 * folder is used only if it belongs to the user and no other user may enter it. Without a folder,
 * as in a container or on a full disk, a process can still trace itself.
 *
 * Threads   all functions may run concurrently, except ptx_folder_init().
 * Signals   async-signal-safe as long as no folder is made.
 */
#ifndef PTX_MEET_FOLDER_H
#define PTX_MEET_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the environment variable. The library's constructor calls this function. */
void ptx_folder_init(void);

/*
 * Returns a descriptor of the folder of user uid, or -1 if there is none. If `make` is true, the
 * folder is made if necessary.
 */
int ptx_folder_open(uint32_t uid, bool make);

/*
 * Like ptx_folder_open(), for the folder `name` inside the runtime folder. In the usual case
 * `make` is false and there is no such folder. The call then costs one system call for each of the
 * two paths.
 */
int ptx_folder_open_in(uint32_t uid, const char *name, bool make);

/* Removes the folder `name` from the runtime folder if it is empty. */
void ptx_folder_remove_from(uint32_t uid, const char *name);

#endif
