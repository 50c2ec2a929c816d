# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the module for pip, against an installed library that pkg-config finds."""
import glob
import os
import shlex
import subprocess
from setuptools import Extension, setup


def library(*options):
    command = ["pkg-config", *options, "posixtrace"]
    return shlex.split(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


os.chdir(os.path.dirname(os.path.abspath(__file__)))
# The module gets the path of the library's folder, because the dynamic linker may not search it.
folders = library("--variable=libdir")
setup(
    name="posixtrace", version="1.0.0", license="LGPL-2.1-or-later", python_requires=">=3.10",
    description="Tracing with libposixtrace: events, spans, streams and logs",
    py_modules=["posixtrace"],
    ext_modules=[Extension(
        "_posixtrace", sorted(glob.glob("*.c")), depends=["module.h"], include_dirs=["../.."],
        extra_compile_args=["-std=gnu11", *library("--cflags")],
        extra_link_args=[*library("--libs"), *(f"-Wl,-rpath,{folder}" for folder in folders)])])
