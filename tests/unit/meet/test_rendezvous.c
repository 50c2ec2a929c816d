/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/meet/test_rendezvous.c - links that processes leave for one another, and links that users
 * make.
 */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/life.h"
#include "base/proc.h"
#include "meet/folder.h"
#include "meet/link_owner.h"
#include "meet/rendezvous.h"
#include "support/support.h"

static char folder[] = "/tmp/posixtrace-test.XXXXXX", traced[64];

/* The number of calls of symlinkat() before which another process removes the empty folder. */
static int removals;

/* The library calls this function. */
int symlinkat(const char *text, int at, const char *name)
{
	if (removals > 0) {
		removals--;
		ck_assert_int_eq(rmdir(traced), 0);
	}
	return (int)syscall(SYS_symlinkat, text, at, name);
}

/* The number of calls of mkdirat(). */
static unsigned attempts;

/* The library calls this function. */
int mkdirat(int at, const char *path, mode_t mode)
{
	attempts++;
	return (int)syscall(SYS_mkdirat, at, path, mode);
}

/*
 * true: this process may examine process 1, which is in the initial pid namespace. Containers with
 * the /proc of the machine often do not permit it.
 */
static bool may_examine_first;

/* not 0: fstatat() returns this number as the inode of the pid namespace of this process */
static ino_t own_space;

/* The library calls these functions. */
int stat(const char *path, struct stat *file)
{
	return fstatat(AT_FDCWD, path, file, 0);
}

int fstatat(int at, const char *path, struct stat *file, int flags)
{
	if (may_examine_first &&
	    (strcmp(path, "/proc/1/ns/pid") == 0 || strcmp(path, "1/ns/pid") == 0)) {
		memset(file, 0, sizeof(*file));
		file->st_ino = 0xeffffffc;
		return 0;
	}
	if (own_space && strcmp(path, "/proc/self/ns/pid") == 0) {
		memset(file, 0, sizeof(*file));
		file->st_ino = own_space;
		return 0;
	}
	return (int)syscall(SYS_newfstatat, at, path, file, flags);
}

static void choose(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(traced, sizeof(traced), "%s/traced", folder);
	ck_assert_int_eq(mkdir(traced, 0700), 0);
	setenv("POSIXTRACE_RUNTIME_DIR", folder, 1);
	ptx_folder_init();
}

static struct ptx_rendezvous_target self(void)
{
	struct ptx_rendezvous_target target = { .uid = geteuid(), .pid = (uint32_t)getpid() };

	target.start = ptx_identity_start(PTX_PROC_SELF);
	ck_assert_uint_ne(target.start, 0);
	target.space = ptx_proc_space(PTX_PROC_SELF);
	return target;
}

/* Writes the path of a link for this process. Its name has 'end' behind the start time. */
static void path_of(char path[256], const char *end)
{
	struct ptx_rendezvous_target target = self();

	snprintf(path, 256, "%s/%u.%llu.%s", traced, target.pid, (unsigned long long)target.start,
		 end);
}

/* Makes such a link with the given text. */
static void make(const char *text, const char *end)
{
	char path[256];

	path_of(path, end);
	ck_assert_int_eq(symlink(text, path), 0);
}

/* Returns the inode of the pid namespace to which the numbers of /proc belong. */
static uint32_t view(void)
{
	struct ptx_proc_ids ids;

	ck_assert_int_eq(ptx_proc_ids(PTX_PROC_SELF, &ids), 0);
	return ptx_proc_space(ids.spaces == 1 ? PTX_PROC_SELF : 1);
}

/* Returns whether this process may examine all processes of the machine. */
static bool sees_all(void)
{
	return view() == 0xeffffffc && ptx_proc_space(1) != 0;
}

/* Writes and returns the end of a name with the namespaces of the target and of the controller. */
static const char *end_of(char end[64], uint32_t space, const char *controller, uint32_t viewed)
{
	snprintf(end, 64, "%u.%s.%u", space, controller, viewed);
	return end;
}

static int found(void)
{
	struct ptx_rendezvous walk;
	int fd, n = 0;

	ptx_rendezvous_begin(&walk, false);
	while ((fd = ptx_rendezvous_next(&walk)) >= 0) {
		close(fd);
		n++;
	}
	ptx_rendezvous_end(&walk);
	return n;
}

