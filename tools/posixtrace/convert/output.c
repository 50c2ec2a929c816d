/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * output.c - opens and completes the output of a sink.
 *
 * A new file gets its name when it is complete (base/outfile.h). If a sink must seek but the output
 * cannot, the sink gets a temporary file, which is copied into the output at the end. Functions
 * that return int return a status of the tool, after a message if the status is not TOOL_OK.
 */
#include "convert/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endpoint.h"
#include "base/say.h"
#include "base/spool.h"

static int print_error(const struct output *output, int err)
{
	say("%s: %s", output->shown.shown, strerror(err));
	return TOOL_FAILURE;
}

/*
 * Creates a folder. Events may contain secrets, so only the owner has permissions for it. The
 * function refuses an existing folder, because no system call replaces all files of a folder at the
 * same time.
 */
static int open_folder(struct output *output, const char *path)
{
	output->state = OUTPUT_FOLDER;
	if (!strcmp(path, "-")) {
		say("this format is a folder of files: name the folder with -o");
		return TOOL_FAILURE;
	}
	if (mkdir(path, 0700)) {
		if (errno != EEXIST)
			return print_error(output, errno);
		say("%s: the folder exists, and is never replaced; give another name", path);
		return TOOL_FAILURE;
	}
	output->shown.path = path;
	return TOOL_OK;
}

/*
 * Opens a temporary file for a sink that needs to seek, because the output cannot seek.
 * output_keep() copies the file to the output.
 */
static int spool_output(struct output *output)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	output->state = OUTPUT_SPOOLED;
	if (asprintf(&output->place, "%s/posixtrace.XXXXXX", dir && *dir ? dir : "/tmp") < 0) {
		output->place = NULL;
		return print_error(output, ENOMEM);
	}
	output->target = output->shown.fd;
	fd = mkostemp(output->place, O_CLOEXEC);
	if (fd < 0) {
		free(output->place);
		output->place = NULL;
		return print_error(output, errno);
	}
	output->shown.fd = fd;
	output->shown.path = output->place;
	return TOOL_OK;
}

/*
 * Opens a pipe, a device or an open descriptor such as /dev/stdout. A write to a disk destroys its
 * contents, so a disk requires --force. Other devices do not.
 */
static int open_there(struct output *output, const char *path, bool is_disk, bool force)
{
	if (is_disk && !force) {
		say("%s: is a block device; --force overwrites it", path);
		return TOOL_FAILURE;
	}
	output->state = OUTPUT_THERE;
	output->shown.fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	output->shown.path = path;
	return output->shown.fd < 0 ? print_error(output, errno) : TOOL_OK;
}

static int open_new(struct output *output, const char *path, bool force)
{
	int status = outfile_create(&output->file, path, force ? OUTFILE_REPLACE : OUTFILE_REFUSE);

	if (status)
		return status;
	output->state = OUTPUT_NEW;
	output->shown.is_file = true;
	output->shown.fd = output->file.fd;
	output->shown.path = output->file.made;
	return TOOL_OK;
}

int output_open(struct output *output, const char *path, enum fmt_output_kind kind, bool force)
{
	bool standard = !strcmp(path, "-"), seeks = true;
	struct stat st;
	int status = TOOL_OK;

	memset(output, 0, sizeof(*output));
	output->shown.shown = standard ? "standard output" : path;
	output->shown.force = force;
	output->shown.fd = -1;
	if (kind == FMT_TO_FOLDER)
		return open_folder(output, path);
	if (endpoint_is(path)) {
		output->state = OUTPUT_THERE;
		/* A connection cannot seek, so it is handled like a pipe. */
		status = endpoint_open(path, &output->shown.fd);
		output->shown.path = path;
		seeks = false;
	} else if (standard) {
		output->state = OUTPUT_STANDARD;
		/*
		 * The descriptor is a copy, so that standard output remains open for other parts of
		 * the tool when the output is closed.
		 */
		output->shown.fd = dup(STDOUT_FILENO);
		if (output->shown.fd < 0)
			return print_error(output, errno);
		seeks = false;
	} else if (!stat(path, &st) && !S_ISDIR(st.st_mode) &&
		   (!S_ISREG(st.st_mode) || outfile_is_descriptor(path))) {
		/*
		 * The name exists and does not belong to a regular file. Or it is a descriptor such
		 * as /dev/stdout, which may lead to a regular file.
		 */
		status = open_there(output, path, S_ISBLK(st.st_mode), force);
		seeks = false;
	} else {
		status = open_new(output, path, force);
	}
	if (!status && kind == FMT_TO_FILE && !seeks)
		status = spool_output(output);
	if (status)
		return status;
	output->out.fd = output->shown.fd;
	output->shown.out = &output->out;
	return TOOL_OK;
}

/* Closes the output. Bytes that were written to it remain. */
static void close_output(struct output *output)
{
	if (output->place)
		unlink(output->place);
	free(output->place);
	if (output->state == OUTPUT_SPOOLED)
		close(output->target);
	if (output->state == OUTPUT_NEW)
		outfile_close(&output->file);
	else if (output->shown.fd >= 0)
		close(output->shown.fd);
}

int output_keep(struct output *output)
{
	int status = TOOL_OK, err = output->shown.out ? out_flush(output->shown.out) : 0;

	if (!err && output->state == OUTPUT_SPOOLED) {
		err = lseek(output->shown.fd, 0, SEEK_SET) < 0 ? errno : 0;
		if (!err)
			err = spool_copy(output->shown.fd, output->target);
	}
	if (err) {
		status = print_error(output, err);
		output_drop(output);
		return status;
	}
	if (output->state == OUTPUT_NEW) {
		status = outfile_keep(&output->file);
		if (status) {
			outfile_drop(&output->file);
			return status;
		}
	}
	close_output(output);
	return status;
}

/*
 * Returns whether the file is a regular file and the input with this path is the same file. The
 * function compares the device and the inode number, because one file may have different names.
 */
static bool is_the_same(const struct stat *file, const char *path)
{
	struct stat input;

	return (strcmp(path, "-") ? stat(path, &input) : fstat(STDIN_FILENO, &input)) == 0 &&
	       S_ISREG(input.st_mode) && input.st_dev == file->st_dev &&
	       input.st_ino == file->st_ino;
}

int output_open_text(struct output *output, const char *path, bool force, char *const *inputs,
		     size_t count)
{
	struct stat file;
	bool is_file = strcmp(path, "-") != 0 && !stat(path, &file);
	mode_t mask;
	int status;

	for (size_t i = 0; is_file && i < count; i++)
		if (is_the_same(&file, inputs[i])) {
			say("%s: this file is also an input; give another output", path);
			return TOOL_FAILURE;
		}
	status = output_open(output, path, FMT_TO_BYTES, force);
	if (status || output->state != OUTPUT_NEW)
		return status;
	/*
	 * outfile_create() makes a file that only its owner can read. So this function sets the
	 * permissions that the umask leaves. A process can read its umask only by setting it.
	 */
	mask = umask(0);
	umask(mask);
	fchmod(output->shown.fd, 0666 & ~mask);
	return TOOL_OK;
}

int output_close(struct output *output, int status)
{
	if (status == TOOL_FAILURE || status == TOOL_USAGE) {
		output_drop(output);
		return status;
	}
	return tool_worse(status, output_keep(output));
}

void output_drop(struct output *output)
{
	if (output->state == OUTPUT_NEW) {
		outfile_drop(&output->file);
		return;
	}
	if (output->state == OUTPUT_FOLDER && output->shown.path)
		rmdir(output->shown.path); /* the sink has removed its files from the folder */
	close_output(output);
}
