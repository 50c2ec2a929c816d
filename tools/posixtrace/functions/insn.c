/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * insn.c - decodes instructions with Zydis. A build without Zydis decodes no instruction, so no
 * function is patched.
 *
 * struct insn has only the facts that decide whether a function can be patched, so that patchable.c
 * does not depend on the decoder.
 */
#include "functions/insn.h"

#include <string.h>

#ifdef HAVE_ZYDIS

#include <Zydis/Zydis.h>

bool insn_is_available(void)
{
	return true;
}

/*
 * Classifies an instruction that has a target relative to itself. An instruction of unknown kind
 * counts as an instruction that cannot be moved, which is safe.
 */
static void take_relative(struct insn *insn, const ZydisDecodedInstruction *is)
{
	switch (is->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		insn->kind = INSN_CALL;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		insn->kind = INSN_JUMP;
		break;
	case ZYDIS_CATEGORY_COND_BR:
		/*
		 * The opcodes 0x70 to 0x7f and 0x0f80 to 0x0f8f contain the condition in their low
		 * 4 bits.
		 */
		insn->kind = INSN_SHORT_ONLY;
		if ((is->opcode & 0xf0) == 0x70 || (is->opcode & 0xf0) == 0x80)
			insn->kind = INSN_BRANCH;
		insn->condition = is->opcode & 0x0f;
		break;
	default:
		insn->kind = INSN_SHORT_ONLY;
		break;
	}
}

/*
 * Classifies an instruction without a relative target. If the instruction has a relative target,
 * insn_decode() corrects the kind.
 */
static enum insn_kind kind_of(const ZydisDecodedInstruction *is)
{
	if (is->mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		return INSN_ENDBR;
	if (is->mnemonic == ZYDIS_MNEMONIC_INT3)
		return INSN_TRAP;
	switch (is->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return INSN_NOP;
	case ZYDIS_CATEGORY_CALL:
		return INSN_CALL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return INSN_INDIRECT;
	case ZYDIS_CATEGORY_RET:
		return INSN_RETURN;
	default:
		return INSN_PLAIN;
	}
}

/*
 * Notes the effect of an instruction on the stack pointer, and its operand on the stack. An operand
 * with an index is an element of an array and not the return address.
 */
static void take_stack(struct insn *insn, const ZydisDecodedInstruction *is,
		       const ZydisDecodedOperand *operand)
{
	bool is_of_rsp = is->operand_count_visible == 2 &&
			 operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 operand[0].reg.value == ZYDIS_REGISTER_RSP &&
			 operand[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	for (unsigned i = 0; i < is->operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &operand[i];

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.index != ZYDIS_REGISTER_NONE)
			continue;
		insn->base = op->mem.base == ZYDIS_REGISTER_RSP ? INSN_STACK :
			     op->mem.base == ZYDIS_REGISTER_RBP ? INSN_FRAME : INSN_NO_BASE;
		insn->offset = op->mem.disp.has_displacement ? op->mem.disp.value : 0;
	}
	if (is->mnemonic == ZYDIS_MNEMONIC_PUSH)
		insn->pushes = 8;
	else if (is->mnemonic == ZYDIS_MNEMONIC_POP)
		insn->pushes = -8;
	else if (is->mnemonic == ZYDIS_MNEMONIC_SUB && is_of_rsp)
		insn->pushes = operand[1].imm.value.s;
	else if (is->mnemonic == ZYDIS_MNEMONIC_ADD && is_of_rsp)
		insn->pushes = -operand[1].imm.value.s;
	insn->sets_frame = is->mnemonic == ZYDIS_MNEMONIC_MOV &&
			   operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			   operand[0].reg.value == ZYDIS_REGISTER_RBP &&
			   operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			   operand[1].reg.value == ZYDIS_REGISTER_RSP;
}

/*
 * Returns whether the kernel accepts a breakpoint at an instruction. The kernel refuses the
 * prefixes lock, es, cs, ss and ds everywhere, and the prefix of 16-bit operands at calls and
 * jumps. Some of these prefixes are padding or hints (cs ret, ds jne).
 */
static bool accepts_breakpoints(const ZydisDecodedInstruction *is, const struct insn *insn)
{
	if (is->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || insn->kind == INSN_TRAP ||
	    is->meta.category == ZYDIS_CATEGORY_SYSCALL)
		return false;
	for (unsigned i = 0; i < is->raw.prefix_count; i++)
		switch (is->raw.prefixes[i].value) {
		case 0xf0:
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
			return false;
		case 0x66:
			if (insn->target)
				return false;
			break;
		}
	return true;
}

/*
 * Zydis reads no more than the given bytes and never more than 15. So Zydis refuses an instruction
 * that continues behind the end of the segment. The decoder is made once and needs no lock, because
 * only one thread of the tool decodes.
 */
bool insn_decode(struct insn *insn, const uint8_t *code, size_t bytes, uint64_t address)
{
	static ZydisDecoder decoder;
	static bool is_ready;
	ZydisDecodedInstruction is;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];

