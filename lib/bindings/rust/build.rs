// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the library in POSIXTRACE_LIB_DIR, or by pkg-config, or in the folders of the linker.
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=POSIXTRACE_LIB_DIR");
    if let Ok(folder) = std::env::var("POSIXTRACE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
    } else if let Ok(output) = Command::new("pkg-config")
        .args(["--variable=libdir", "posixtrace"])
        .output()
    {
        let folder = String::from_utf8_lossy(&output.stdout);
        if output.status.success() && !folder.trim().is_empty() {
            println!("cargo:rustc-link-search=native={}", folder.trim());
        }
    }
    println!("cargo:rustc-link-lib=dylib=posixtrace");
}
