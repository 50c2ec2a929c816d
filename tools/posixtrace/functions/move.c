/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* move.c - copies instructions into the plan of a site, in a form that works at another address. */
#include "functions/move.h"

#include <string.h>

/* Appends bytes to the moved code. Returns false if the plan has no room for them. */
static bool put_code(struct shim_plan_site *site, const void *bytes, size_t len)
{
	if (site->code_len + len > SHIM_PLAN_CODE)
		return false;
	memcpy(site->code + site->code_len, bytes, len);
	site->code_len = (uint8_t)(site->code_len + len);
	return true;
}

/*
 * Notes that the 4 bytes at the offset "at" must become the distance from the end of the
 * instruction to the target. The shim fills in these bytes when the addresses of the file and of
 * the moved code are known. The caller must call this function directly after put_code() for the
 * instruction, because code_len is then the end of the instruction. Returns false if the plan has
 * no room.
 */
static bool put_fix(struct shim_plan_site *site, unsigned at, uint64_t target)
{
	if (site->fixes == SHIM_PLAN_FIXES)
		return false;
	site->fix[site->fixes++] = (struct shim_plan_fix){
		.at = (uint8_t)at, .end = site->code_len, .target = target,
	};
	return true;
}

/*
 * Moves a call of a fixed target, or a call through a pointer at a fixed place. Such a call is
 * always the last of the replaced instructions, because it is at least as long as a jump. The
 * called function must return into the original function, because unwinders know the frame there.
 * So the moved code pushes the return address and then jumps to the called function.
 *
 * 	push literal(%rip); jmp target; literal: the address behind the call
 */
static bool move_call(struct shim_plan_site *site, const struct insn *insn, uint64_t after)
{
	const uint8_t push[6] = { 0xff, 0x35 }, direct[5] = { 0xe9 }, indirect[6] = { 0xff, 0x25 };
	const uint8_t literal[8] = { 0 };
	unsigned at = site->code_len, jump = insn->target ? 5 : 6;

	if (!put_code(site, push, 6))
		return false;
	site->code[at + 2] = (uint8_t)jump;
	if (!(insn->target ? put_code(site, direct, 5) && put_fix(site, at + 7, insn->target) :
			     put_code(site, indirect, 6) && put_fix(site, at + 8, insn->address)))
		return false;
	at = site->code_len;
	if (!put_code(site, literal, 8) || !put_fix(site, at, after))
		return false;
	site->fix[site->fixes - 1].end = SHIM_PLAN_ABSOLUTE;
	return true;
}

/*
 * Branches and jumps get their long form, because the moved code is far from the function.
 */
const char *move_insn(struct shim_plan_site *site, const struct insn *insn, const uint8_t *code,
		      uint64_t address)
{
	const uint8_t branch[6] = { 0x0f, (uint8_t)(0x80 | insn->condition) }, jump[5] = { 0xe9 };
	unsigned at = site->code_len;
	bool fits;

	switch (insn->kind) {
	case INSN_NOP:
		return NULL; /* a NOP has no effect, so it need not be moved */
	case INSN_CALL:
		if (insn->len < SHIM_PLAN_JUMP || (!insn->target && !insn->refers_at))
			return "a call through a register is among its first instructions";
		fits = move_call(site, insn, address + insn->len);
		break;
	case INSN_SHORT_ONLY:
		return "an instruction among the first cannot be moved";
	case INSN_TRAP:
		return "a breakpoint is among its first instructions";
	case INSN_BRANCH:
		fits = put_code(site, branch, 6) && put_fix(site, at + 2, insn->target);
		break;
	case INSN_JUMP:
		fits = put_code(site, jump, 5) && put_fix(site, at + 1, insn->target);
		break;
	default:
		fits = put_code(site, code, insn->len) &&
		       (!insn->refers_at || put_fix(site, at + insn->refers_at, insn->address));
		break;
	}
	return fits ? NULL : "its first instructions are too long";
}
