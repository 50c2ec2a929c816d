/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_args.c - the lengths of the arguments of records, and the items of user events. A TCFG may
 * have any sizes, so the functions compare each length with the length of the frame.
 */
#include <string.h>

#include "convert/octets.h"
#include "convert/rkh/rkh.h"

const char *const rkh_groups[8] = { "MP", "QUE", "SMA", "SM", "TMR", "FWK", "USR", "UT" };

const char *const rkh_type_names[16] = {
	"i8",  "u8",  "i16", "u16", "i32", "u32", "x32", "str",
	"mem", "obj", "fun", "sig", "i64", "u64", "f32", "f64",
};

/*
 * Sets the usual sizes of a 32-bit target. The decoder uses these sizes until a TCFG arrives. A
 * stream whose beginning is missing may have no TCFG.
 */
void rkh_config_default(struct rkh_config *config)
{
	*config = (struct rkh_config){
		.sig = 1, .ts = 4, .ptr = 4, .fun = 4, .ntimer = 2, .nblock = 1, .nelem = 1,
		.esize = 2, .bsize = 1, .flags = RKH_HAS_NUMBER | RKH_HAS_TIME | RKH_HAS_SUM,
	};
}

/*
 * Returns the number of bytes of an argument of this kind; the tables of records have the kinds. A
 * pointer of 8 bytes has 4 bytes in a frame.
 */
unsigned rkh_size(const struct rkh_config *config, enum rkh_kind kind)
{
	switch (kind) {
	case RKH_SYM:
	case RKH_SNDR:
		return config->ptr == 8 ? 4 : config->ptr;
	case RKH_FUN:
		return config->fun == 8 ? 4 : config->fun;
	case RKH_SIG:
		return config->sig;
	case RKH_U8:
		return 1;
	case RKH_U16:
		return 2;
	case RKH_U32:
		return 4;
	case RKH_NBLK:
	case RKH_LWMNBLK:
		return config->nblock;
	case RKH_NELEM:
	case RKH_LWMNELEM:
		return config->nelem;
	case RKH_BSIZE:
		return config->bsize;
	case RKH_ESIZE:
		return config->esize;
	case RKH_NTICK:
		return config->ntimer;
	case RKH_STR:
		break;
	}
	return 0;
}

/* Some arguments exist only if the target was built with an option. */
bool rkh_is_present(const struct rkh_config *config, enum rkh_kind kind)
{
	switch (kind) {
	case RKH_SNDR:
		return config->flags & RKH_HAS_SENDER;
	case RKH_LWMNELEM:
		return config->flags & RKH_HAS_QUEUE_MARK;
	case RKH_LWMNBLK:
		return config->flags & RKH_HAS_POOL_MARK;
	default:
		return true;
	}
}

/* A size in TCFG has four bits, so a number may have up to 15 bytes; the lower 8 bytes are used. */
uint64_t rkh_number(const unsigned char *p, unsigned bytes)
{
	return octets_get(p, bytes < 8 ? bytes : 8, false);
}

/* A text ends with a NUL, which must be within the frame. */
bool rkh_measure(const struct rkh_config *config, const struct rkh_record *record,
		 const unsigned char *args, size_t len, size_t *used)
{
	size_t at = 0;

	for (unsigned i = 0; i < record->args; i++) {
		enum rkh_kind kind = record->arg[i].kind;
		const unsigned char *nul;

		if (kind == RKH_STR) {
			nul = at < len ? memchr(args + at, 0, len - at) : NULL;
			if (!nul)
				return false;
			at = (size_t)(nul - args) + 1;
		} else if (rkh_is_present(config, kind)) {
			unsigned size = rkh_size(config, kind);

			if (len - at < size)
				return false;
			at += size;
		}
	}
	*used = at;
	return true;
}

/*
 * An item is a byte with type and display width, and a value. Types from RKH_I64 on are accepted
 * only if "wide" is true.
 */
int rkh_item(const struct rkh_config *config, bool wide, const unsigned char *args, size_t len,
	     size_t *at, struct rkh_item *item)
{
	static const unsigned char sizes[16] = {
		[RKH_I8] = 1, [RKH_UI8] = 1, [RKH_I16] = 2, [RKH_UI16] = 2, [RKH_I32] = 4,
		[RKH_UI32] = 4, [RKH_X32] = 4, [RKH_I64] = 8, [RKH_U64] = 8, [RKH_F32] = 4,
		[RKH_F64] = 8,
	};
	const unsigned char *nul;
	size_t p = *at;

	if (p >= len)
		return 0;
	item->type = args[p] & 15;
	item->width = args[p++] >> 4;
	/* RKH itself has no items of 8 bytes and no floating point numbers. */
	if (item->type >= RKH_I64 && !wide)
		return -1;
	item->len = sizes[item->type];
	switch (item->type) {
	case RKH_TEXT:
		nul = p < len ? memchr(args + p, 0, len - p) : NULL;
		if (!nul)
			return -1;
		item->len = (size_t)(nul - args) - p;
		break;
	case RKH_MEM:
		if (p == len)
			return -1;
		item->len = args[p++];
		break;
	case RKH_OBJ:
		item->len = rkh_size(config, RKH_SYM);
		break;
	case RKH_FUNCTION:
		item->len = rkh_size(config, RKH_FUN);
		break;
	case RKH_ESIG:
		item->len = rkh_size(config, RKH_SIG);
		break;
	default:
		break;
	}
	if (len - p < item->len)
		return -1;
	item->value = args + p;
	*at = p + item->len + (item->type == RKH_TEXT);
	return 1;
}
