/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/rendezvous.c - makes, follows and removes the links in the runtime folder.
 *
 * The name of a link is PID.START.SPACE.CONTROLLER.VIEW. PID, START and SPACE are the id, the start
 * time and the pid namespace of the target: processes of two containers may have the same id and
 * the same start time. The text of the link is /proc/CONTROLLER/fd/N, where CONTROLLER is the
 * number of the controller in its /proc. VIEW is the pid namespace to which the numbers in that
 * /proc belong. Namespaces are named by their inodes; 0 means that the inode is not known. Links of
 * older versions have the name PID.START.CONTROLLER. Programs follow them, and no controller of
 * this version removes them.
 *
 * Any process of the user can make such a link. So a link is followed only if its text has exactly
 * the form above, and the caller checks the file to which the link leads. No process waits for
 * another process here.
 *
 * A search (struct ptx_rendezvous, called `walk`) runs at the start of each program, and at a
 * child's first event, possibly in a signal handler. It reads the folder by getdents64(2) into a
 * buffer of the structure, because opendir() allocates memory. Only controllers make and remove
 * links.
 */
#include "meet/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/life.h"
#include "base/proc.h"
#include "meet/folder.h"
#include "meet/openers.h"

#define TRACED    "traced" /* searched first; both folders exist only while they have links */
#define INHERITED "inherited"
#define FIRST     "first"
/*
 * how often a controller tries to make a link if other processes remove the folder at the same time
 */
#define TRIES     100
#define FIRST_SPACE 0xeffffffcu /* of the initial pid namespace, PROC_PID_INIT_INO */
/*
 * A cleaning lists all processes once for each BATCH links of other namespaces, and at most
 * LISTINGS times. A user may make any number of links, and these must not delay a privileged
 * controller that traces a process of the user.
 */
#define BATCH    32
#define LISTINGS 32
/* Bounds the number of ancestors that are examined, because /proc may change meanwhile. */
#define ANCESTORS 32

/* An entry as getdents64(2) returns it. The C library's struct dirent may have another layout. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/*
 * Appends the string `more` and then the number to `text`. The buffers have room: an id or an inode
 * has at most 10 digits, and a start time has at most 20. So a name has at most 65 bytes with its
 * NUL, and a path 31.
 */
static void rendezvous_put(char *text, const char *more, uint64_t number)
{
	char digits[PTX_IO_DIGITS];

	strcat(strcat(text, more), ptx_io_digits(number, digits));
}

/*
 * Writes the prefix PID.START. of the names of all links for a process. Because of the start time,
 * a link for a former process with the same id is not found.
 */
static void prefix_of(char prefix[PTX_RENDEZVOUS_NAME], uint32_t pid, uint64_t start)
{
	prefix[0] = '\0';
	rendezvous_put(prefix, "", pid);
	rendezvous_put(prefix, ".", start);
	strcat(prefix, ".");
}

/* The parts of a name that are read, counted from 0. */
enum { PART_SPACE = 2, PART_VIEW = 4, PARTS = 5 };

/*
 * Returns the part `wanted` of a name, which is the inode of a pid namespace, or 0 if the inode is
 * not known. The name may have any text, because any process of the user can make a link. The
 * result is also 0 if the name does not have PARTS parts: names of older versions have no
 * namespaces.
 */
static uint32_t space_in(const char *name, unsigned wanted)
{
	uint64_t space = 0;
	unsigned part = 0;

	for (; *name; name++) {
		if (*name == '.')
			part++;
		else if (part == wanted && (*name < '0' || *name > '9' || space > UINT32_MAX))
			return 0;
		else if (part == wanted)
			space = space * 10 + (uint64_t)(*name - '0');
	}
	return part == PARTS - 1 && space <= UINT32_MAX ? (uint32_t)space : 0;
}

/*
 * Returns the number of bytes that the kernel has stored in `entries`; 0 at the end or after an
 * error.
 */
static uint32_t read_entries(struct ptx_rendezvous *walk, void *entries, size_t room)
{
	long n = syscall(SYS_getdents64, walk->folder, entries, room);

	return n > 0 ? (uint32_t)n : 0;
}

/* Lets the search begin again at the first entry of the folder. Returns false after an error. */
static bool rewind_folder(struct ptx_rendezvous *walk)
{
	walk->at = 0;
	if (walk->is_whole)
		return true;
	walk->end = 0;
	return lseek(walk->folder, 0, SEEK_SET) == 0;
}

