#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The transcripts of golden/: dump list report symbols. golden.sh describes them.
. "${0%/*}/golden.sh"
golden dump list report symbols
finish
