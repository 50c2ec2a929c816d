/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * list_probes.c - the option --probes of list: prints which functions can be traced by which
 * method, and why others cannot. It decides exactly as the command record does.
 */
#include "live/list_probes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "functions/arguments.h"
#include "functions/exits.h"
#include "functions/libraries.h"
#include "functions/prototype.h"
#include "functions/probes.h"
#include "functions/traps.h"
#include "live/image.h"
#include "live/process.h"
#include "symbols/demangle.h"

/* The names of the methods, as in the manual page. */
static const char *const methods[] = {
	[PATCH_REFUSED] = "refused", [PATCH_SLOT] = "room", [PATCH_MOVE] = "moved",
	[PATCH_BYTE] = "byte",
};

/*
 * Writes a name from a file, which may have any characters. A name of C++ is written as in the
 * source.
 */
static void put_name(const char *name)
{
	char *source = demangle(name);

	text_safe(&out_stdout, source ? source : name, strlen(source ? source : name));
	free(source);
}

/*
 * Writes the line of a probe. If by_kernel is true, the library cannot be in the process, and the
 * kernel records all probes. Otherwise the kernel records only the probes that cannot be patched.
 */
static void put_probe(const struct binary_file *file, const struct probe_place *place,
		      bool by_kernel)
{
	const struct binary_probe *probe = &place->probe;
	const char *lack = traps_probe_lack(file, probe);
	const bool is_trap = (by_kernel || place->method == PATCH_REFUSED) && !lack;

	out_printf(&out_stdout, "probe     %-7s  %-8s  ",
		   is_trap ? "uprobe" : methods[place->method],
		   is_trap ? "1 trap" : place->method == PATCH_REFUSED ? "-" : "1 event");
	text_safe(&out_stdout, probe->provider, strlen(probe->provider));
	out_char(&out_stdout, ':');
	text_safe(&out_stdout, probe->name, strlen(probe->name));
	out_str(&out_stdout, "  (");
	text_safe(&out_stdout, probe->arguments, strlen(probe->arguments));
	out_str(&out_stdout, probe->semaphore ? ", semaphore)" : ")");
	if (!is_trap && place->method == PATCH_REFUSED)
		out_printf(&out_stdout, ": %s", place->why);
	out_char(&out_stdout, '\n');
}

/*
 * Writes the probes of a file in the order of their addresses. Returns false if memory is lacking.
 */
static bool put_probes(struct binary_file *file, bool by_kernel)
{
	struct probe_place *place;
	size_t count;
	bool good = probes_of(file, &place, &count);

	if (good && count)
		probe_places(file, place, count);
	for (size_t i = 0; i < count && good; i++)
		put_probe(file, &place[i], by_kernel);
	free(place);
	return good;
}

/* Writes the name of a function, with its arguments if they are known. */
static void put_prototype(struct prototypes *prototypes, const struct binary_function *function)
{
	char prototype[PROTOTYPE_TEXT];

	/*
	 * A name of C++, as in the source, already has the types of the arguments, though not their
	 * names. So the function looks up no prototype for such a name.
	 */
	if (strncmp(function->name, "_Z", 2) != 0 && !strchr(function->name, '.') &&
	    prototypes_text(prototypes, function->address, function->name, prototype))
		text_safe(&out_stdout, prototype, strlen(prototype));
	else
		put_name(function->name);
}

/* Writes the arguments that --args records, if there are any. */
static void put_arguments(struct prototypes *prototypes, const struct binary_function *function,
			  enum arguments_way way)
{
	struct arguments arguments;

	if (!arguments_of(prototypes, function->address, function->name, way, &arguments))
		return;
	out_str(&out_stdout, "  --args: ");
	text_safe(&out_stdout, arguments.schema, strlen(arguments.schema));
}

/* Writes the line of a function that only the kernel can record. */
static void put_trapped(struct binary_file *file, struct prototypes *prototypes,
			const struct binary_function *function)
{
	struct exits exits;
	const char *why = exits_of(file, function, &exits);

	exits_fini(&exits);
	out_printf(&out_stdout, "function  %-7s  %-8s  ", why ? "refused" : "uprobe",
		   why ? "-" : "2 traps");
	put_prototype(prototypes, function);
	if (why)
		out_printf(&out_stdout, ": %s", why);
	else
		put_arguments(prototypes, function, traps_arguments(file));
	out_char(&out_stdout, '\n');
}