/*
 * Reads the first entries of the folder. Usually these are all entries, so that the rest of the
 * search needs no system calls for the folder.
 */
static void read_first(struct ptx_rendezvous *walk)
{
	_Alignas(struct entry) unsigned char more[64 + NAME_MAX];

	walk->at = 0;
	walk->end = read_entries(walk, walk->entries, sizeof walk->entries);
	walk->is_whole = walk->end == 0 || read_entries(walk, more, sizeof more) == 0;
	if (!walk->is_whole)
		rewind_folder(walk);
}

/* Returns true if the folder certainly has no link for a process with this start time. */
static bool lacks_start(const struct ptx_rendezvous *walk, uint64_t start)
{
	char part[PTX_RENDEZVOUS_NAME] = "";
	const struct entry *entry;

	rendezvous_put(part, ".", start);
	strcat(part, ".");
	for (uint32_t at = 0; at < walk->end; at += entry->bytes) {
		entry = (const void *)(walk->entries + at);
		if (strstr(entry->name, part))
			return false;
	}
	return walk->is_whole;
}

/*
 * Begins the search for the links for an ancestor, at the beginning of the folder. `number` is the
 * ancestor's number in /proc. If the folder INHERITED exists, each program that starts calls the
 * function for each ancestor. So the function reads the ids of the ancestor only if there may be a
 * link. Returns false if /proc does not show the ancestor, or if the folder cannot be read again.
 */
static bool begin_ancestor(struct ptx_rendezvous *walk, uint32_t number)
{
	struct ptx_proc_ids ids = { 0 };
	struct ptx_proc process;
	uint64_t start;

	if (ptx_proc_read(number, &process) != 0)
		return false;
	start = ptx_identity_start_in(&process);
	walk->parent = process.parent;
	if (start == 0)
		return false;
	if (lacks_start(walk, start)) {
		walk->at = walk->end;
		return true;
	}
	if (ptx_proc_ids(number, &ids) != 0)
		return false;
	prefix_of(walk->prefix, ids.inner, start);
	walk->number = number;
	walk->has_space = false;
	return rewind_folder(walk);
}

/*
 * If there is no folder, the search ends immediately, after one system call for each place where
 * the runtime folder may be. At first the prefix has only the id of this process. Most programs
 * find no name with this prefix. So they do not need the start time, for which several files of
 * /proc must be read.
 */
void ptx_rendezvous_begin(struct ptx_rendezvous *walk, bool ancestors)
{
	walk->folder = -1;
	walk->is_inherited = walk->is_others = walk->is_whole = walk->has_space = false;
	walk->number = PTX_PROC_SELF;
	walk->link_space = 0;
	if (getauxval(AT_SECURE))
		return; /* the program has more rights than its caller (EXEC-08) */
	walk->folder = ptx_folder_open_in(geteuid(), TRACED, false);
	walk->ancestors = ancestors ? ANCESTORS : 0;
	walk->at = walk->end = 0;
	walk->prefix[0] = '\0';
	rendezvous_put(walk->prefix, "", ptx_proc_own());
	strcat(walk->prefix, ".");
	walk->has_start = false;
}

/*
 * Adds the start time to the prefix for this process. Returns false if /proc does not show the
 * process.
 */
static bool read_start(struct ptx_rendezvous *walk)
{
	uint64_t start = ptx_identity_start(PTX_PROC_SELF);

	if (start) {
		prefix_of(walk->prefix, ptx_proc_own(), start);
		walk->has_start = true;
	}
	return start != 0;
}

/* A second call for the same search has no effect. */
void ptx_rendezvous_end(struct ptx_rendezvous *walk)
{
	if (walk->folder >= 0)
		close(walk->folder);
	walk->folder = -1;
}

static bool has_prefix(const struct ptx_rendezvous *walk, const struct entry *entry)
{
	return strncmp(entry->name, walk->prefix, strlen(walk->prefix)) == 0;
}

/*
 * Returns false if the link is certainly for a process of another pid namespace than that of the
 * process whose links are searched. This namespace is requested from the kernel only if a link has
 * the prefix, so that most searches need no system call for it. walk->link_space becomes the
 * namespace in the name of the link.
 *
 * In the last part of the search the result is true for all links, because this process may have
 * left the namespace of its family. There ptx_family_rejoin() compares walk->link_space with the
 * namespaces of this process and its ancestors.
 */
