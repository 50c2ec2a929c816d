/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_exec.c - family process: another program is executed.
 *
 * The event precedes the call, which does not return if it succeeds. If it returns, a second
 * event has the error. In a child of vfork(), which uses its parent's memory, these events are
 * recorded as events of the parent. Their field pid has the id of the child.
 *
 * All wrappers call execve(), execvpe(), fexecve() or execveat(). If the program cannot load the
 * shim, they remove the shim from the environment first.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/environment.h"
#include "preload/shim.h"
#include "preload/text.h"

/*
 * Records a call before it is made. The path and the arguments may be in invalid memory, so the
 * memory is checked before it is read (text.h).
 */
static void put_exec(int fd, const char *path, char *const argv[], const void *caller)
{
	struct {
		int32_t pid, fd;
		char text[SHIM_TEXT];
	} data = { .pid = shim_pid(), .fd = fd };
	size_t len = shim_text_before(data.text, sizeof data.text / 2, path);

	len += shim_text_arguments(data.text + len, sizeof data.text - len, argv);
	shim_put(PROCESS_EXEC, &data, 8 + len, caller);
}

/* Records the failure of a call, and returns `result`. errno is that of the call. */
static int put_exec_failed(int result, const void *caller)
{
	const int32_t data[2] = { shim_pid(), errno };

	if (*shim_switch[PROCESS_EXEC_FAILED])
		shim_put(PROCESS_EXEC_FAILED, data, sizeof data, caller);
	return result;
}

/*
 * The wrapper of a function that executes a program. The last arguments are those of
 * SHIM_ENVIRONMENT(); `by` and `args` give the real call, whose result the wrapper returns.
 */
#define EXEC(name, params, by, args, fd, path, ...) \
	SHIM_WRAPPER int name params \
	{ \
		/* \
		 * The environment is changed before the check, because an untraced call needs the \
		 * changed environment, too. \
		 */ \
		char *const *environment = SHIM_ENVIRONMENT(__VA_ARGS__); \
		if (!shim_on(PROCESS_EXEC)) \
			return next(by) args; \
		put_exec(fd, path, argv, shim_caller()); \
		return put_exec_failed(next(by) args, shim_caller()); \
	}

/*
 * The real functions that the wrappers below call. Two functions that differ only in the form of
 * their arguments use the same real function.
 */
SHIM_NEXT(execve, shim_no_number);
SHIM_NEXT(execvpe, shim_no_number);
SHIM_NEXT(fexecve, shim_no_number);
SHIM_NEXT(execveat, shim_no_number);

/*
 * execv() and execvp() have no environment; the wrappers pass environ, or a changed copy of it, to
 * real functions with an environment.
 */
EXEC(execve, (const char *path, char *const argv[], char *const envp[]), execve,
     (path, argv, environment), -1, path, envp, AT_FDCWD, path, false)
EXEC(execv, (const char *path, char *const argv[]), execve, (path, argv, environment), -1, path,
     environ, AT_FDCWD, path, false)
EXEC(execvp, (const char *path, char *const argv[]), execvpe, (path, argv, environment), -1, path,
     environ, AT_FDCWD, path, true)
EXEC(execvpe, (const char *path, char *const argv[], char *const envp[]), execvpe,
     (path, argv, environment), -1, path, envp, AT_FDCWD, path, true)
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), fexecve, (fd, argv, environment),
     fd, NULL, envp, fd, "", false)
EXEC(execveat, (int fd, const char *path, char *const argv[], char *const envp[], int flags),
     execveat, (fd, path, argv, environment, flags), fd, path, envp, fd, path, false)

/*
 * Counts the arguments of a list. The wrapper then copies the list into a vector in its frame, as
 * the C library does: these functions may be called in a child that must not allocate memory.
 */
#define COUNT(count, first, list) \
	do { \
		va_start(list, first); \
		for ((count) = 1; va_arg(list, const char *); (count)++) \
			; \
		va_end(list); \
	} while (0)

/* Copies the list with its NULL into argv, which has room for it. */
static void fill_arguments(char **argv, const char *first, va_list list)
{
	*argv = (char *)(uintptr_t)first;
	while (*argv)
		*++argv = va_arg(list, char *);
}

/*
 * execl() and execlp(). The macro itself calls alloca(), because the memory must be in the
 * wrapper's frame.
 */
#define EXECL(name, by, is_searched) \
	SHIM_WRAPPER int name(const char *path, const char *first, ...) \
	{ \
		size_t count; \
		va_list list; \
		COUNT(count, first, list); \
		char **argv = __builtin_alloca((count + 1) * sizeof *argv); \
		va_start(list, first); \
		fill_arguments(argv, first, list); \
		va_end(list); \
		char *const *environment = \
			SHIM_ENVIRONMENT(environ, AT_FDCWD, path, is_searched); \
		if (!shim_on(PROCESS_EXEC)) \
			return next(by)(path, argv, environment); \
		put_exec(-1, path, argv, shim_caller()); \
		return put_exec_failed(next(by)(path, argv, environment), shim_caller()); \
	}

EXECL(execl, execve, false)
EXECL(execlp, execvpe, true)

/* execle() has one more argument behind the NULL: the environment. */
SHIM_WRAPPER int execle(const char *path, const char *first, ...)
{
	size_t count;
	char *const *environment;
	char **argv;
	va_list list;

	COUNT(count, first, list);
	argv = __builtin_alloca((count + 1) * sizeof *argv);
	va_start(list, first);
	*argv = (char *)(uintptr_t)first;
	/* The list ends with NULL, which is copied, too. The environment follows the NULL. */
	for (size_t i = 0; argv[i]; i++)
		argv[i + 1] = va_arg(list, char *);
	environment = va_arg(list, char **);
	va_end(list);
	environment = SHIM_ENVIRONMENT(environment, AT_FDCWD, path, false);
	if (!shim_on(PROCESS_EXEC))
		return next(execve)(path, argv, environment);
	put_exec(-1, path, argv, shim_caller());
	return put_exec_failed(next(execve)(path, argv, environment), shim_caller());
}
