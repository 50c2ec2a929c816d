/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * heap.S - functions with the names of those of an allocator, and one that calls them. They only
 * have addresses and sizes: samples of a log are in them.
 */
	.text
	.macro function name
	.globl \name
	.type \name, @function
	.balign 16
\name:
	.fill 15, 1, 0x90
	ret
	.size \name, 16
	.endm

	function malloc
	function free
	function fill_list

	.section .note.GNU-stack, "", @progbits
