/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compiled.c - a program with functions that it has compiled while it ran, for test_jit.sh.
 *
 *	compiled MAP WORK...
 *
 * It writes the file MAP, in the form of /tmp/perf-PID.map. It replaces a @ in the name MAP by its
 * process number. Then it does each WORK:
 *	open    a compiled function calls a function of the program, which opens a missing file
 *	call    a compiled function calls a function of the C library directly
 *	spin    a compiled function runs for some time
 *	wait    it waits until its standard input has a byte or ends
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined __x86_64__
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char caller[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const unsigned char spinner[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d,
					 0xc3 };
#elif defined __aarch64__
/* stp x29,x30,[sp,#-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#16; ret */
static const unsigned caller[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
/* 1: sub x0,x0,#1; cbnz x0,1b; ret */
static const unsigned spinner[] = { 0xd1000400, 0xb5ffffe0, 0xd65f03c0 };
#else
#error "this processor has no code here"
#endif

enum { PAGE = 65536, SPINNER_AT = 256, OTHER_AT = 512 };

static void open_missing(void)
{
	if (open("missing.file", O_RDONLY) >= 0)
		exit(3);
}

static void do_nothing(void)
{
}

static void write_map(const char *form, const unsigned char *code)
{
	char path[4096];
	const char *at = strchr(form, '@');
	FILE *map;

	if (at)
		snprintf(path, sizeof(path), "%.*s%d%s", (int)(at - form), form, (int)getpid(),
			 at + 1);
	else
		snprintf(path, sizeof(path), "%s", form);
	map = fopen(path, "w");
	if (!map)
		exit(3);
	/* An older function had this code, and a function is much longer than the others. */
	fprintf(map, "%lx 40 an older function\n", (unsigned long)(uintptr_t)code);
	fprintf(map, "not a function\n%lx 0 empty\n", (unsigned long)(uintptr_t)code);
	fprintf(map, "0x%lx %x JS:*callBack /srv/my app/server.js:12:34\n",
		(unsigned long)(uintptr_t)code, (unsigned)sizeof(caller));
	fprintf(map, "%lx %x py::Shop.<locals>.spin:/srv/shop.py\n",
		(unsigned long)(uintptr_t)(code + SPINNER_AT), (unsigned)sizeof(spinner));
	fprintf(map, "%lx %x int shop.Item.total(int)\n",
		(unsigned long)(uintptr_t)(code + OTHER_AT), (unsigned)sizeof(caller));
	fprintf(map, "%lx 1000 the last line is not complete", (unsigned long)(uintptr_t)code);
	fclose(map);
}

int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
	void (*call)(void (*)(void)), (*other)(int (*)(void));
	void (*spin)(unsigned long);
	void *to;

	if (argc < 2 || code == MAP_FAILED)
		return 2;
	memcpy(code, caller, sizeof(caller));
	memcpy(code + SPINNER_AT, spinner, sizeof(spinner));
	memcpy(code + OTHER_AT, caller, sizeof(caller));
	if (mprotect(code, PAGE, PROT_READ | PROT_EXEC))
		return 77;
	__builtin___clear_cache((char *)code, (char *)code + PAGE);
	to = code, memcpy(&call, &to, sizeof(call));
	to = code + SPINNER_AT, memcpy(&spin, &to, sizeof(spin));
	to = code + OTHER_AT, memcpy(&other, &to, sizeof(other));
	write_map(argv[1], code);
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "open"))
			call(open_missing);
		else if (!strcmp(argv[i], "call"))
			other(inotify_init);
		else if (!strcmp(argv[i], "spin"))
			for (clock_t end = clock() + CLOCKS_PER_SEC / 4; clock() < end;)
				spin(1000000);
		else if (!strcmp(argv[i], "wait"))
			while (read(STDIN_FILENO, &to, 1) > 0)
				break;
		call(do_nothing);
	}
	return 0;
}
