/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plot.h - a picture of a log as SVG: the rate of events, histograms of durations, the activity of
 * threads.
 *
 * Memory and size are bounded: PLOT_SERIES histograms and PLOT_ROWS threads are drawn, those with
 * most time and those that come first; what is left out is said in the picture.
 */
#ifndef POSIXTRACE_PICTURE_PLOT_H
#define POSIXTRACE_PICTURE_PLOT_H

#include "base/out.h"
#include "picture/picture.h"

#define PLOT_BINS   256
#define PLOT_SERIES 8
#define PLOT_ROWS   32

void plot_svg(struct out *out, const struct picture *picture);

#endif
