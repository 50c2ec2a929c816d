/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usdt.h - probes as those of <sys/sdt.h>, which need not be installed. */
/* A note as <sys/sdt.h> makes it; nop is the probe's instruction, semaphore a symbol or 0. */
#define PROBE_AT(nop, name, arguments, semaphore) \
	"990:	" nop "\n" \
	"	.pushsection .note.stapsdt, \"\", \"note\"\n" \
	"	.balign 4\n" \
	"	.4byte 992f-991f, 994f-993f, 3\n" \
	"991:	.asciz \"stapsdt\"\n" \
	"992:	.balign 4\n" \
	"993:	.8byte 990b, _.stapsdt.base, " semaphore "\n" \
	"	.asciz \"shop\"\n" \
	"	.asciz \"" name "\"\n" \
	"	.asciz \"" arguments "\"\n" \
	"994:	.balign 4\n" \
	"	.popsection\n"
#define PROBE(name, arguments) PROBE_AT("nop", name, arguments, "0")

__asm__("	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	"	.weak _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	"	.size _.stapsdt.base, 1\n"
	"	.popsection\n");
