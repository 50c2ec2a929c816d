/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/environment.c - adds the shim to LD_PRELOAD, or removes it from there.
 *
 * The functions may run between fork() or vfork() and execve(). They allocate nothing; the caller
 * provides memory in its frame. The environment is memory of the program and may be large, so it is
 * copied only if it must change.
 */
#include "preload/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/filter.h"
#include "preload/image.h"
#include "preload/inject.h"
#include "preload/self.h"
#include "preload/shim.h"
#include "preload/text.h"
#include "preload/vfork.h"

/*
 * The beginnings of two variables of the environment, and the file name that the shim has in the
 * value of LD_PRELOAD.
 */
#define NAME    "LD_PRELOAD="
#define CHOICE  "POSIXTRACE_TRACE="
#define LIBRARY "libposixtrace-preload.so"

/* start.c sets these paths when it starts the shim. */
shim_start_data const char *shim_own_path[2];

/* Returns whether c separates names in LD_PRELOAD. */
static bool is_between(char c)
{
	return c == ':' || c == ' ';
}

/*
 * Returns whether the name in LD_PRELOAD is the shim's: its own path, or any path with the
 * shim's file name, because the shim may be installed at several places.
 */
static bool is_shim(const char *name, size_t len)
{
	const char *own = shim_own_path[1];
	size_t library = strlen(LIBRARY);

	if (own && strlen(own) == len && !memcmp(own, name, len))
		return true;
	return len >= library && !memcmp(name + len - library, LIBRARY, library) &&
	       (len == library || name[len - library - 1] == '/');
}

/*
 * Finds the shim's name in a value of LD_PRELOAD, and the length of this name. NULL: the name is
 * not there.
 */
static const char *find_shim(const char *value, size_t *len)
{
	while (*value) {
		for (*len = 0; value[*len] && !is_between(value[*len]);)
			++*len;
		if (is_shim(value, *len))
			return value;
		value += *len;
		while (is_between(*value))
			value++;
	}
	return NULL;
}

/* Returns whether an environment variable is an LD_PRELOAD with the shim. */
static bool has_shim(const char *variable)
{
	size_t len;

	return !strncmp(variable, NAME, strlen(NAME)) && find_shim(variable + strlen(NAME), &len);
}

/*
 * Copies a value of LD_PRELOAD without the shim. `to` may be `value` itself, because the result is
 * never longer.
 */
static void copy_without(char *to, const char *value)
{
	char *begin = to;

	while (*value) {
		size_t len = 0;

		/* In the result, single colons separate the names. */
		while (value[len] && !is_between(value[len]))
			len++;
		if (!is_shim(value, len)) {
			if (to > begin)
				*to++ = ':';
			memmove(to, value, len);
			to += len;
		}
		value += len;
		while (is_between(*value))
			value++;
	}
	*to = '\0';
}

/*
 * For a process without a free descriptor: returns whether execve() closes none of its descriptors.
 * If so, the dynamic linker of the executed program cannot open a library and prints a message. The
 * loop is long only if the process has used up a high limit with descriptors that stay open.
 */
static bool keeps_descriptors(void)
{
	const int saved = errno;
	bool lacks = true;
	struct rlimit limit;

	if (!syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit))
		for (int fd = 0; lacks && (rlim_t)fd < limit.rlim_cur; fd++) {
			long flags = syscall(SYS_fcntl, fd, F_GETFD);

			lacks = flags >= 0 && !(flags & FD_CLOEXEC);
		}
	errno = saved;
	return lacks;
}

/*
 * Returns the reason why a program cannot load the shim; NULL: the program can load the shim, or it
 * is unknown whether it can. The text becomes the field `why` of process.untraced. *keeps is set to
 * true if the environment must not be changed, because the program ignores LD_PRELOAD and may
 * execute programs that use it.
 */
static const char *reason_against(const struct shim_program *program, bool *keeps)
{
	char loader[SHIM_LOADER_BYTES];

	*keeps = false;
	switch (program->is_searched ? shim_image_find(program->path, getenv("PATH"), loader) :
				       shim_image_of(program->folder, program->path, loader)) {
	case SHIM_IMAGE_FOREIGN:
		return "other C library";
	case SHIM_IMAGE_MACHINE:
		return "other processor";
	case SHIM_IMAGE_STATIC:
		*keeps = true;
		return "statically linked";
	case SHIM_IMAGE_RIGHTS:
		*keeps = true;
		return "set-user-ID or set-group-ID";
	case SHIM_IMAGE_UNOPENED:
		if (keeps_descriptors())
			return "no free descriptor";
		break;
	case SHIM_IMAGE_UNKNOWN:
	case SHIM_IMAGE_GLIBC:
		break;
	}
	/*
	 * The program can only load the shim if this process can reach the shim's files. After
	 * chroot() it often cannot. Only absolute paths are checked, because the meaning of a
	 * relative path depends on the current folder, which the program may change.
	 */
	for (int i = 0; i < 2; i++)
		if (shim_own_path[i] && shim_own_path[i][0] == '/' &&
		    shim_image_is_missing(shim_own_path[i]))
			return "no library there";
	return NULL;
}

