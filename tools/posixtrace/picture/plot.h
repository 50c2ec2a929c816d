/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plot.h - a picture of a log as SVG: the rate of events, histograms of durations, the activity of
 * threads.
 *
 * Memory and size are bounded: only the PLOT_SERIES histograms with the greatest total times and
 * the first PLOT_ROWS threads are drawn. The picture has the numbers of further series and threads.
 */
#ifndef POSIXTRACE_PICTURE_PLOT_H
#define POSIXTRACE_PICTURE_PLOT_H

#include "base/out.h"
#include "picture/picture.h"

#define PLOT_BINS   256
#define PLOT_SERIES 8
#define PLOT_ROWS   32

/* Writes the complete picture. */
void plot_svg(struct out *out, const struct picture *picture);

#endif
