/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/environment.h - what a program that is executed finds in LD_PRELOAD.
 *
 * A dynamic linker of another C library ends the program when it cannot load the shim. That of
 * glibc prints a message when the shim is not there, as after chroot(2), or is for another
 * processor. So the shim takes its own name out of the LD_PRELOAD of such programs; an event says
 * so.
 *
 * Signals, vfork   all of it may be called there: no memory is allocated, nothing is locked.
 */
#ifndef PTX_PRELOAD_ENVIRONMENT_H
#define PTX_PRELOAD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* The program that is about to be executed: of a path below folder, or found as by execvp(3). */
struct shim_program {
	int folder;
	const char *path;
	bool is_searched;
};

/* Bytes for shim_environment_without(); 0: this environment can stay as it is. Makes the event. */
size_t shim_environment_room(char *const envp[], struct shim_program program, const void *caller);

/* The environment without the shim, in as many bytes, aligned for pointers. */
char *const *shim_environment_without(char *const envp[], void *room);

/* For functions of the C library that execute /bin/sh with the process's own environment: takes the
 * shim out of that for good, if the shell cannot have it. */
void shim_environment_for_shell(const void *caller);

/* The environment for a program, in the frame of the function that calls this. */
#define SHIM_ENVIRONMENT(envp, ...) \
	__extension__({ \
		char *const *envp_ = (envp); \
		size_t room_ = shim_environment_room(envp_, (struct shim_program){ __VA_ARGS__ }, \
						     shim_caller()); \
		room_ ? shim_environment_without(envp_, __builtin_alloca(room_)) : envp_; \
	})

/* Paths as the dynamic linker knows them, of libposixtrace and of the shim. */
extern const char *shim_own_path[2];

#endif