static bool is_there(const char *end)
{
	char path[256];
	struct stat st;

	path_of(path, end);
	return lstat(path, &st) == 0;
}

static void clean_up(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(a_link_to_a_descriptor_is_followed_and_no_other)
{
	struct ptx_rendezvous_target target = self();
	char text[128];
	int fd;

	choose();
	snprintf(text, sizeof(text), "%s/file", folder);
	fd = open(text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	make(text, "file");
	make("/dev/null", "null");
	make("/proc/self/fd/0", "self");
	make("/proc/1/fd/../environ", "dots");
	make("/proc/1/fd/", "none");
	ck_assert_int_eq(found(), 0);
	snprintf(text, sizeof(text), "/proc/%d/fd/%d", (int)getpid(), fd);
	make(text, "good");
	ck_assert_int_eq(found(), 1);
	ptx_rendezvous_link(&target, fd, false);
	ck_assert_int_eq(found(), 2);
	ptx_rendezvous_remove(&target, false);
	close(fd);
	clean_up();
}
END_TEST

/*
 * A program that starts examines the links for inherited streams of all processes last. A child
 * does not examine them, because it has its parent's arena.
 */
START_TEST(links_of_all_processes_are_the_last)
{
	struct ptx_rendezvous_target other = { .uid = geteuid(), .pid = 999999999, .start = 7 };
	struct ptx_rendezvous_target own = self();
	struct ptx_rendezvous walk;
	char path[128];
	int fd;

	choose();
	ptx_rendezvous_link(&other, 0, true);
	ptx_rendezvous_link(&own, 0, false);
	ptx_rendezvous_begin(&walk, true);
	fd = ptx_rendezvous_next(&walk);
	ck_assert_int_ge(fd, 0);
	ck_assert(!walk.is_others);
	close(fd);
	fd = ptx_rendezvous_next(&walk);
	ck_assert_int_ge(fd, 0);
	ck_assert(walk.is_others);
	close(fd);
	ck_assert_int_eq(ptx_rendezvous_next(&walk), -1);
	ptx_rendezvous_end(&walk);
	ck_assert_int_eq(found(), 1);
	ptx_rendezvous_remove(&other, true);
	snprintf(path, sizeof(path), "%s/inherited", folder);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(found(), 1);
	ptx_rendezvous_remove(&own, false);
	clean_up();
}
END_TEST

/*
 * Makes links for inherited streams: first `others` links for processes that do not exist, and then
 * a link for this process. A child then searches for the link of its parent. Returns the number of
 * other links that the child reads before this link, or -1 if it does not find this link. Stores
 * whether the walk had all entries in memory.
 */
static int place_of_parent(int others, bool *is_whole)
{
	struct ptx_rendezvous_target other = { .uid = geteuid(), .start = 7 };
	struct ptx_rendezvous_target own = self();
	pid_t child;
	int status;

	for (int i = 0; i < others; i++) {
		other.pid = 999999000 + (uint32_t)i;
		ptx_rendezvous_link(&other, 0, true);
	}
	ptx_rendezvous_link(&own, 0, true);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct ptx_rendezvous walk;
		int fd, before = 0;

		ptx_rendezvous_begin(&walk, true);
		for (; (fd = ptx_rendezvous_next(&walk)) >= 0 && walk.is_others; before++)
			close(fd);
		_exit(fd < 0 ? 255 : before * 2 + walk.is_whole);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	for (int i = 0; i < others; i++) {
		other.pid = 999999000 + (uint32_t)i;
		ptx_rendezvous_remove(&other, true);
	}
	ptx_rendezvous_remove(&own, true);
	*is_whole = WEXITSTATUS(status) & 1;
	return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status) / 2;
}

/*
 * The links of a large folder do not fit into the memory of the walk, so the walk reads the folder
 * for each ancestor.
 */
START_TEST(links_of_ancestors_are_found_among_many_others)
{
	bool is_whole;

	choose();
	ck_assert_int_eq(place_of_parent(0, &is_whole), 0);
	ck_assert(is_whole);
	ck_assert_int_eq(place_of_parent(5, &is_whole), 0);
	ck_assert(is_whole);
	ck_assert_int_eq(place_of_parent(60, &is_whole), 0);
	ck_assert(!is_whole);
	clean_up();
}
END_TEST

/* A controller may get another /proc between the first link and the last stream of its target. */
START_TEST(links_have_the_view_of_the_first_link)
{
	struct ptx_rendezvous_target target = self();

	choose();
	own_space = 12345;
	if (view() != 12345) {
		/* Another namespace's /proc is mounted. */
		own_space = 0;
		clean_up();
		return;
	}
	ck_assert(ptx_rendezvous_link_first(&target, 0));
	own_space = 54321;
	ptx_rendezvous_link(&target, 0, false);
	ck_assert(is_there(end_of((char[64]){ 0 }, target.space, "first", 12345)));
	ptx_rendezvous_remove(&target, false);
	own_space = 0;
	ck_assert_int_ne(access(traced, F_OK), 0);
	clean_up();
}
END_TEST

/*
 * The library does not examine a link to any other file, so it cannot find out that the file does
 * not exist. The number in a link means another process in the /proc of another namespace.
 */
START_TEST(only_links_of_dead_processes_are_removed)
{
	static const char gone[] = "/proc/999999999/fd/3";
	struct ptx_rendezvous_target target = self();
	const uint32_t own = view();
	char end[64];

	ck_assert_uint_ne(own, 0);
	choose();
	make("/nowhere/at/all", end_of(end, target.space, "strange", own));
	make("/proc/1/fd/../nothing", end_of(end, target.space, "dots", own));
	make(gone, end_of(end, target.space, "dead", own));
	make(gone, end_of(end, target.space + 1, "dead", own));
	make(gone, end_of(end, target.space, "first", own));
	make(gone, end_of(end, target.space, "dead", 1));
	make(gone, end_of(end, target.space, "dead", 0));
	make(gone, "999999999");
	make(gone, "first");
	ptx_rendezvous_link(&target, 0, false);
	ck_assert(!is_there(end_of(end, target.space, "dead", own)));
	ck_assert(!is_there(end_of(end, target.space + 1, "dead", own)));
	ck_assert(!is_there(end_of(end, target.space, "first", own)));
	ck_assert(is_there(end_of(end, target.space, "strange", own)));
	ck_assert(is_there(end_of(end, target.space, "dots", own)));
	/* No process is in the namespace 1. */
	ck_assert_int_eq(is_there(end_of(end, target.space, "dead", 1)), !sees_all());
	ck_assert(is_there(end_of(end, target.space, "dead", 0)));
	ck_assert(is_there("999999999"));
	ck_assert(is_there("first"));
	ptx_rendezvous_remove(&target, false);
	clean_up();
}
END_TEST

/*
 * Runs a process in a new namespace until `hold` is closed, and returns its parent. Returns 0 if
 * the system does not allow it. Stores the inode of the namespace.
 */
static pid_t start_in_another_namespace(int *hold, uint32_t *space)
{
	struct stat file;
	char path[64], c;
	int held[2], ready[2];
	bool is_ready;
	pid_t parent;

	ck_assert_int_eq(pipe2(held, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	parent = fork();
	ck_assert_int_ge(parent, 0);
	if (parent == 0) {
		pid_t child;

		close(held[1]);
		if (unshare(CLONE_NEWPID) != 0)
			_exit(0);
		child = fork();
		if (child == 0)
			_exit(read(held[0], &c, 1) == 0 ? 0 : 1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		wait_well(child);
		_exit(0);
	}
	close(held[0]);
	close(ready[1]);
	*hold = held[1];
	is_ready = read(ready[0], &c, 1) == 1;
	close(ready[0]);
	if (!is_ready) {
		close(*hold);
		wait_well(parent);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%d/ns/pid_for_children", (int)parent);
	ck_assert_int_eq(stat(path, &file), 0);
	*space = (uint32_t)file.st_ino;
	return parent;
}

/* No process with the number in the link is in the /proc of this process. */
START_TEST(links_of_controllers_in_another_namespace_are_not_removed)
{
	struct ptx_rendezvous_target target = self();
	uint32_t space;
	char end[64];
	pid_t parent;
	int hold;

	parent = start_in_another_namespace(&hold, &space);
	if (!parent) {
		printf("no privileges for a namespace: nothing to test\n");
		return;
	}
	may_examine_first = true;
	choose();
	make("/proc/999999999/fd/3", end_of(end, target.space, "first", space));
	ptx_rendezvous_link(&target, 0, false);
	ptx_rendezvous_remove(&target, false);
	ck_assert(is_there(end));
	/* The namespace has no process any more. */
	close(hold);
	wait_well(parent);
	ptx_rendezvous_link(&target, 0, false);
	ptx_rendezvous_remove(&target, false);
	ck_assert_int_eq(is_there(end), !sees_all());
	clean_up();
}
END_TEST

/* A hostile user makes many links. Only a list of all processes shows that no process uses them. */
START_TEST(many_links_of_other_namespaces_are_removed_in_several_steps)
{
	enum { LINKS = 1100, IN_A_STEP = 32 * 32 };
	struct ptx_rendezvous_target target = self();
	bool is_first;
	char end[64];

	may_examine_first = true;
	is_first = sees_all();
	choose();
	for (uint32_t space = 1; space <= LINKS; space++)
		make("/proc/999999999/fd/3", end_of(end, target.space, "dead", space));
	for (int step = 1; step <= 2; step++) {
		int left = 0;

		ptx_rendezvous_link(&target, 0, false);
		for (uint32_t space = 1; space <= LINKS; space++)
			left += is_there(end_of(end, target.space, "dead", space));
		ck_assert_int_eq(left, !is_first ? LINKS : step == 1 ? LINKS - IN_A_STEP : 0);
	}
	ptx_rendezvous_remove(&target, false);
	clean_up();
}
END_TEST

/* With the option hidepid=2, /proc does not show the parent of this test, which belongs to root. */
START_TEST(a_link_of_a_hidden_controller_is_not_removed)
{
	struct ptx_rendezvous_target target;
	char text[64], end[64];

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, "hidepid=2") != 0 ||
	    setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
	    setresuid(65534, 65534, 65534) != 0) {
		printf("no privileges to mount /proc: nothing to test\n");
		return;
	}
	prctl(PR_SET_DUMPABLE, 1);
	target = self();
	choose();
	snprintf(text, sizeof(text), "/proc/%d/fd/0", (int)getppid());
	make(text, end_of(end, target.space, "hidden", view()));
	make("/proc/999999999/fd/3", end_of(end, target.space, "dead", view()));
	ptx_rendezvous_link(&target, 0, false);
	ck_assert(!is_there(end));
	ck_assert(is_there(end_of(end, target.space, "hidden", view())));
	ptx_rendezvous_remove(&target, false);
	clean_up();
}
END_TEST

/* Returns how many links a controller finds for the target. */
static int found_for(const struct ptx_rendezvous_target *target)
{
	char path[PTX_RENDEZVOUS_PATH];
	struct ptx_rendezvous walk;
	int n = 0;

	ptx_rendezvous_begin_for(&walk, target);
	while (ptx_rendezvous_next_path(&walk, path))
		n++;
	ptx_rendezvous_end(&walk);
	return n;
}

/*
 * A process of another namespace has the same id and the same start time. Names of older versions
 * have no namespace; names with the namespace 0 were made by a controller that did not know it.
 */
START_TEST(links_for_another_namespace_are_not_followed)
{
	struct ptx_rendezvous_target own = self(), other = own;
	char text[64], end[64], most[96];

	choose();
	other.space++;
	snprintf(text, sizeof(text), "/proc/%d/fd/0", (int)getpid());
	make(text, end_of(end, other.space, "1", other.space));
	ck_assert_int_eq(found(), 0);
	ck_assert_int_eq(found_for(&own), 0);
	ck_assert_int_eq(found_for(&other), 1);
	/* The namespace of the controller does not matter. */
	make(text, end_of(end, own.space, "1", other.space));
	ck_assert_int_eq(found(), 1);
	ck_assert_int_eq(found_for(&own), 1);
	ck_assert_int_eq(found_for(&other), 1);
	make(text, end_of(end, 0, "1", other.space));
	ck_assert_int_eq(found(), 2);
	make(text, "1");
	make(text, "first");
	ck_assert_int_eq(found(), 4);
	ck_assert_int_eq(found_for(&own), 4);
	ck_assert_int_eq(found_for(&other), 4);
	/* Names that no version makes have no known namespace. */
	snprintf(most, sizeof(most), "%u.1.1.1", other.space);
	make(text, most);
	make(text, "x1.1.1");
	make(text, "99999999999999999999999.1.1");
	ck_assert_int_eq(found(), 7);
	clean_up();
}
END_TEST

/* A controller has a link for each of both, and removes only the link of the stream that ended. */
START_TEST(two_targets_with_one_id_have_a_link_each)
{
	struct ptx_rendezvous_target own = self();
	struct ptx_rendezvous_target other = own;
	struct ptx_arena arena[2] = { 0 };
	struct ptx_link_owner *owner[2];
	struct stat file;

	choose();
	other.space++;
	for (int i = 0; i < 2; i++) {
		arena[i].fd = memfd_create("arena", MFD_CLOEXEC);
		ck_assert_int_eq(fstat(arena[i].fd, &file), 0);
		arena[i].device = file.st_dev;
		arena[i].inode = file.st_ino;
	}
	ck_assert(ptx_rendezvous_link_first(&own, arena[0].fd));
	ck_assert(ptx_rendezvous_link_first(&other, arena[1].fd));
	ck_assert(!ptx_rendezvous_link_first(&own, arena[1].fd));
	owner[0] = ptx_link_owner_add(&arena[0], &own, false);
	owner[1] = ptx_link_owner_add(&arena[1], &other, false);
	ck_assert_int_eq(found_for(&own), 2);
	ck_assert_int_eq(found_for(&other), 2);
	ptx_link_owner_remove(owner[0], false);
	ck_assert_int_eq(found_for(&own), 0);
	ck_assert_int_eq(found_for(&other), 2);
	ptx_link_owner_remove(owner[1], false);
	ck_assert_int_eq(found_for(&other), 0);
	clean_up();
}
END_TEST

/* Many recorders that begin and end at the same time make and remove the folder. */
START_TEST(a_folder_that_others_remove_is_made_again)
{
	struct ptx_rendezvous_target target = self();

	choose();
	removals = 50;
	ptx_rendezvous_link(&target, 0, false);
	ck_assert_int_eq(removals, 0);
	ck_assert_int_eq(found(), 1);
	ptx_rendezvous_remove(&target, false);
	clean_up();
}
END_TEST

/* The folder's name belongs to a file, so each further attempt would fail, too. */
START_TEST(a_folder_that_cannot_be_made_is_tried_once)
{
	struct ptx_rendezvous_target target = self();

	choose();
	ck_assert_int_eq(rmdir(traced), 0);
	ck_assert_int_eq(mknod(traced, S_IFREG | 0600, 0), 0);
	attempts = 0;
	ptx_rendezvous_link(&target, 0, false);
	ck_assert_uint_le(attempts, 2); /* the runtime folder and the folder inside it */
	ck_assert_int_eq(unlink(traced), 0);
	/* The parent of the runtime folder does not exist. */
	setenv("POSIXTRACE_RUNTIME_DIR", "/nonexistent/posixtrace", 1);
	ptx_folder_init();
	attempts = 0;
	ptx_rendezvous_link(&target, 0, false);
	ck_assert_uint_le(attempts, 2);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

SUITE_MAIN("unit/arena/rendezvous", a_link_to_a_descriptor_is_followed_and_no_other,
	   links_of_all_processes_are_the_last,
	   links_of_ancestors_are_found_among_many_others,
	   links_have_the_view_of_the_first_link,
	   only_links_of_dead_processes_are_removed,
	   links_of_controllers_in_another_namespace_are_not_removed,
	   many_links_of_other_namespaces_are_removed_in_several_steps,
	   a_link_of_a_hidden_controller_is_not_removed,
	   links_for_another_namespace_are_not_followed,
	   two_targets_with_one_id_have_a_link_each,
	   a_folder_that_others_remove_is_made_again,
	   a_folder_that_cannot_be_made_is_tried_once)
