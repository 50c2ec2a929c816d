/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * layout.c - finds a member of a struct of the kernel in the kernel's BTF.
 *
 * BTF is a header, a list of types and a list of names. The kernel has checked its own BTF. The
 * file is nevertheless checked like any other: each length is compared with the number of bytes
 * that are left.
 */
#include "syscalls/layout.h"

#if defined __x86_64__

#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BTF_FILE  "/sys/kernel/btf/vmlinux"
#define BTF_BYTES (UINT32_C(32) << 20) /* a longer description is not used; the usual has 6 MB */

/* Kinds of types that old headers do not have. */
#define KIND_FLOAT      16
#define KIND_DECL_TAG   17
#define KIND_TYPE_TAG   18
#define KIND_ENUM64     19

/* The two lists: "type" is the list of types, and "name" is the list of names. */
struct description {
	const unsigned char *type;
	const char *name;
	size_t type_bytes, name_bytes;
};

/*
 * Reads the file into memory of malloc(3). Returns the number of its bytes, or 0 if it cannot be
 * read.
 */
static size_t read_description(unsigned char **bytes)
{
	const int fd = open(BTF_FILE, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = -1;

	*bytes = fd >= 0 ? malloc(BTF_BYTES) : NULL;
	if (*bytes)
		while ((n = read(fd, *bytes + used, BTF_BYTES - used)) > 0)
			used += (size_t)n;
	if (fd >= 0)
		close(fd);
	return n == 0 && used < BTF_BYTES ? used : 0;
}

/* Checks the header. Returns false if the bytes are no description that this file understands. */
static bool open_description(const unsigned char *bytes, size_t count, struct description *to)
{
	struct btf_header head;
	size_t rest;

	if (count < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != BTF_MAGIC || head.version != BTF_VERSION || head.hdr_len > count)
		return false;
	rest = count - head.hdr_len;
	if (head.type_off > rest || head.type_len > rest - head.type_off ||
	    head.str_off > rest || head.str_len > rest - head.str_off || !head.str_len ||
	    bytes[head.hdr_len + head.str_off + head.str_len - 1] != '\0')
		return false;
	*to = (struct description){
		.type = bytes + head.hdr_len + head.type_off, .type_bytes = head.type_len,
		.name = (const char *)bytes + head.hdr_len + head.str_off,
		.name_bytes = head.str_len,
	};
	return true;
}

static bool is_named(const struct description *of, uint32_t offset, const char *name)
{
	return offset < of->name_bytes && !strcmp(of->name + offset, name);
}

/* Returns the number of bytes that follow a type, or SIZE_MAX for an unknown kind. */
static size_t bytes_behind(const struct btf_type *type)
{
	const size_t count = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case KIND_FLOAT:
	case KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * sizeof(struct btf_var_secinfo);
	case KIND_ENUM64:
		return count * 12;
	default:
		return SIZE_MAX;
	}
}

/* Returns the offset of the member in a struct with "count" members, or -1. */
static int member_in(const struct description *of, const unsigned char *at, size_t count,
		     bool has_bits, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		struct btf_member member;
		uint32_t bit;

		memcpy(&member, at + i * sizeof(member), sizeof(member));
		if (!is_named(of, member.name_off, name))
			continue;
		/*
		 * If the struct has bit fields, the upper byte is the number of bits of the member.
		 */
		bit = has_bits ? member.offset & 0xffffff : member.offset;
		return bit % 8 == 0 && bit / 8 < 4096 ? (int)(bit / 8) : -1;
	}
	return -1;
}

/* Returns the offset of a member of a struct, or -1 if the description lacks one of the two. */
static int find_member(const struct description *of, const char *struct_name, const char *name)
{
	size_t at = 0;

	while (at < of->type_bytes && of->type_bytes - at >= sizeof(struct btf_type)) {
		struct btf_type type;
		size_t behind;

		memcpy(&type, of->type + at, sizeof(type));
		at += sizeof(type);
		behind = bytes_behind(&type);
		if (behind > of->type_bytes - at)
			return -1;
		if (BTF_INFO_KIND(type.info) == BTF_KIND_STRUCT &&
		    is_named(of, type.name_off, struct_name))
			return member_in(of, of->type + at, BTF_INFO_VLEN(type.info),
					 BTF_INFO_KFLAG(type.info), name);
		at += behind;
	}
	return -1;
}

/*
 * Returns the offset of "status" for the version of the kernel. Since Linux 5.11, the member
 * "syscall_work" of 8 bytes precedes it. No option of the kernel's configuration changes the
 * offset.
 */
static int of_version(void)
{
	unsigned major, minor;
	struct utsname kernel;

	if (uname(&kernel) || sscanf(kernel.release, "%u.%u", &major, &minor) != 2)
		return -1;
	return major > 5 || (major == 5 && minor >= 11) ? 16 : 8;
}

int layout_status(void)
{
	struct description description;
	unsigned char *bytes;
	const size_t count = read_description(&bytes);
	int offset = -1;

	if (count && open_description(bytes, count, &description))
		offset = find_member(&description, "thread_info", "status");
	free(bytes);
	return offset >= 0 ? offset : of_version();
}

#else

int layout_status(void)
{
	return 0;
}

#endif
