/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * serial.c - sets a serial line to raw mode, in which the kernel passes all bytes unchanged.
 * Restores the settings of the line afterwards.
 */
#include <errno.h>
#include <string.h>
#include <termios.h>

#include "base/say.h"
#include "convert/flow.h"

struct speed {
	unsigned long baud;
	speed_t value;
};

/* The speeds of termios.h that Linux knows. Any other speed would require termios2. */
static const struct speed speeds[] = {
	{ 1200, B1200 }, { 2400, B2400 }, { 4800, B4800 }, { 9600, B9600 }, { 19200, B19200 },
	{ 38400, B38400 }, { 57600, B57600 }, { 115200, B115200 }, { 230400, B230400 },
	{ 460800, B460800 }, { 500000, B500000 }, { 576000, B576000 }, { 921600, B921600 },
	{ 1000000, B1000000 }, { 1500000, B1500000 }, { 2000000, B2000000 }, { 3000000, B3000000 },
	{ 4000000, B4000000 },
};

/*
 * Sets the speed in *line. Returns false and prints the error if serial lines do not have this
 * speed.
 */
static bool set_speed(struct termios *line, uint64_t baud)
{
	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++)
		if (speeds[i].baud == baud)
			return !cfsetispeed(line, speeds[i].value) &&
			       !cfsetospeed(line, speeds[i].value);
	say("--baud %llu: serial lines do not have this speed; examples are 9600 and 115200",
	    (unsigned long long)baud);
	return false;
}

bool fmt_serial(struct fmt_flow *flow, struct fmt_input *input)
{
	struct termios raw;
	uint64_t baud = 0;

	if (!fmt_option_number(flow, "baud", 1, UINT32_MAX, &baud))
		return false;
	/* A terminal on standard input belongs to the shell; its settings are not changed. */
	if (!input->is_named || tcgetattr(input->fd, &input->line))
		return true;
	raw = input->line;
	/*
	 * In raw mode no byte is translated or echoed, and no byte causes a signal. With CLOCAL no
	 * modem is needed. read() returns after the first byte, so that events appear immediately.
	 */
	cfmakeraw(&raw);
	raw.c_cflag |= CLOCAL | CREAD;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (baud && !set_speed(&raw, baud))
		return false;
	if (tcsetattr(input->fd, TCSANOW, &raw)) {
		say("%s: %s", input->name, strerror(errno));
		return false;
	}
	input->is_line = true;
	input_end_at_signals(input);
	return true;
}

void input_leave_line(struct fmt_input *input)
{
	if (input->is_line)
		tcsetattr(input->fd, TCSANOW, &input->line);
}