/*
 * Returns the reason why an environment without the shim leaves a program untraced. There may be no
 * LD_PRELOAD, as with env -i, after sudo(8), and in a process that was already running when tracing
 * began. Or the program has replaced the list by a list of its own.
 */
static const char *reason_without_shim(char *const envp[])
{
	for (; envp && *envp; envp++)
		if (!strncmp(*envp, NAME, strlen(NAME)) && (*envp)[strlen(NAME)])
			return "executed with another LD_PRELOAD";
	return "executed without LD_PRELOAD";
}

/*
 * Returns true if the file is known not to exist, so that its execution fails. A name that is
 * searched for, and a path below a descriptor, are not checked. Many programs call execve() for a
 * name in each folder of PATH in turn. The system call also checks the pointer to the path.
 */
static bool is_missing(const struct shim_program *program)
{
	const int saved = errno;
	bool missing = false;

	if (program->folder == AT_FDCWD && !program->is_searched &&
	    syscall(SYS_faccessat, AT_FDCWD, program->path, F_OK))
		missing = errno == ENOENT || errno == ENOTDIR;
	errno = saved;
	return missing;
}

/*
 * Checks whether the program will be traced, and records process.untraced if it will not. Returns
 * whether the shim must be removed from its environment. `lack` is the reason of
 * reason_without_shim(), or NULL if the environment has the shim.
 */
static bool is_untraced(const struct shim_program *program, const void *caller, const char *lack)
{
	struct {
		int32_t pid;
		char text[SHIM_TEXT];
	} data;
	bool keeps = false;
	const char *why = NULL;
	size_t len;

	/*
	 * A quiet process cannot examine the program: its filter may refuse the system calls that
	 * read the file. It only checks whether the filter, which stays in force for the program,
	 * permits the shim's start.
	 */
	if (!shim_is_quiet())
		why = reason_against(program, &keeps);
	else if (shim_filter_forbids_start())
		why = "seccomp filter";
	if (!why)
		why = lack;
	if (!why)
		return false;
	if (*shim_switch[PROCESS_UNTRACED] && shim_is_wanted(PROCESS_UNTRACED, caller) &&
	    (shim_is_quiet() || !is_missing(program))) {
		data.pid = shim_pid();
		/*
		 * The reason has half of the room at most. The pointer to the program's path may be
		 * invalid, because the caller passed it.
		 */
		len = shim_text(data.text, sizeof data.text / 2, why);
		len += shim_text_before(data.text + len, sizeof data.text - len, program->path);
		shim_put(PROCESS_UNTRACED, &data, 4 + len, caller);
	}
	return !keeps;
}

/* The kernel maps memory page by page. */
#define PAGE 4096

/* Returns whether the byte can be read. *page is the last page that was found to be readable. */
static bool may_read(const void *at, uintptr_t *page)
{
	const uintptr_t own = (uintptr_t)at / PAGE;

	if (own != *page && !shim_is_readable(at))
		return false;
	*page = own;
	return true;
}

/* Returns whether a string can be read up to its NUL. */
static bool is_text(const char *text, uintptr_t *page)
{
	for (; may_read(text, page); text++)
		if (!*text)
			return true;
	return false;
}

/*
 * Returns whether an environment can be read up to its end. If the environment cannot be read, the
 * call fails, so no other environment is needed. The process's own environment is not checked,
 * because the C library reads it without a check, too.
 */
static bool is_environment(char *const envp[])
{
	uintptr_t vector = UINTPTR_MAX, text = UINTPTR_MAX; /* no page */

	if (envp == environ || !envp)
		return true;
	for (size_t i = 0;; i++) {
		/* A vector that is not aligned may have a pointer in two pages. */
		if (!may_read(&envp[i], &vector) ||
		    !may_read((const char *)&envp[i + 1] - 1, &vector))
			return false;
		if (!envp[i])
			return true;
		if (!is_text(envp[i], &text))
			return false;
	}
}

/*
 * The most bytes of the stack that a longer environment uses. The calling thread may have a small
 * stack, and the recording must not make this stack overflow.
 */
#define ROOM_TO_ADD 16384

/*
 * For an environment without the shim, and a shim that was injected: returns the bytes for an
 * environment with the shim. Returns 0 if the program does not belong to the recording or cannot
 * load the shim, or if the environment is too large to be copied. The old variables LD_PRELOAD are
 * `bytes` long, with their NULs.
 */
