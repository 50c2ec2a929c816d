/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/environment.h - the LD_PRELOAD of a program that is about to be executed.
 *
 * The dynamic linker of another C library ends the program if it cannot load the shim. The dynamic
 * linker of glibc prints a message if the shim does not exist, as after chroot(2), or if the shim
 * is for another processor. The shim therefore removes its own name from the LD_PRELOAD of such
 * programs, and records the event process.untraced. A shim that was injected is not in the
 * environment. While it records, it adds its name for programs that belong to the recording.
 *
 * Threads   all functions may run concurrently, if the program does not change its environment.
 * Signals   async-signal-safe, also in a child of vfork(): nothing is allocated or locked.
 */
#ifndef PTX_PRELOAD_ENVIRONMENT_H
#define PTX_PRELOAD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The program that is about to be executed: a path that begins at `folder`, or a name that is
 * searched for as execvp(3) does. by_child: the C library makes a child that executes the program.
 */
struct shim_program {
	int folder;
	const char *path;
	bool is_searched;
	bool by_child;
};

/*
 * Returns the bytes that shim_environment_change() needs; 0: the environment can stay as it is.
 * Records the event process.untraced if the program will not load the shim, also because the
 * environment lacks the shim.
 */
size_t shim_environment_room(char *const envp[], struct shim_program program, const void *caller);

/*
 * Returns the environment without the shim, or with the shim if it was not there. `room` is aligned
 * for pointers and has as many bytes as shim_environment_room() returned.
 */
char *const *shim_environment_change(char *const envp[], void *room);

/*
 * Removes the shim from the process's own environment, permanently, if /bin/sh cannot load the
 * shim. Called before functions of the C library that execute /bin/sh with this environment.
 */
void shim_environment_for_shell(const void *caller);

/*
 * The environment for a program: envp, or a changed copy in the frame of the function that uses the
 * macro.
 */
#define SHIM_ENVIRONMENT(envp, ...) \
	__extension__({ \
		char *const *envp_ = (envp); \
		size_t room_ = shim_environment_room(envp_, (struct shim_program){ __VA_ARGS__ }, \
						     shim_caller()); \
		room_ ? shim_environment_change(envp_, __builtin_alloca(room_)) : envp_; \
	})

/* The paths under which the dynamic linker has loaded libposixtrace (0) and the shim (1). */
extern const char *shim_own_path[2];

#endif
