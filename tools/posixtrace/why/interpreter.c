/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* interpreter.c - recognizes interpreters by the names of their files. */
#include "why/interpreter.h"

#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "log/jit.h"

/* The most samples that are examined: enough to know what a program is. */
#define LOOKED_MAX 2000

/* How an interpreter writes the names of functions into a file; see posixtrace-record(1). */
#define NODE   "JavaScript: 'node --perf-basic-prof --interpreted-frames-native-stack' names " \
	       "its functions in\nthe log."
#define PYTHON "Python: 'python3 -X perf' (from 3.12 on), recorded with --sample-stack, names " \
	       "its functions\nin the log."
#define PYTHON_NEW "Python: 'python3 -X perf', recorded with --sample-stack, names its functions " \
	       "in the log."
#define PYTHON_OLD "Python names its functions in the log from 3.12 on; this is an older version."
#define PYTHON_MINOR 12 /* Python 3.12 is the first one with -X perf */
#define JAVA   "Java: 'java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions\n" \
	       "-XX:+DumpPerfMapAtExit' (from 17 on) names its methods in the log."
#define RUBY   "Ruby: 'ruby --yjit --yjit-perf' (from 3.3 on) names its methods in the log."

static const char python_advice[] = PYTHON;

/*
 * The beginnings of the names of files; a version may follow. advice: NULL if the interpreter
 * cannot write names.
 */
static const struct interpreter {
	const char *name, *advice;
} interpreters[] = {
	{ "node", NODE },
	{ "libnode.so", NODE },
	{ "python", python_advice },
	{ "libpython", python_advice },
	{ "libjvm.so", JAVA },
	{ "libcoreclr.so", ".NET: the environment DOTNET_PerfMapEnabled=1 names its methods in the "
			   "log." },
	{ "beam.smp", "Erlang: 'erl +JPperf true' names its functions in the log." },
	{ "ruby", RUBY },
	{ "libruby", RUBY },
	{ "perl", NULL }, { "libperl.so", NULL }, { "php", NULL }, { "libphp", NULL },
	{ "lua", NULL }, { "liblua", NULL },
};

/* Returns the interpreter of a file, or NULL. */
static const struct interpreter *find_interpreter(const char *path)
{
	const char *name = path ? path_last(path) : "";

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters); i++) {
		size_t len = strlen(interpreters[i].name);

		if (!strncmp(name, interpreters[i].name, len) &&
		    !name[len + strspn(name + len, ".-0123456789so")])
			return &interpreters[i];
	}
	return NULL;
}

/* The versions 3.MINOR of Python of some samples. A minor version of 0 is not known. */
struct versions {
	unsigned least, most;
};

/* Notes the version in the name of a file: python3.11, libpython3.12.so.1.0. */
static void note_version(struct versions *versions, const struct interpreter *found,
			 const char *path)
{
	const char *name = path_last(path), *dot = strchr(name, '.');
	unsigned minor = 0;

	if (!found || found->advice != python_advice)
		return;
	if (dot && dot > name && dot[-1] == '3')
		for (dot++; *dot >= '0' && *dot <= '9' && minor < 1000; dot++)
			minor = 10 * minor + (unsigned)(*dot - '0');
	if (minor < versions->least)
		versions->least = minor;
	if (minor > versions->most)
		versions->most = minor;
}

/* Returns the advice for the versions of Python that the samples show. */
static const char *advice_for(const struct versions *versions)
{
	if (versions->least && versions->most < PYTHON_MINOR)
		return PYTHON_OLD;
	return versions->least >= PYTHON_MINOR ? PYTHON_NEW : python_advice;
}

bool interpreter_is(const char *path)
{
	return find_interpreter(path) != NULL;
}

/* Returns an interpreter whose file the process has mapped, or NULL. */
static const struct interpreter *mapped_by(const struct history *history, pid_t pid,
					   struct versions *versions)
{
	struct posix_trace_mapping_np mapping;
	const struct interpreter *found = NULL;
	int end = 0;

	if (posix_trace_mapping_rewind_np(history->log->trid))
		return NULL;
	while (!found && !posix_trace_mapping_getnext_np(history->log->trid, &mapping, &end) &&
	       !end)
		if (mapping.pid == pid && !mapping.parent) {
			found = find_interpreter(mapping.path);
			note_version(versions, found, mapping.path);
		}
	return found;
}

/*
 * Returns the interpreter to which a function of the sample's stack belongs, or NULL. If the
 * innermost address of the stack is in no file, it belongs to the interpreter that the process has
 * mapped. Notes the version of Python. Sets *has_compiled if a compiled function is found before an
 * interpreter.
 */
static const struct interpreter *of_sample(const struct history *history,
					   const struct history_thread *thread,
					   const struct sample *sample, bool *has_compiled,
					   struct versions *versions)
{
	const struct interpreter *found = NULL;
	struct posix_trace_mapping_np mapping;
	struct stacks_found stack;

	if (!sample->stack || !stacks_number(&history->stacks, sample->stack - 1, &stack))
		return NULL;
	for (size_t i = 0; i < stack.count && !found; i++) {
		if (stacks_is_kernel(stack.frame[i]))
			continue;
		if (posix_trace_mapping_find_np(history->log->trid, thread->pid, stack.frame[i],
						sample->time_ns, &mapping))
			found = i ? NULL : mapped_by(history, thread->pid, versions);
		else if (jit_is_path(mapping.path))
			*has_compiled = true;
		else if ((found = find_interpreter(mapping.path)) != NULL)
			note_version(versions, found, mapping.path);
	}
	return found;
}

const char *interpreter_advice(const struct history *history)
{
	size_t count[sizeof(interpreters) / sizeof(*interpreters)] = { 0 }, looked = 0;
	struct versions versions = { .least = UINT_MAX };
	bool has_compiled = false;

	for (size_t i = 0; i < history->threads && looked < LOOKED_MAX; i++) {
		const struct history_thread *thread = &history->thread[i];

		for (size_t j = 0; j < thread->samples && looked < LOOKED_MAX; j++, looked++) {
			const struct interpreter *found =
				of_sample(history, thread, &thread->sample[j], &has_compiled,
					  &versions);

			if (found)
				count[found - interpreters]++;
			if (has_compiled)
				return NULL;
		}
	}
	for (size_t i = 0; i < sizeof(count) / sizeof(*count); i++)
		if (count[i] && count[i] >= looked - looked / 2)
			return interpreters[i].advice != python_advice ? interpreters[i].advice :
			       advice_for(&versions);
	return NULL;
}