static size_t room_to_add(size_t count, size_t bytes, const struct shim_program *program,
			  const void *caller)
{
	const bool by_child = program->by_child || shim_is_vfork_child() || shim_is_guest();
	size_t room;

	if (!shim_own_path[1] || !shim_inject_passes(by_child))
		return 0;
	/*
	 * The room is for two more pointers to variables and the NULL, and for the texts. The list
	 * counts with its greatest size, because it may become longer before it is copied.
	 */
	room = (count + 3) * sizeof(char *) + strlen(NAME) + strlen(shim_own_path[1]) + 2 + bytes +
	       strlen(CHOICE) + SHIM_INJECT_LIST;
	if (room > ROOM_TO_ADD) {
		is_untraced(program, caller, "large environment");
		return 0;
	}
	return is_untraced(program, caller, NULL) ? 0 : room;
}

/*
 * The function examines the environment first. The result often makes an examination of the
 * program's file unnecessary.
 */
size_t shim_environment_room(char *const envp[], struct shim_program program, const void *caller)
{
	size_t count = 0, bytes = 0, others = 0;

	if (!is_environment(envp))
		return 0;
	for (; envp && envp[count]; count++)
		if (has_shim(envp[count]))
			bytes += strlen(envp[count]) + 1;
		else if (!strncmp(envp[count], NAME, strlen(NAME)))
			others += strlen(envp[count]) + 1;
	if (!bytes && shim_is_late())
		return room_to_add(count, others, &program, caller);
	/* No variable has the shim, so the file of the program is needed only for the event. */
	if (!bytes) {
		if (*shim_switch[PROCESS_UNTRACED] && shim_is_wanted(PROCESS_UNTRACED, caller))
			is_untraced(&program, caller, reason_without_shim(envp));
		return 0;
	}
	/* The room is for the pointers, their NULL, and the changed variables. */
	return is_untraced(&program, caller, NULL) ? (count + 1) * sizeof(*envp) + bytes : 0;
}

/* Copies the environment without the shim to `changed`, and the changed variables to `text`. */
static void remove_shim(char *const envp[], char **changed, char *text)
{
	for (; *envp; envp++) {
		if (!has_shim(*envp)) {
			*changed++ = *envp;
			continue;
		}
		memcpy(text, NAME, strlen(NAME));
		copy_without(text + strlen(NAME), *envp + strlen(NAME));
		if (!text[strlen(NAME)]) /* the shim was its only library */
			continue; /* the variable is omitted */
		*changed++ = text;
		text += strlen(text) + 1;
	}
	*changed = NULL;
}

/*
 * Copies the environment to `changed`, with the shim as the first library, as posixtrace record
 * does. The new variables are written to `text`.
 */
static void add_shim(char *const envp[], char **changed, char *text)
{
	char *library = text;

	*changed++ = library;
	text = stpcpy(stpcpy(text, NAME), shim_own_path[1]);
	for (; envp && *envp; envp++)
		if (!strncmp(*envp, NAME, strlen(NAME))) {
			if ((*envp)[strlen(NAME)])
				text = stpcpy(stpcpy(text, ":"), *envp + strlen(NAME));
		} else if (strncmp(*envp, CHOICE, strlen(CHOICE))) {
			*changed++ = *envp;
		}
	*changed++ = ++text;
	strcpy(stpcpy(text, CHOICE), shim_inject_list);
	*changed = NULL;
}

/*
 * In `room`, the pointers are followed by the texts of the changed variables. The other pointers
 * point to the program's own texts.
 */
char *const *shim_environment_change(char *const envp[], void *room)
{
	char **changed = room;
	size_t count = 0;
	bool has = false;

	for (; envp && envp[count]; count++)
		has = has || has_shim(envp[count]);
	if (has)
		remove_shim(envp, changed, (char *)(changed + count + 1));
	else
		add_shim(envp, changed, (char *)(changed + count + 3));
	return changed;
}

/*
 * system() and popen() pass the process's own environment to /bin/sh and have no parameter for
 * another environment. Other threads may use that environment, so the shim is not added to it.
 */
void shim_environment_for_shell(const void *caller)
{
	const struct shim_program shell = { AT_FDCWD, "/bin/sh", false, true };

	for (char **variable = environ; variable && *variable; variable++)
		if (has_shim(*variable)) {
			if (is_untraced(&shell, caller, NULL))
				copy_without(*variable + strlen(NAME), *variable + strlen(NAME));
			return;
		}
	/*
	 * A tracer that has attached to a running process may have chosen not to record children.
	 */
	if (shim_is_late() && !shim_inject_passes(true))
		return;
	if (*shim_switch[PROCESS_UNTRACED] && shim_is_wanted(PROCESS_UNTRACED, caller))
		is_untraced(&shell, caller, reason_without_shim(environ));
}
