#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The transcripts of golden/: stat verify latency top recorded. golden.sh describes them.
. "${0%/*}/golden.sh"
golden stat verify latency top recorded
finish
