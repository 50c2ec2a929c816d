/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_spawn.c - family process: programs that are started by one call.
 *
 * The C library makes a child that runs in this process's memory until it executes the program.
 * That child calls no function of the shim. So only the call as a whole is traced.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/environment.h"
#include "preload/process.h"
#include "preload/shim.h"
#include "preload/text.h"

/* The fields of process.spawn: the path and the arguments follow each other in `text`. */
struct spawn_data {
	uint64_t time;
	int32_t child, error;
	/* In the schema the texts are two strings. */
	char text[SHIM_TEXT];
};

/*
 * Copies the path and the arguments before the call: the new program may show another thread that
 * it has started, and this thread may free them. Returns the number of bytes.
 */
static size_t copy_command(char text[SHIM_TEXT], const char *path, char *const argv[])
{
	size_t len = shim_text_unsure(text, SHIM_TEXT / 2, path);

	/* A quiet process cannot check all memory, and trusts the program as for the arguments. */
	if (len == 1 && shim_is_quiet())
		len = shim_text_before(text, SHIM_TEXT / 2, path);
	return len + shim_text_arguments(text + len, SHIM_TEXT - len, argv);
}

/* pidfd_spawn() and pidfd_spawnp() are new in glibc 2.39. */
#if !__GLIBC_PREREQ(2, 39)
int pidfd_spawn(int *child, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
int pidfd_spawnp(int *child, const char *path, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
#endif

/*
 * pidfd_spawnp() is declared with a pointer that is not null, but glibc accepts a null pointer. The
 * assembly hides the declaration from the compiler, so that it keeps the check.
 */
shim_inline void store(pid_t *child, pid_t number)
{
	__asm__("" : "+r"(child));
	if (child)
		*child = number;
}

/*
 * These functions return an error number and do not change errno. `child` is stored for the program
 * only after success, as the standard specifies it for the real function. id_of_ returns the id of
 * the child from the stored number.
 */
#define SPAWN(name, is_searched, id_of_) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name(pid_t *child, const char *path, \
			      const posix_spawn_file_actions_t *actions, \
			      const posix_spawnattr_t *attr, char *const argv[], \
			      char *const envp[]) \
	{ \
		/* \
		 * The environment is changed before the check, because an untraced call needs the \
		 * changed environment, too. \
		 */ \
		envp = SHIM_ENVIRONMENT(envp, AT_FDCWD, path, is_searched, true); \
		if (!shim_on(PROCESS_SPAWN)) \
			return next(name)(child, path, actions, attr, argv, envp); \
		/* Only the part up to call.len is recorded. */ \
		struct spawn_data data; \
		pid_t number = -1; \
		const size_t len = copy_command(data.text, path, argv); \
		data.child = -1; \
		data.error = ECANCELED; \
		SHIM_CALL(PROCESS_SPAWN, data); \
		call.len = offsetof(struct spawn_data, text) + len; \
		data.error = next(name)(&number, path, actions, attr, argv, envp); \
		if (!data.error) { \
			data.child = id_of_(number); \
			store(child, number); \
		} \
		return data.error; \
	}

/*
 * posix_spawnp() searches for the program in the caller's PATH, so the shim must do that, too, when
 * it checks the program. The events of the started program begin with its own process.start.
 */
SPAWN(posix_spawn, false, )
SPAWN(posix_spawnp, true, )
/* These store a descriptor of the child. */
SPAWN(pidfd_spawn, false, shim_pidfd_id)
SPAWN(pidfd_spawnp, true, shim_pidfd_id)

SHIM_NEXT(system, shim_no_number);

/*
 * system(3). The command is read before the call, because the program may change it from another
 * thread while the command runs.
 */
SHIM_WRAPPER int system(const char *command)
{
	/* The fields of process.system. */
	struct {
		uint64_t time;
		int32_t status, error;
		char command[SHIM_TEXT];
	} data;

	/*
	 * /bin/sh inherits the environment of the process. So the shim is removed from that
	 * environment if the shell cannot load the shim.
	 */
	shim_environment_for_shell(shim_caller());
	if (!shim_on(PROCESS_SYSTEM))
		return next(system)(command);
	data.status = -1;
	/* The event has this error if the thread is cancelled in system(). */
	data.error = ECANCELED;
	SHIM_CALL(PROCESS_SYSTEM, data);
	call.len = 16 + shim_text_before(data.command, sizeof data.command, command);
	data.status = next(system)(command);
	data.error = data.status == -1 ? errno : 0;
	return data.status;
}

SHIM_NEXT(popen, shim_no_pointer);

/*
 * popen(3). The event has the mode and the command. The creation of the pipe has no event.
 */
SHIM_WRAPPER FILE *popen(const char *command, const char *mode)
{
	/* The fields of process.popen: `mode` and `command` follow each other in `text`. */
	struct popen_data {
		uint64_t time;
		uint64_t file;
		int32_t error, fd;
		char text[SHIM_TEXT];
	} data;
	size_t len;
	FILE *file;

	/*
	 * As in system(), the shim may have to be removed, because the shell inherits the
	 * environment of this process.
	 */
	shim_environment_for_shell(shim_caller());
	if (!shim_on(PROCESS_POPEN))
		return next(popen)(command, mode);
	/*
	 * The two texts may be unreadable: the mode may be wrong, and only the shell in the child
	 * reads the command. The command may let another thread free them.
	 */
	len = shim_text_unsure(data.text, 16, mode);
	len += shim_text_before(data.text + len, sizeof data.text - len, command);
	data.file = 0;
	data.fd = -1;
	data.error = ECANCELED;
	SHIM_CALL(PROCESS_POPEN, data);
	call.len = offsetof(struct popen_data, text) + len;
	file = next(popen)(command, mode);
	data.file = (uint64_t)(uintptr_t)file;
	data.fd = file ? fileno(file) : -1;
	/* `error` is errno if popen() failed, and else 0. */
	data.error = file ? 0 : errno;
	return file;
}

SHIM_NEXT(pclose, shim_no_number);

/*
 * pclose(3) waits for the command. It returns a status, as waitpid() stores it, or -1 with errno.
 * The address of the stream of <stdio.h> identifies it, as in the event of popen().
 */
SHIM_WRAPPER int pclose(FILE *file)
{
	/* The fields of process.pclose. */
	struct pclose_data {
		uint64_t time;
		uint64_t file;
		int32_t status, error, fd;
	} data = { .file = (uint64_t)(uintptr_t)file, .status = -1, .error = ECANCELED };
	const int saved = errno;

	if (!shim_on(PROCESS_PCLOSE))
		return next(pclose)(file);
	data.fd = fileno(file);
	errno = saved;
	SHIM_CALL(PROCESS_PCLOSE, data);
	call.len = offsetof(struct pclose_data, fd) + sizeof data.fd;
	data.status = next(pclose)(file);
	data.error = data.status == -1 ? errno : 0;
	return data.status;
}