	if (!is_ready)
		is_ready = ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
							 ZYDIS_STACK_WIDTH_64));
	memset(insn, 0, sizeof(*insn));
	if (!is_ready || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, bytes, &is, operand)))
		return false;
	insn->len = is.length;
	insn->kind = kind_of(&is);
	take_stack(insn, &is, operand);
	for (unsigned i = 0; i < is.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &operand[i];

		if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative) {
			insn->target = address + is.length + (uint64_t)op->imm.value.s;
			take_relative(insn, &is);
		} else if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->size >= 32 &&
			   !insn->has_address) {
			insn->has_address = true;
			insn->address = op->imm.value.u;
		} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			   op->mem.base == ZYDIS_REGISTER_RIP) {
			insn->refers_at = is.raw.disp.offset;
			insn->has_address = true;
			insn->address = address + is.length + (uint64_t)op->mem.disp.value;
		} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && is.raw.disp.size == 32) {
			insn->has_address = true;
			insn->address = (uint64_t)op->mem.disp.value;
		}
	}
	/*
	 * An instruction with an address relative to eip (32 bits) cannot be moved. Such an
	 * instruction is rare, so the tool does not try to correct its address.
	 */
	for (unsigned i = 0; i < is.operand_count_visible; i++)
		if (operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand[i].mem.base == ZYDIS_REGISTER_EIP)
			insn->kind = INSN_SHORT_ONLY;
	insn->has_breakpoints = accepts_breakpoints(&is, insn);
	return true;
}

/*
 * This function decodes whole files, so it does not decode operands. They are not needed, because
 * the encoding of an instruction shows the length of its registers.
 */
enum insn_vectors insn_vectors(const uint8_t *code, size_t bytes)
{
	enum insn_vectors most = INSN_SSE;
	ZydisDecodedInstruction is;
	ZydisDecoder decoder;

	if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					   ZYDIS_STACK_WIDTH_64)))
		return INSN_AVX512;
	while (bytes && most != INSN_AVX512) {
		bool good = ZYAN_SUCCESS(
			ZydisDecoderDecodeInstruction(&decoder, NULL, code, bytes, &is));
		size_t len = good ? is.length : 1;

		if (good && is.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
			most = INSN_AVX512;
		/*
		 * Instructions with the encoding VEX use AVX registers or masks. Only AVX-512 code
		 * has masks.
		 */
		else if (good && is.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
			most = is.meta.category == ZYDIS_CATEGORY_KMASK ? INSN_AVX512 : INSN_AVX;
		code += len;
		bytes -= len;
	}
	return most;
}

#else

enum insn_vectors insn_vectors(const uint8_t *code, size_t bytes)
{
	(void)code, (void)bytes;
	return INSN_AVX512;
}

bool insn_is_available(void)
{
	return false;
}

bool insn_decode(struct insn *insn, const uint8_t *code, size_t bytes, uint64_t address)
{
	(void)code, (void)bytes, (void)address;
	memset(insn, 0, sizeof(*insn));
	return false;
}

#endif