static bool may_be_in_space(struct ptx_rendezvous *walk, const char *name)
{
	walk->link_space = space_in(name, PART_SPACE);
	if (walk->link_space == 0 || walk->is_others)
		return true;
	if (!walk->has_space)
		walk->space = ptx_proc_space(walk->number);
	walk->has_space = true;
	return walk->space == 0 || walk->space == walk->link_space;
}

/*
 * Returns the next name with the prefix in the folder, or NULL at the end or after an error. The
 * name is valid until the next call. The kernel has written the entries, so their lengths are
 * right. If a link is made or removed during the search, the search may find it or not.
 */
static const char *next_name(struct ptx_rendezvous *walk)
{
	for (;;) {
		const struct entry *entry = (const void *)(walk->entries + walk->at);

		if (walk->at >= walk->end) {
			uint32_t n = walk->is_whole ? 0 : read_entries(walk, walk->entries,
								       sizeof walk->entries);

			if (n == 0)
				return NULL;
			walk->at = 0;
			walk->end = n;
			continue;
		}
		walk->at += entry->bytes;
		if (!has_prefix(walk, entry))
			continue;
		/*
		 * A prefix without a start time also fits a link for a former process with this id,
		 * so now the start time is added.
		 */
		if (!walk->has_start && !(read_start(walk) && has_prefix(walk, entry)))
			continue;
		if (may_be_in_space(walk, entry->name))
			return entry->name;
	}
}

/*
 * Begins the last part of the search: the links for all processes. Returns false if this part has
 * ended already.
 */
static bool begin_others(struct ptx_rendezvous *walk)
{
	if (walk->is_others)
		return false;
	walk->is_others = true;
	walk->prefix[0] = '\0';
	return rewind_folder(walk);
}

/*
 * Continues the search with the next ancestor. Links for ancestors are in the folder INHERITED,
 * which the first call opens. After the last ancestor, or after ANCESTORS steps, the search
 * continues with the links for all processes. Returns false at the end of the search.
 */
static bool step_up(struct ptx_rendezvous *walk)
{
	struct ptx_proc self;

	if (walk->ancestors == 0)
		return walk->is_inherited && begin_others(walk);
	if (walk->ancestors-- == ANCESTORS) {
		ptx_rendezvous_end(walk);
		walk->folder = ptx_folder_open_in(geteuid(), INHERITED, false);
		/*
		 * Usually there is no such folder, so the parent is determined only if the folder
		 * exists.
		 */
		if (walk->folder < 0 || ptx_proc_read(PTX_PROC_SELF, &self) != 0)
			return false;
		walk->parent = self.parent;
		walk->has_start = true; /* prefixes of begin_ancestor() have the start time */
		walk->is_inherited = true;
		read_first(walk);
	}
	if (walk->parent != 0 && begin_ancestor(walk, walk->parent))
		return true;
	walk->ancestors = 0;
	return begin_others(walk);
}

/*
 * Reads the text of a link without following it. A text that is too long is truncated, so that
 * is_descriptor() or the caller's comparison rejects it. Returns false if the link cannot be read.
 */
