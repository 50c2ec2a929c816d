/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run_tool.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"

static char directory[4096];
static char posixtrace_path[4200];

struct text read_file(const char *path)
{
	struct text text;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0 && !fstat(fd, &st), "%s", path);
	text.len = (size_t)st.st_size;
	text.bytes = malloc(text.len + 1);
	ck_assert_int_eq(read(fd, text.bytes, text.len), (ssize_t)text.len);
	text.bytes[text.len] = '\0';
	close(fd);
	return text;
}

void write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

/* A path is never freed, because its caller uses it during the whole test. */
const char *in_directory(const char *name)
{
	static char *paths[16];
	char *path;
	size_t i;

	ck_assert_int_gt(asprintf(&path, "%s/%s", directory, name), 0);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]) - 1 && paths[i]; i++) {
		if (strcmp(paths[i], path))
			continue;
		free(path);
		return paths[i];
	}
	ck_assert_ptr_null(paths[i]);
	paths[i] = path;
	return path;
}

/* Runs the program to its end; its standard output and error are in the files out and err. */
static int run(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, in_directory("out"),
					 O_WRONLY | O_CREAT | O_TRUNC, 0644);
	posix_spawn_file_actions_addopen(&actions, 2, in_directory("err"),
					 O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ck_assert_int_eq(posix_spawn(&pid, argv[0], &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "%s %s ended by signal %d", argv[0], argv[1],
		      WTERMSIG(status));
	return WEXITSTATUS(status);
}

int posixtrace(const char *command, const char *option, const char *log)
{
	char *argv[] = { posixtrace_path, (char *)command, (char *)option, (char *)log, NULL };

	return run(argv);
}

void make_directory(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(directory, sizeof(directory), "%s/posixtrace-damage.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

void remove_directory(void)
{
	DIR *dir = opendir(directory);

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(directory);
}

/* Finds the program itself and not libtool's wrapper, a shell script, which starts much slower. */
static void find_program(char *path, const char *top, const char *dir, const char *name)
{
	snprintf(path, sizeof(posixtrace_path), "%s/%s/.libs/%s", top, dir, name);
	if (access(path, X_OK))
		snprintf(path, sizeof(posixtrace_path), "%s/%s/%s", top, dir, name);
}

/* Gives a sanitizer the exit status 99, which must differ from all statuses of the tool. */
static void own_exit_status(const char *name)
{
	const char *old = getenv(name);
	char *value;

	if (asprintf(&value, "%s%sexitcode=99", old ? old : "", old ? ":" : "") < 0)
		abort();
	setenv(name, value, 1);
	free(value);
}

void find_programs(void)
{
	const char *top = getenv("top_builddir"), *old = getenv("LD_LIBRARY_PATH");
	char *libraries;

	if (!top)
		top = "..";
	if (asprintf(&libraries, "%s/lib/.libs%s%s", top, old ? ":" : "", old ? old : "") < 0)
		abort();
	setenv("LD_LIBRARY_PATH", libraries, 1);
	free(libraries);
	own_exit_status("ASAN_OPTIONS");
	own_exit_status("LSAN_OPTIONS");
	own_exit_status("UBSAN_OPTIONS");
	own_exit_status("TSAN_OPTIONS");
	find_program(posixtrace_path, top, "tools/posixtrace", "posixtrace");
}
