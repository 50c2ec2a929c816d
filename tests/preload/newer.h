/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/newer.h - declares the functions of newer.c if the headers of the C library lack them. */
#ifndef PRELOAD_NEWER_H
#define PRELOAD_NEWER_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <spawn.h>
#include <stdlib.h>

#if !__GLIBC_PREREQ(2, 39)
int pidfd_spawn(int *child, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
int pidfd_spawnp(int *child, const char *path, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
#endif
#if !__GLIBC_PREREQ(2, 43)
void free_sized(void *old, size_t size);
void free_aligned_sized(void *old, size_t alignment, size_t size);
int openat2(int folder, const char *path, const struct open_how *how, size_t size);
#endif

#endif
