#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Other projects build examples/first.c with the library, by the examples in tests/projects:
#
#	meson             with the installed library, by pkg-config
#	cmake             with the installed library, by find_package()
#	meson             without an installed library, by a wrap file, which builds it
#	cmake-external    the same for CMake, by ExternalProject
#	cmake-static      a program of C++ with a static library
#
# A build system that is not installed is skipped.
: "${top_srcdir:=..}" "${top_builddir:=$top_srcdir}" "${CC:=cc}"
. "$top_srcdir/tests/support/count.sh"

source=$(cd "$top_srcdir" && pwd)
build=$(cd "$top_builddir" && pwd)
version=$(sed -n 's/^AC_INIT(\[[^]]*\], \[\([^]]*\)\].*/\1/p' "$source/configure.ac")
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' 0
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR PKG_CONFIG_PATH LD_LIBRARY_PATH
export CC

check "meson.build has the version of configure.ac" \
	grep -q "version: '$version'" "$source/meson.build"
check "the wrap file has it" \
	grep -qx "directory = libposixtrace-$version" "$source/tests/projects/meson/subprojects/posixtrace.wrap"
archive=libposixtrace-$version$(sed -n 's/^DIST_ARCHIVES = \$(distdir)//p' "$source/Makefile.in")
check "it has the name of the release that make dist makes" \
	grep -qx "source_filename = $archive" "$source/tests/projects/meson/subprojects/posixtrace.wrap"
check "the example of ExternalProject has this name" \
	grep -qF "RELEASE $archive " "$source/tests/projects/cmake-external/CMakeLists.txt"

has_meson() { command -v meson && command -v ninja && command -v pkg-config; } >/dev/null
has_cmake() { command -v cmake && command -v make; } >/dev/null
has_meson || echo "no meson: not tested"
has_cmake || echo "no cmake: not tested"
has_meson || has_cmake || finish
nm -D "$build/lib/.libs/libposixtrace.so" 2>/dev/null | grep -qE '__[at]san_' && {
	echo "the library is sanitized: only the versions are checked"
	finish
}

# project NAME: a copy, in a folder that "make distcheck" does not write-protect
project() {
	mkdir -p "$scratch/$1" && cp -R "$source/tests/projects/$1/." "$scratch/$1" &&
		chmod -R u+w "$scratch/$1" && cp "$source/examples/first.c" "$scratch/$1"
}
# prints PROGRAM [LIBRARIES]: whether the program records an event and reads it.
prints() {
	LD_LIBRARY_PATH=${2-} "$1" | tee "$scratch/out"
	grep -q '^hello  *5 bytes$' "$scratch/out"
}

# The first program of C++
reads_itself() {
	"$1" "$scratch/first.ptl" | tee "$scratch/out"
	grep -q '^2 from localhost in 1$' "$scratch/out"
}
needs_shared() { readelf -d "$1" | grep -q 'NEEDED.*libposixtrace'; }
is_static() { test -x "$1" && ! needs_shared "$1"; }
fails() { ! "$@"; }

# --- The installed library

prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
installed() {
	make -s -C "$build/lib" install DESTDIR="$scratch/root" &&
		make -s -C "$build" install-includeHEADERS install-pkgconfigDATA install-nodist_cmakeDATA \
			DESTDIR="$scratch/root"
}
check "the library is installed in a folder" installed
libraries=$(dirname "$(find "$scratch/root" -name libposixtrace.so)")
if has_meson; then
	project meson
	# Meson must not build the library here.
	with_meson() {
		cd "$scratch/meson" &&
			PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$scratch/root \
				meson setup --wrap-mode=nofallback build && ninja -C build
	}
	check "meson finds it by pkg-config" with_meson
	check "the program runs" prints "$scratch/meson/build/first" "$libraries"
fi
if has_cmake; then
	project cmake
	# find_package() finds the package also after its folder was moved.
	with_cmake() {
		cd "$scratch/cmake" && cmake -Dposixtrace_DIR="$libraries/cmake/posixtrace" -B build . &&
			cmake --build build
	}
	check "find_package() of CMake finds it" with_cmake
	check "the program runs" prints "$scratch/cmake/build/first" "$libraries"
fi

# --- The library as a part of the project

if test -e "$source/config.status"; then
	echo "the sources are configured in place: no build as a part of another project"
	finish
fi
# A copy of the files that the library needs, as in a release.
release=$scratch/libposixtrace-$version
mkdir "$release"
(cd "$source" && cp -Rp Makefile.am Makefile.in aclocal.m4 build-aux configure configure.ac examples \
	include lib m4 meson.build posixtrace.pc.in tests tools "$release")
chmod -R u+w "$release"
XZ_OPT=-0 tar -C "$scratch" -cJf "$release.tar.xz" "libposixtrace-$version" || exit 99

# --- A static library

