/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary_probes.c - the USDT probes of a file: the notes that the macros of <sys/sdt.h> leave. A
 * note contains:
 *
 * 	8 bytes address, 8 bytes address of .stapsdt.base at link time, 8 bytes semaphore
 * 	provider, name and arguments, each with its NUL
 *
 * prelink(8) may have moved the file. The file has moved by the difference between the present
 * address of .stapsdt.base and its address at link time.
 */
#include <string.h>

#include "functions/binary_part.h"

#ifdef HAVE_LIBELF

#include <gelf.h>

#define NOTE_OWNER "stapsdt" /* 8 bytes with the NUL */
#define NOTE_TYPE  3

/* Returns the address of the section .stapsdt.base, 0 if there is none. */
static uint64_t base_of(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	while (!elf_getshdrstrndx(elf, &names) && (section = elf_nextscn(elf, section)) != NULL) {
		const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(elf, names, header.sh_name) :
					   NULL;

		if (name && !strcmp(name, ".stapsdt.base"))
			return header.sh_addr;
	}
	return 0;
}

/*
 * Returns the text of the note at *at, and moves *at behind it. Returns NULL if the text has no
 * NUL: a text without a NUL would continue in the memory of another section.
 */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at;
	size_t len = strnlen(text, (size_t)(end - text));

	if (text + len == end)
		return NULL;
	*at = text + len + 1;
	return text;
}

/*
 * Passes the probe of a note to take(). A damaged note is ignored, because other notes may be
 * intact. Returns false if take() returned false. The texts are in the mapping that libelf has
 * made, and are valid as long as the file is open.
 */
static bool take_note(const char *note, size_t bytes, uint64_t base,
		      bool (*take)(void *arg, const struct binary_probe *probe), void *arg)
{
	struct binary_probe probe = { NULL };
	uint64_t word[3];
	const char *at = note + sizeof(word), *end = note + bytes;

	if (bytes < sizeof(word))
		return true;
	memcpy(word, note, sizeof(word));
	probe.provider = next_text(&at, end);
	probe.name = probe.provider ? next_text(&at, end) : NULL;
	probe.arguments = probe.name ? next_text(&at, end) : NULL;
	probe.address = base ? word[0] + base - word[1] : word[0];
	probe.semaphore = word[2] && base ? word[2] + base - word[1] : word[2];
	return !probe.arguments || take(arg, &probe);
}

/*
 * Probes do not need symbols or x86-64. So a file that libelf could open may have probes although
 * binary_lack() returns a reason.
 */
bool binary_probes(const struct binary_file *file,
		   bool (*take)(void *arg, const struct binary_probe *probe), void *arg)
{
	uint64_t base = file->elf ? base_of(file->elf) : 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (file->elf && (section = elf_nextscn(file->elf, section)) != NULL) {
		size_t at = 0, name, descriptor;
		Elf_Data *data;
		GElf_Nhdr note;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		/* libelf checks that each note is in the section. */
		while ((at = gelf_getnote(data, at, &note, &name, &descriptor)) > 0)
			if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(NOTE_OWNER) &&
			    !memcmp((const char *)data->d_buf + name, NOTE_OWNER,
				    sizeof(NOTE_OWNER)) &&
			    !take_note((const char *)data->d_buf + descriptor, note.n_descsz, base,
				       take, arg))
				return false;
	}
	return true;
}

#else

bool binary_probes(const struct binary_file *file,
		   bool (*take)(void *arg, const struct binary_probe *probe), void *arg)
{
	(void)file, (void)take, (void)arg;
	return true;
}

#endif
