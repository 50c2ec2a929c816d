/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/quiet.h"

atomic_bool ptx_quiet;
