/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_spawn.c - family process: programs that are started by one call.
 *
 * The child that the C library makes for it runs in our memory until it executes the program;
 * nothing of the shim is called there.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/environment.h"
#include "preload/shim.h"
#include "preload/text.h"

struct spawn_data {
	uint64_t time;
	int32_t child, error;
	char text[SHIM_TEXT];
};

#define SPAWN(name, is_searched) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name(pid_t *child, const char *path, \
			      const posix_spawn_file_actions_t *actions, \
			      const posix_spawnattr_t *attr, char *const argv[], \
			      char *const envp[]) \
	{ \
		envp = SHIM_ENVIRONMENT(envp, AT_FDCWD, path, is_searched); \
		if (!shim_on(PROCESS_SPAWN)) \
			return next(name)(child, path, actions, attr, argv, envp); \
		struct spawn_data data; \
		pid_t pid = -1; \
		size_t len; \
		data.child = -1; \
		data.error = ECANCELED; \
		SHIM_CALL(PROCESS_SPAWN, data); \
		call.len = offsetof(struct spawn_data, text); \
		data.error = next(name)(&pid, path, actions, attr, argv, envp); \
		if (!data.error) { \
			data.child = pid; \
			if (child) \
				*child = pid; \
		} \
		/* What failed may have been another thing than the path. */ \
		len = (data.error ? shim_text_before : shim_text)(data.text, \
								  sizeof data.text / 2, path); \
		len += shim_text_arguments(data.text + len, sizeof data.text - len, argv); \
		call.len += len; \
		return data.error; \
	}

SPAWN(posix_spawn, false)
SPAWN(posix_spawnp, true)

SHIM_NEXT(system, shim_no_number);

SHIM_WRAPPER int system(const char *command)
{
	struct {
		uint64_t time;
		int32_t status, error;
		char command[SHIM_TEXT];
	} data;

	shim_environment_for_shell(shim_caller());
	if (!shim_on(PROCESS_SYSTEM))
		return next(system)(command);
	data.status = -1;
	data.error = ECANCELED;
	SHIM_CALL(PROCESS_SYSTEM, data);
	call.len = 16 + shim_text_before(data.command, sizeof data.command, command);
	data.status = next(system)(command);
	data.error = data.status == -1 ? errno : 0;
	return data.status;
}

SHIM_NEXT(popen, shim_no_pointer);

SHIM_WRAPPER FILE *popen(const char *command, const char *mode)
{
	struct popen_data {
		uint64_t time;
		uint64_t file;
		int32_t error;
		char text[SHIM_TEXT];
	} data;
	size_t len;
	FILE *file;

	shim_environment_for_shell(shim_caller());
	if (!shim_on(PROCESS_POPEN))
		return next(popen)(command, mode);
	data.file = 0;
	data.error = ECANCELED;
	SHIM_CALL(PROCESS_POPEN, data);
	call.len = offsetof(struct popen_data, text);
	file = next(popen)(command, mode);
	data.file = (uint64_t)(uintptr_t)file;
	data.error = file ? 0 : errno;
	len = shim_text_after(data.text, 16, mode, data.error);
	len += shim_text_after(data.text + len, sizeof data.text - len, command, data.error);
	call.len += len;
	return file;
}

SHIM_NEXT(pclose, shim_no_number);

SHIM_WRAPPER int pclose(FILE *file)
{
	struct {
		uint64_t time;
		uint64_t file;
		int32_t status, error;
	} data = { .file = (uint64_t)(uintptr_t)file, .status = -1, .error = ECANCELED };

	if (!shim_on(PROCESS_PCLOSE))
		return next(pclose)(file);
	SHIM_CALL(PROCESS_PCLOSE, data);
	data.status = next(pclose)(file);
	data.error = data.status == -1 ? errno : 0;
	return data.status;
}
