#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The transcripts of golden/: agent picture usage. golden.sh describes them.
. "${0%/*}/golden.sh"
golden agent picture usage
finish
