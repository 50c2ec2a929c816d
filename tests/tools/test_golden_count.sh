#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The transcripts of golden/: stat verify latency top recorded stacks. golden.sh describes them.
. "${0%/*}/golden.sh"
golden stat verify latency top recorded stacks
finish