static bool read_link(int folder, const char *name, char path[PTX_RENDEZVOUS_PATH])
{
	ssize_t n = readlinkat(folder, name, path, PTX_RENDEZVOUS_PATH - 1);

	path[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/*
 * Returns true only for a text of the form /proc/PID/fd/N. The text is checked before the link is
 * followed, because a user may make a link to any file. An open() of such a file, or even a stat(),
 * could block for ever or have an effect on a device.
 */
static bool is_descriptor(const char *path)
{
	static const char digits[] = "0123456789";
	size_t n;

	if (strncmp(path, "/proc/", 6) != 0)
		return false;
	path += 6;
	n = strspn(path, digits);
	if (n == 0 || strncmp(path + n, "/fd/", 4) != 0)
		return false;
	path += n + 4;
	n = strspn(path, digits);
	return n > 0 && path[n] == '\0';
}

/* Reads the text of a link. Returns false if the text is not the path of a descriptor. */
static bool read_descriptor(int folder, const char *name, char path[PTX_RENDEZVOUS_PATH])
{
	return read_link(folder, name, path) && is_descriptor(path);
}

/*
 * The kernel checks the rights of ptrace(2) when it follows a path in another process's
 * /proc/PID/fd. If the controller has ended, its link cannot be followed and is skipped. The
 * descriptor may belong to any kind of file. O_NONBLOCK and O_NOCTTY make the open harmless.
 */
int ptx_rendezvous_next(struct ptx_rendezvous *walk)
{
	if (walk->folder < 0)
		return -1;
	do {
		char path[PTX_RENDEZVOUS_PATH];
		const char *name;
		int fd;

		while ((name = next_name(walk))) {
			if (!read_descriptor(walk->folder, name, path))
				continue;
			fd = openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
			if (fd >= 0)
				return fd;
		}
	} while (step_up(walk));
	return -1;
}

/*
 * Begins the search of a controller, in the folder of the target's user. Links for ancestors are
 * not searched.
 */
void ptx_rendezvous_begin_for(struct ptx_rendezvous *walk,
			      const struct ptx_rendezvous_target *target)
{
	walk->folder = ptx_folder_open_in(target->uid, TRACED, false);
	walk->is_whole = false;
	walk->at = walk->end = 0;
	walk->has_start = walk->has_space = true;
	walk->is_others = false;
	walk->space = target->space;
	prefix_of(walk->prefix, target->pid, target->start);
}

/* The link is not followed. The caller opens the path by ptx_peer_arenas_at(). */
bool ptx_rendezvous_next_path(struct ptx_rendezvous *walk, char path[PTX_RENDEZVOUS_PATH])
{
	const char *name;

	while (walk->folder >= 0 && (name = next_name(walk)))
		if (read_descriptor(walk->folder, name, path))
			return true;
	return false;
}

/* How other processes see this process: its number in /proc, and the namespace of this number. */
struct view {
	uint32_t number;
	uint32_t space; /* inode of the pid namespace for which /proc was mounted; 0: not known */
};

/*
 * Returns how this process is seen in its /proc. If /proc belongs to the pid namespace of this
 * process, `space` is this namespace. Otherwise `space` is the namespace of process 1 of /proc, or
 * 0, because only a privileged process may examine process 1. If /proc does not show the ids of
 * this process, the result is its process id and 0.
 *
 * The number differs from the process id if /proc belongs to an outer namespace. A link with the
 * process id would then lead to another process, and the target would not find its arena.
 */
static struct view own_view(void)
{
	struct view view = { .number = ptx_proc_own() };
	struct ptx_proc_ids ids;

	if (ptx_proc_ids(PTX_PROC_SELF, &ids) == 0) {
		view.number = ids.number;
		view.space = ptx_proc_space(ids.spaces == 1 ? PTX_PROC_SELF : 1);
	}
	return view;
}

/*
 * Returns the view that this process had when it made its first link for the target, or its present
 * view if it has made none.
 */
static struct view first_view(const struct ptx_rendezvous_target *target)
{
	if (!target->own_number)
		return own_view();
	return (struct view){ .number = target->own_number, .space = target->own_space };
}

/*
 * Writes the path of this process's descriptor fd. If fd is negative, writes the beginning of the
 * paths of all its descriptors.
 */
static void own_path(char path[PTX_RENDEZVOUS_PATH], const struct view *own, int fd)
{
	path[0] = '\0';
	rendezvous_put(path, "/proc/", own->number);
	if (fd < 0)
		strcat(path, "/fd/");
	else
		rendezvous_put(path, "/fd/", (uint64_t)fd);
}

/*
 * Returns true if the descriptor with this path is certainly closed. lstat() does not follow the
 * link in /proc, so it has no effect on the file. After any other error than ENOENT the descriptor
 * may be open.
 */
static bool is_closed(const char *path)
{
	struct stat st;

	return lstat(path, &st) != 0 && errno == ENOENT;
}

/*
 * Returns true if the process whose descriptor has this path may live although /proc does not show
 * it: the option hidepid of /proc hides processes of other users. If the numbers in /proc are not
 * those of kill(2), the caller may examine process 1 (own_view()), so nothing is hidden from it.
 */
static bool is_hidden(const char *path, const struct view *own)
{
	unsigned long number = strtoul(path + strlen("/proc/"), NULL, 10);
	char folder[PTX_RENDEZVOUS_PATH] = "";

	rendezvous_put(folder, "/proc/", number);
	return is_closed(folder) && own->number == ptx_proc_own() && number <= INT32_MAX &&
	       ptx_life_by_kill((uint32_t)number) != PTX_DEAD;
}

/* Links of controllers in other pid namespaces, which a cleaning has found. */
struct others {
	unsigned count, listings;
	uint32_t view[BATCH];
	char name[BATCH][PTX_RENDEZVOUS_NAME];
};

/* Removes those of the links whose pid namespace has certainly ended, and empties the list. */
static void remove_others(int folder, struct others *others)
{
	bool lives[BATCH];

	if (others->count && others->listings < LISTINGS &&
	    ptx_openers_find_spaces(others->view, lives, others->count))
		for (unsigned i = 0; i < others->count; i++)
			if (!lives[i])
				unlinkat(folder, others->name[i], 0);
	others->listings++;
	others->count = 0;
}

/*
 * Removes the link if its controller has certainly ended, or has closed the file. The number in a
 * link's text means another process in the /proc of another pid namespace, and a controller of a
 * container is not in the /proc of another container. So the descriptor is examined only if the
 * VIEW of the link is the VIEW of this process. Only the /proc of the initial namespace shows
 * whether another VIEW still has processes: the link is added to `others`. The names of older
 * versions have no VIEW, so these links remain.
 */
static void clean_link(int folder, const char *name, const struct view *own, struct others *others)
{
	const uint32_t view = space_in(name, PART_VIEW);
	char text[PTX_RENDEZVOUS_PATH];

	if (view == 0 || !read_descriptor(folder, name, text))
		return;
	if (view == own->space) {
		if (is_closed(text) && !is_hidden(text, own))
			unlinkat(folder, name, 0);
	} else if (own->space == FIRST_SPACE && strlen(name) < PTX_RENDEZVOUS_NAME) {
		others->view[others->count] = view;
		strcpy(others->name[others->count++], name);
		if (others->count == BATCH)
			remove_others(folder, others);
	}
}

/*
 * Removes links of controllers that were killed. If the VIEW of this process is not known, no link
 * is removed.
 *
 * Without a mounted /proc, all descriptors would seem to be closed. So before each step the
 * function checks that /proc shows an open descriptor of this process. closedir() closes the
 * descriptor of the folder, so the function uses a copy.
 */
static void rendezvous_clean(int folder, const struct view *own)
{
	int copy = own->space ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct others others = { .count = 0 };
	char path[PTX_RENDEZVOUS_PATH];
	struct dirent *entry;

	if (!list) {
		if (copy >= 0)
			close(copy);
		return;
	}
	own_path(path, own, copy);
	while (!is_closed(path) && (entry = readdir(list)))
		clean_link(folder, entry->d_name, own, &others);
	remove_others(folder, &others);
	closedir(list);
}

/*
 * LINKED: the link leads to the caller's file. NAME_IN_USE: a link with this name leads to another
 * file. NO_FOLDER: the folder is gone, and the caller tries again.
 */
enum link_result { LINKED, NAME_IN_USE, NO_FOLDER };

/*
 * Makes a link in a folder. symlinkat() fails if the name exists, so only one of several
 * controllers gets the name. If an earlier stream of this process has made the same link, the
 * result is LINKED. `own` is the view of the link, and `now` the present view of this process.
 */
static enum link_result link_in(int folder, const char *name, const struct view *own,
				const struct view *now, int fd)
{
	char path[PTX_RENDEZVOUS_PATH], text[PTX_RENDEZVOUS_PATH];
	bool is_linked;

	own_path(path, own, fd);
	is_linked = symlinkat(path, folder, name) == 0;
	/* Another process has removed the folder since it was opened. */
	if (!is_linked && errno == ENOENT)
		return NO_FOLDER;
	/*
	 * The folder is cleaned after the link was made, because no process removes a folder with a
	 * link. If the name was in use, the cleaning may have removed that link, so the name is
	 * tried again.
	 */
	rendezvous_clean(folder, now);
	if (is_linked || symlinkat(path, folder, name) == 0)
		return LINKED;
	if (errno == ENOENT)
		return NO_FOLDER;
	return read_link(folder, name, text) && strcmp(text, path) == 0 ? LINKED : NAME_IN_USE;
}

/*
 * Makes the link in the folder `which` inside the user's runtime folder.
 *
 * If the result is NO_FOLDER, the folder could not be opened, or other processes have removed it at
 * each attempt. The stream works nevertheless, but programs that the target executes do not find
 * it.
 */
static enum link_result rendezvous_link(const char *which, uint32_t uid, const char *name,
					const struct view *own, const struct view *now, int fd)
{
	enum link_result result = NO_FOLDER;

	/*
	 * link_in() returns NO_FOLDER only if another process has removed the folder since it was
	 * opened. The other process has then made progress, as in a lock-free algorithm.
	 */
	for (int i = 0; result == NO_FOLDER && i < TRIES; i++) {
		int folder = ptx_folder_open_in(uid, which, true);

		/* After any other error, the next try would fail, too. */
		if (folder < 0 && errno != ENOENT)
			break;
		if (folder < 0)
			continue;
		result = link_in(folder, name, own, now, fd);
		close(folder);
	}
	return result;
}

/* Writes the name of this process's own link for the target. */
static void own_name(char name[PTX_RENDEZVOUS_NAME], const struct ptx_rendezvous_target *target,
		     const struct view *own)
{
	prefix_of(name, target->pid, target->start);
	rendezvous_put(name, "", target->space);
	rendezvous_put(name, ".", own->number);
	rendezvous_put(name, ".", own->space);
}

/*
 * Writes the name that all controllers with the same VIEW share. If several of them have made an
 * arena for the target, only one can make the link with this name. A controller with another VIEW
 * could not follow the link.
 */
static void first_name(char name[PTX_RENDEZVOUS_NAME], const struct ptx_rendezvous_target *target,
		       const struct view *own)
{
	prefix_of(name, target->pid, target->start);
	rendezvous_put(name, "", target->space);
	strcat(name, ".");
	strcat(name, FIRST);
	rendezvous_put(name, ".", own->space);
}

/*
 * Returns the view for a new link for the target, and stores it in the target: all links of this
 * process for the target have the same view.
 */
static struct view note_view(struct ptx_rendezvous_target *target, const struct view *now)
{
	if (!target->own_number) {
		target->own_number = now->number;
		target->own_space = now->space;
	}
	return first_view(target);
}

/*
 * Errors are not reported, because a stream works without links. The caller keeps fd open while the
 * link exists.
 */
void ptx_rendezvous_link(struct ptx_rendezvous_target *target, int fd, bool inherited)
{
	const struct view now = own_view(), own = note_view(target, &now);
	char name[PTX_RENDEZVOUS_NAME];

	own_name(name, target, &own);
	rendezvous_link(inherited ? INHERITED : TRACED, target->uid, name, &own, &now, fd);
}

/* If there is no folder, the result is true, because no link of another controller can be found. */
bool ptx_rendezvous_link_first(struct ptx_rendezvous_target *target, int fd)
{
	const struct view now = own_view(), own = note_view(target, &now);
	char name[PTX_RENDEZVOUS_NAME];

	first_name(name, target, &own);
	return rendezvous_link(TRACED, target->uid, name, &own, &now, fd) != NAME_IN_USE;
}

/*
 * Removes a link if it leads to a descriptor of this process. The shared name may belong to another
 * controller by now.
 */
static void remove_own(int folder, const char *name, const struct view *own)
{
	char text[PTX_RENDEZVOUS_PATH], prefix[PTX_RENDEZVOUS_PATH];

	own_path(prefix, own, -1);
	if (read_link(folder, name, text) && strncmp(text, prefix, strlen(prefix)) == 0)
		unlinkat(folder, name, 0);
}

/*
 * Removes the own link and the link with the shared name, because the caller does not remember
 * whether it has made both. An empty folder is removed, too, so that programs that start need not
 * search it.
 */
void ptx_rendezvous_remove(const struct ptx_rendezvous_target *target, bool inherited)
{
	const char *which = inherited ? INHERITED : TRACED;
	/*
	 * own_view() needs a descriptor for a moment, so first_view() precedes the folder: one free
	 * descriptor is then enough for both.
	 */
	const struct view own = first_view(target);
	int folder = ptx_folder_open_in(target->uid, which, false);
	char name[PTX_RENDEZVOUS_NAME];

	if (folder < 0)
		return;
	own_name(name, target, &own);
	remove_own(folder, name, &own);
	first_name(name, target, &own);
	remove_own(folder, name, &own);
	close(folder);
	ptx_folder_remove_from(target->uid, which);
}
