/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program of a puppet, called as: puppet IN OUT ANSWER */
#include <stdlib.h>
#include <unistd.h>

#include "support/puppet.h"

int main(int argc, char **argv)
{
	int out;

	if (argc != 4)
		return 2;
	out = atoi(argv[2]);
	if (write(out, argv[3], 1) != 1)
		return 4;
	puppet_obey(atoi(argv[1]), out);
}