prefix=$scratch/prefix
blank_is_refused() {
	mkdir "$scratch/blank" && cd "$scratch/blank" || return
	! "$release/configure" --quiet --prefix="$scratch/a prefix" >"$scratch/out" 2>&1 &&
		grep -q 'whose name has a blank' "$scratch/out"
}
check "configure refuses a folder that libtool would split" blank_is_refused
# installs_static: builds outside the source tree, from write-protected sources
installs_static() {
	chmod -R a-w "$release" && mkdir "$scratch/static" && cd "$scratch/static" &&
		"$release/configure" --quiet --prefix="$prefix" --libdir="$prefix/lib" --enable-static \
			--disable-tool --without-python --without-node &&
		make -s -j2 && make -s install
}
check "a static library is installed" installs_static
if command -v pkg-config >/dev/null && command -v c++ >/dev/null; then
	with_flags() {
		cd "$scratch" && (
			PKG_CONFIG_PATH=$prefix/lib/pkgconfig
			export PKG_CONFIG_PATH
			# shellcheck disable=SC2046 # words
			c++ -std=c++17 -o first_flags "$source/lib/bindings/cpp/first.cpp" \
				$(pkg-config --cflags posixtrace) -Wl,-Bstatic \
				$(pkg-config --static --libs posixtrace) -Wl,-Bdynamic
		)
	}
	check "a program is linked by pkg-config --static" with_flags
	check "it needs no shared library" is_static "$scratch/first_flags"
	check "it runs" reads_itself "$scratch/first_flags"
fi
if has_cmake; then
	# with_static TARGET BUILD
	with_static() {
		cd "$scratch/cmake-static" && cmake -DCMAKE_PREFIX_PATH="$prefix" \
			-DPOSIXTRACE_TARGET="$1" -B "$2" . && cmake --build "$2"
	}
	# found ARGUMENT: whether find_package() with these arguments succeeds. Its output is in out.
	found() {
		rm -rf "$scratch/found" && mkdir "$scratch/found" && cd "$scratch/found" &&
			printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(found C)' \
				"find_package(posixtrace $1)" >CMakeLists.txt &&
			cmake -DCMAKE_PREFIX_PATH="$prefix" -B build . >"$scratch/out" 2>&1
	}
	check "CMake finds both components" found "$version EXACT REQUIRED COMPONENTS shared static"
	check "a package without a component defines no target" found 'QUIET COMPONENTS other)
		if(TARGET posixtrace::static)
			message(FATAL_ERROR defined)
		endif('
	check "CMake finds no other component" fails found 'REQUIRED COMPONENTS static other'
	# CMake breaks a message into lines, whose ends depend on the names of folders.
	names_other() { tr -s ' \n' '  ' <"$scratch/out" | grep -q 'component other: the components'; }
	check "it names this component" names_other
	check "CMake refuses another major version" fails found '2.0 REQUIRED'
	check "CMake accepts a range of versions" found '1.0...1.99 REQUIRED'
	check "CMake refuses a range that ends before the version" fails found "1.0...<$version REQUIRED"
	project cmake-static
	cp "$source/lib/bindings/cpp/first.cpp" "$scratch/cmake-static"
	check "CMake links it" with_static posixtrace::static build
	check "the program needs no shared library" is_static "$scratch/cmake-static/build/first"
	check "it runs" reads_itself "$scratch/cmake-static/build/first"
	check "CMake links the shared one beside it" with_static posixtrace::posixtrace shared
	check "the program linked with the shared library needs it" needs_shared "$scratch/cmake-static/shared/first"
	rm "$prefix"/lib/libposixtrace.so*
	check "CMake misses the shared component then" fails found 'REQUIRED COMPONENTS shared'
	check "CMake links the static one alone" with_static posixtrace::posixtrace alone
	check "the program linked with the static library runs" reads_itself "$scratch/cmake-static/alone/first"
	rm "$prefix/lib/libposixtrace.a"
	check "CMake does not find a package without a library" \
		fails with_static posixtrace::posixtrace none
fi
check "make install and make uninstall" sh -c \
	"make -s -C '$scratch/static' install && make -s -C '$scratch/static' uninstall"
none "nothing is left of it" "$(find "$prefix" ! -type d)"
none "no folder of it is left" "$(find "$prefix" -mindepth 1 -type d -name '*posixtrace*')"
chmod -R u+w "$release"
rm -rf "$release"

# --- Wrap file and ExternalProject

if has_meson; then
	with_wrap() {
		cd "$scratch/meson" && mkdir subprojects/packagefiles &&
			cp "$release.tar.xz" subprojects/packagefiles &&
			meson setup --wrap-mode=forcefallback wrapped && ninja -C wrapped
	}
	check "meson builds it by the wrap file" with_wrap
	check "the program finds the library of the build folder" prints "$scratch/meson/wrapped/first"
fi
if has_cmake; then
	project cmake-external
	with_external() {
		cd "$scratch/cmake-external" && cmake -DPOSIXTRACE_RELEASE="$release.tar.xz" -B build . &&
			cmake --build build
	}
	check "CMake builds it by ExternalProject" with_external
	check "the program runs" prints "$scratch/cmake-external/build/first"
fi
finish
