#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The transcripts of golden/: attach doctor live record. golden.sh and live.sh describe them.
. "${0%/*}/golden.sh"
. "${0%/*}/live.sh"
golden attach doctor live record
finish
