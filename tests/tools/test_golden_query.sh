#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The transcripts of golden/: query ship. golden.sh describes them.
. "${0%/*}/golden.sh"
golden query ship
finish
