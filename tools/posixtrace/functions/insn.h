/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* insn.h - one instruction of x86-64, with the facts that a patch needs. Zydis decodes it. */
#ifndef POSIXTRACE_FUNCTIONS_INSN_H
#define POSIXTRACE_FUNCTIONS_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_PLAIN,
	INSN_NOP,
	INSN_ENDBR,      /* a valid target of indirect jumps */
	INSN_JUMP,       /* an unconditional jump to target */
	INSN_BRANCH,     /* a conditional jump to target */
	INSN_SHORT_ONLY, /* loop or jrcxz: the target must be near; a long form does not exist */
	INSN_CALL,       /* a call of "target"; if "target" is 0, a call through a pointer */
	INSN_INDIRECT,   /* a jump through a register or memory */
	INSN_RETURN,
	INSN_TRAP,       /* int3, which is padding or a breakpoint */
};

enum insn_base { INSN_NO_BASE, INSN_STACK, INSN_FRAME };

struct insn {
	enum insn_kind kind;
	uint8_t len;
	uint8_t condition;    /* INSN_BRANCH: the low 4 bits of the opcode */
	uint8_t refers_at;    /* offset of a displacement relative to rip; 0: there is none */
	/*
	 * The member "address" is valid: the instruction contains an address, relative to rip or
	 * absolute.
	 */
	bool has_address;
	/*
	 * The kernel can put a breakpoint at the instruction. The value is false for a breakpoint
	 * (int3), for a system call, and for the prefixes lock, es, cs, ss and ds, which the kernel
	 * refuses. The value is also false for an instruction with a prefix of AVX or AVX-512. The
	 * kernel compares the byte behind such a prefix with the opcodes of jumps. So it mistakes
	 * some of these instructions for jumps and does not execute them.
	 */
	bool has_breakpoints;
	enum insn_base base;  /* base of the operand in memory: rsp or rbp */
	int64_t offset;       /* offset of this operand from the base */
	/*
	 * number of bytes by which the instruction lowers the stack pointer, if this number is
	 * constant
	 */
	int64_t pushes;
	bool sets_frame;      /* mov %rsp, %rbp */
	uint64_t target;      /* target of a jump or call */
	uint64_t address;     /* address of the memory to which the instruction refers */
};

/* Returns whether this build can decode. */
bool insn_is_available(void);

/* The vector registers that instructions use: of 16, 32 or 64 bytes. */
enum insn_vectors { INSN_SSE, INSN_AVX, INSN_AVX512 };

/*
 * Returns the longest vector registers that code uses. The function skips bytes that are not
 * instructions. Data among the code may make the result too long, but never too short.
 */
enum insn_vectors insn_vectors(const uint8_t *code, size_t bytes);

/*
 * Decodes the instruction at "code"; "address" is its address in the file. Returns false if there
 * is no instruction.
 */
bool insn_decode(struct insn *insn, const uint8_t *code, size_t bytes, uint64_t address);

#endif
