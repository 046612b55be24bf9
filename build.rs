//! Names the commit that a release is built from.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ZOOQUAKE_COMMIT");
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let named = match commit() {
        Some(commit) => {
            println!("cargo::rustc-env=ZOOQUAKE_BUILT_FROM={commit}");
            format!("{version} ({commit})")
        }
        None => version,
    };
    println!("cargo::rustc-env=ZOOQUAKE_VERSION={named}");
}

/// The value of `ZOOQUAKE_COMMIT`; else, for a release that is built in a checkout, its commit.
fn commit() -> Option<String> {
    let given = std::env::var("ZOOQUAKE_COMMIT")
        .ok()
        .map(|commit| commit.trim().to_owned())
        .filter(|commit| !commit.is_empty());
    // Other builds would be made anew with each commit.
    if given.is_some() || std::env::var("PROFILE").as_deref() != Ok("release") {
        return given;
    }
    // The log of HEAD grows with each commit and checkout. The index is also written where git only looks, and cargo
    // takes a file that is missing for one that has changed: either would have the program built anew each time.
    for path in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", path])?;
        if std::path::Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["describe", "--always", "--dirty", "--exclude", "*"])
}

/// What git prints; `None` without git, or outside of a checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned())
}