/*
 * Writes the line of a function. If an address has several names, each gets a line, because a
 * pattern may match any of them.
 */
static void put_function(struct binary_file *file, struct prototypes *prototypes,
			 const struct binary_function *function)
{
	struct patchable is = patchable_of(file, function, SHIM_SITE_FUNCTION);

	out_printf(&out_stdout, "function  %-7s  %-8s  ", methods[is.method],
		   is.method == PATCH_REFUSED ? "-" : "1 event");
	put_prototype(prototypes, function);
	if (is.method == PATCH_REFUSED)
		out_printf(&out_stdout, ": %s", is.why);
	else
		put_arguments(prototypes, function, ARGUMENTS_BY_SHIM);
	out_char(&out_stdout, '\n');
}

/* Returns whether a file is a program that the library can never enter. */
static bool is_foreign_program(const char *path)
{
	char loader[SHIM_LOADER_BYTES];
	enum shim_image image = shim_image_of(AT_FDCWD, path, loader);

	return image == SHIM_IMAGE_FOREIGN || image == SHIM_IMAGE_RIGHTS;
}

/*
 * Prints the contents of a file: its probes, and then its functions in the order of their
 * addresses. If all functions of a file are refused for one reason, there is only one line for
 * them. is_foreign is true if the library cannot enter the process that has mapped the file.
 */
static int list_file(const char *path, bool is_foreign)
{
	struct binary_file *file = binary_open(path);
	const struct binary_function *function;
	struct prototypes *prototypes;
	size_t count;
	const char *lack;
	bool is_closed, by_kernel;

	if (!file || !binary_add_nameless(file)) {
		say("%s", strerror(ENOMEM));
		binary_close(file);
		return TOOL_FAILURE;
	}
	text_safe(&out_stdout, path, strlen(path));
	out_str(&out_stdout, ":\n");
	/*
	 * The kernel must record the functions in two cases: the library cannot enter the program
	 * (is_closed), or the code is of Go or OCaml, which the library does not patch.
	 */
	is_closed = is_foreign || binary_is_static(file) || is_foreign_program(path);
	by_kernel = !binary_unknown(file) && (is_closed || binary_reads_returns(file));
	if (!put_probes(file, is_closed)) {
		say("%s", strerror(ENOMEM));
		binary_close(file);
		return TOOL_FAILURE;
	}
	lack = by_kernel ? NULL : patchable_lack(file);
	if (lack)
		out_printf(&out_stdout, "function  refused  -         *: %s\n", lack);
	function = binary_functions(file, &count);
	prototypes = lack ? NULL : prototypes_open(file);
	for (size_t i = 0; i < count && !lack; i++)
		if (by_kernel)
			put_trapped(file, prototypes, &function[i]);
		else
			put_function(file, prototypes, &function[i]);
	prototypes_close(prototypes);
	binary_close(file);
	return TOOL_OK;
}

int list_probes(const char *target)
{
	struct libraries libraries;
	char path[40], loader[SHIM_LOADER_BYTES];
	int status = TOOL_OK, err;
	bool is_foreign;
	pid_t pid = 0;

	/*
	 * If the argument is a number, it means a process. A file whose name is a number needs a
	 * slash. Files that the process has mapped may have been replaced meanwhile. The shim
	 * compares build-ids, but this list does not.
	 */
	if (target[strspn(target, "0123456789")]) {
		if (!access(target, R_OK))
			return list_file(target, false);
		say("%s: %s", target, say_strerror(errno));
		return TOOL_FAILURE;
	}
	if (!process_once("--probes", target, &pid))
		return TOOL_USAGE;
	err = libraries_of_process(&libraries, pid);
	if (err) {
		libraries_fini(&libraries);
		/* A process that does not exist has no folder in /proc. */
		return process_say_why(pid, err == ENOENT ? ESRCH : err);
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	/*
	 * The library can also enter a process that runs with other rights, if the caller may trace
	 * this process.
	 */
	is_foreign = shim_image_of(AT_FDCWD, path, loader) == SHIM_IMAGE_FOREIGN;
	for (size_t i = 0; i < libraries.count; i++)
		status = tool_worse(status, list_file(libraries.path[i], is_foreign));
	libraries_fini(&libraries);
	return status;
}
