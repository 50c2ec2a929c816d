// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads folders and names, and starts programs, in each way that calls.py compares with strace.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static int seen(const char *path, const struct stat *attributes, int kind, struct FTW *place)
{
	(void)attributes, (void)kind, (void)place;
	return access(path, R_OK) > 1;
}

static int is_line(const struct dirent *entry)
{
	return access(entry->d_name, R_OK) > 1 || entry->d_name[0] == 'f';
}

static void read_folders(void)
{
	char *trees[] = { "tree", "nofolder", NULL };
	struct dirent **found;
	glob_t names;
	DIR *folder;
	FTS *tree;
	int fd;

	folder = opendir("tree");
	while (readdir(folder))
		access("tree/a", R_OK);
	rewinddir(folder), readdir(folder), readdir(folder);
	rewinddir(folder), readdir(folder);
	closedir(folder);
	opendir("nofolder");
	fd = open("tree/a", O_RDONLY | O_DIRECTORY);
	folder = fdopendir(fd);
	while (readdir(folder))
		;
	closedir(folder);
	fdopendir(99);
	for (int i = scandir("tree/a", &found, is_line, alphasort); i > 0; i--)
		free(found[i - 1]);
	scandir("tree/b", &found, NULL, alphasort);
	scandir("nofolder", &found, NULL, NULL);
	glob("tree/a/f*", 0, NULL, &names), globfree(&names);
	glob("tree/a/f*", 0, NULL, &names), globfree(&names);
	glob("tree/*/b/l[12]", 0, NULL, &names), globfree(&names);
	glob("nofolder/*", 0, NULL, &names), globfree(&names);
	glob("*", 0, NULL, &names), globfree(&names);
	glob("a.c", 0, NULL, &names), globfree(&names);
	nftw("tree", seen, 5, FTW_PHYS);
	nftw("nofolder", seen, 5, FTW_PHYS);
	nftw("tree", seen, 5, FTW_PHYS | FTW_CHDIR);
	tree = fts_open(trees, FTS_PHYSICAL, NULL);
	while (fts_read(tree))
		access("a.c", R_OK);
	fts_close(tree);
	free(realpath("tree/a/b/l1", NULL)), free(realpath("tree/a/b/l1", NULL));
	realpath("tree/dangling", NULL), realpath("nofile", NULL);
	realpath("/", NULL), realpath("", NULL);
	free(realpath("/usr/../etc/./passwd", NULL)), free(realpath("/bin/sh", NULL));
}

static void start_programs(void)
{
	char *arguments[] = { "true", NULL }, *none[] = { NULL };
	int status, fd;
	pid_t child, other;

	for (int i = 0; i < 8; i++) {
		child = i & 1 ? vfork() : fork();
		if (child == 0) {
			switch (i) {
			case 0:
				execl("/bin/true", "true", NULL);
				break;
			case 1:
				execlp("true", "true", NULL);
				break;
			case 2:
				execvp("noprogram", arguments), execvp("noprogram", arguments);
				execv("/bin/true", arguments);
				break;
			case 3:
				execve("noprogram", arguments, environ);
				break;
			case 4:
				execle("/bin/true", "true", NULL, none);
				break;
			case 5:
				close(9);
				break;
			case 6:
				fd = open("/bin/true", O_RDONLY);
				fexecve(fd, arguments, environ);
				break;
			case 7:
				execveat(AT_FDCWD, "/bin/true", arguments, environ, 0);
				break;
			}
			_exit(3);
		}
		waitpid(child, &status, 0);
	}
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		_exit(access("nofile", R_OK));
	waitpid(child, &status, 0);
	for (int i = 0; i < 2; i++)
		if (!posix_spawn(&child, i ? "/bin/true" : "no", NULL, NULL, arguments, environ))
			waitpid(child, &status, 0);
	for (int i = 0; i < 2; i++)
		if (!posix_spawnp(&child, i ? "true" : "no", NULL, NULL, arguments, environ))
			waitpid(child, &status, 0);
	system("exit 3");
	FILE *file = popen("echo text", "r");
	pclose(file);
	other = fork();
	if (other == 0) {
		pause();
		_exit(0);
	}
	fd = pidfd_open(other, 0);
	pidfd_open(-1, 0), syscall(SYS_pidfd_open, other, 0), syscall(SYS_pidfd_open, -1, 0);
	pidfd_getfd(fd, 1, 0), pidfd_getfd(fd, 99, 0);
	pidfd_send_signal(fd, 0, NULL, 0), pidfd_send_signal(fd, SIGKILL, NULL, 0);
	waitid(P_PIDFD, (id_t)fd, NULL, WEXITED);
	pidfd_send_signal(fd, 0, NULL, 0);
}

int main(void)
{
	FILE *file = fopen("copy", "w");
	file = freopen("copy2", "w", file);
	file = freopen(NULL, "a", file);
	freopen("nofolder/x", "r", file);
	read_folders();
	start_programs();
	return 0;
}
