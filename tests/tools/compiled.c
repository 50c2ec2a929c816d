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
 *	dump    it begins a file jit-PID.dump with its functions, and maps it
 *	reload  another function is compiled at the address of the function that "open" calls
 *	move    the function that "open" calls moves to another address
 *	wait    it prints a line, and waits until its standard input has a byte or ends
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
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

enum { PAGE = 65536, SPINNER_AT = 256, OTHER_AT = 512, MOVED_AT = 1024 };

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

static FILE *dump;

/* Writes a record, and lets the clock advance before the code runs. */
static void write_record(uint32_t id, const void *data, uint32_t bytes, const char *name,
			 uint32_t code)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct {
		uint32_t id, bytes;
		uint64_t time;
	} prefix = { id, (uint32_t)(sizeof(prefix) + bytes), 0 };
	struct timespec now;

	prefix.bytes += name ? (uint32_t)strlen(name) + 1 + code : 0;
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	prefix.time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	fwrite(&prefix, sizeof(prefix), 1, dump);
	fwrite(data, bytes, 1, dump);
	if (name)
		fwrite(name, strlen(name) + 1, 1, dump);
	while (name && code--)
		putc(0, dump);
	if (fflush(dump))
		exit(3);
	nanosleep(&pause, NULL);
}

static void write_load(uint64_t index, const unsigned char *code, uint32_t bytes, const char *name)
{
	const struct {
		uint32_t pid, tid;
		uint64_t memory, address, bytes, index;
	} load = { (uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)code, (uintptr_t)code, bytes,
		   index };

	write_record(0, &load, sizeof(load), name, bytes < PAGE ? bytes : 0);
}

static void write_move(uint64_t index, const unsigned char *from, const unsigned char *to)
{
	const struct {
		uint32_t pid, tid;
		uint64_t memory, from, to, bytes, index;
	} move = { (uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)to, (uintptr_t)from,
		   (uintptr_t)to, sizeof(caller), index };

	write_record(1, &move, sizeof(move), NULL, 0);
}

/* The file is mapped before it has bytes, so that it is mapped if another process finds bytes. */
static void begin_dump(const unsigned char *code)
{
	const struct {
		uint32_t magic, version, bytes, machine, spare, pid;
		uint64_t time, flags, more;
	} header = { .magic = 0x4a695444, .version = 1, .bytes = sizeof(header),
		     .pid = (uint32_t)getpid() };
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	dump = fopen(path, "w+");
	if (!dump || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) ==
			     MAP_FAILED)
		exit(3);
	fwrite(&header, sizeof(header), 1, dump);
	write_record(4711, &header, sizeof(header), NULL, 0); /* a kind that readers do not know */
	write_load(7, code, 0, "a function without code");
	write_load(8, NULL, UINT32_MAX >> 8, "a function that is longer than the others");
	write_move(9, code, code); /* of an unknown function */
	write_record(0, &header, 8, NULL, 0); /* too short */
	write_load(2, code + SPINNER_AT, sizeof(spinner), "LazyCompile:*turn /srv/dump.js:7:8");
	write_load(1, code, sizeof(caller), "JS:*dumped /srv/dump.js:3:4");
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
	memcpy(code + MOVED_AT, caller, sizeof(caller));
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
		else if (!strcmp(argv[i], "dump"))
			begin_dump(code);
		else if (!strcmp(argv[i], "reload"))
			write_load(3, code, sizeof(caller), "JS:*later /srv/dump.js:5:6");
		else if (!strcmp(argv[i], "move")) {
			write_move(3, code, code + MOVED_AT);
			to = code + MOVED_AT, memcpy(&call, &to, sizeof(call));
		} else if (!strcmp(argv[i], "wait")) {
			puts("waits");
			fflush(stdout);
			while (read(STDIN_FILENO, &to, 1) > 0)
				break;
		}
		call(do_nothing);
	}
	return 0;
}
