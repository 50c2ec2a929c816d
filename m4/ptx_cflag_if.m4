# SPDX-License-Identifier: LGPL-2.1-or-later
# PTX_CFLAG_IF(VARIABLE, FLAG): appends FLAG to VARIABLE if the C compiler accepts it without a
# warning.
AC_DEFUN([PTX_CFLAG_IF],
[AS_VAR_PUSHDEF([cache], [ptx_cv_cflag_$2])dnl
AC_CACHE_CHECK([whether $CC accepts $2], [cache],
	[ptx_save_CFLAGS=$CFLAGS
	 # gcc accepts any -Wno-*; only the positive form shows whether it knows the warning.
	 CFLAGS="$CFLAGS -Werror m4_bpatsubst([$2], [^-Wno-], [-W])"
	 AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int main(void) { return 0; }]])],
		[AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
	 CFLAGS=$ptx_save_CFLAGS])
AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
AS_VAR_POPDEF([cache])dnl
])
