//! The loader and the libraries of programs that were made on this host, so that they run in an image with another C
//! library.

use super::source_file::SourceFile;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Where a recipe's files have them, below its folder.
pub const FOLDER: &str = ".zooquake/lib";

/// The loaders that list what a program loads without running it: those of glibc and musl.
const LOADERS: [&str; 4] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// The type of the entry of a program header that names the loader.
const PT_INTERP: u32 = 3;

/// Whether these are the bytes of a program that a loader starts, in ELF of 64 bits: no script, no library, and nothing
/// that is linked statically.
pub fn is_program(content: &[u8]) -> bool {
    let bytes = |at: usize, len: usize| content.get(at..at.checked_add(len)?);
    let short = |at| bytes(at, 2).map(|two| usize::from(u16::from_le_bytes([two[0], two[1]])));
    let headers = || {
        let from = u64::from_le_bytes(bytes(32, 8)?.try_into().ok()?);
        Some((usize::try_from(from).ok()?, short(54)?, short(56)?))
    };
    let Some((from, size, number)) = headers().filter(|_| content.starts_with(b"\x7fELF\x02\x01")) else {
        return false;
    };
    (0..number).any(|entry| {
        let kind = from.checked_add(entry * size).and_then(|at| bytes(at, 4));
        kind.is_some_and(|kind| kind == PT_INTERP.to_le_bytes())
    })
}

/// What a program loads on this host, by its place below the recipe's folder. Nothing for one that is linked
/// statically, or for another machine than this.
///
/// # Errors
/// If a library cannot be read.
pub fn shared_libraries(program: &Path) -> Result<BTreeMap<String, SourceFile>> {
    let loaders = LOADERS.iter().filter(|loader| Path::new(loader).exists());
    let listed = loaders.filter_map(|loader| {
        let output = Command::new(loader).arg("--list").arg(program).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then_some((loader, text))
    });
    let Some((loader, text)) = listed.into_iter().next() else {
        return Ok(BTreeMap::new());
    };
    let mut found = named(&text);
    if let Some(name) = Path::new(loader).file_name().and_then(|name| name.to_str()) {
        found.insert(name, loader);
    }
    let read = |(name, path): (&str, &str)| {
        let content = fs::read(path).with_context(|| format!("reading {path}, which {} loads", program.display()))?;
        let file = SourceFile {
            content,
            executable: true,
        };
        Ok((format!("{FOLDER}/{name}"), file))
    };
    found.into_iter().map(read).collect()
}

/// The libraries in what a loader lists, such as `libc.so.6 => /lib/libc.so.6 (0x7f12)`, by the names that they are
/// asked for.
fn named(listed: &str) -> BTreeMap<&str, &str> {
    let pairs = listed.lines().filter_map(|line| line.trim().split_once(" => "));
    let paths = pairs.map(|(name, path)| (name, path.split_once(" (").map_or(path, |(path, _)| path)));
    // The loader names itself by its path.
    paths
        .filter(|(name, path)| !name.contains('/') && path.starts_with('/'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_named_as_they_are_asked_for() {
        let listed = "\tlinux-vdso.so.1 (0x00007fa0)\n\tlibgcc_s.so.1 => /lib/x86_64-linux-gnu/libgcc_s.so.1 (0x00007fa0)\n\
                      \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007fa0)\n\tlibx.so => not found\n\
                      \t/lib64/ld-linux-x86-64.so.2 => /lib64/ld-linux-x86-64.so.2 (0x00007fa0)\n";
        let found: Vec<_> = named(listed).into_iter().collect();
        let at = |name| (name, format!("/lib/x86_64-linux-gnu/{name}"));
        let expected = [at("libc.so.6"), at("libgcc_s.so.1")];
        assert_eq!(found, expected.each_ref().map(|(name, path)| (*name, path.as_str())));
    }

    #[test]
    fn this_program_loads_what_a_script_does_not() {
        let own = std::env::current_exe().unwrap();
        let found = shared_libraries(&own).unwrap();
        assert!(is_program(&fs::read(&own).unwrap()));
        let library = |file: &SourceFile| file.executable && file.content.starts_with(b"\x7fELF");
        assert!(found.values().all(library), "{:?}", found.keys());
        let libgcc = found.iter().find(|(path, _)| path.contains("libgcc_s"));
        assert!(
            libgcc.is_none_or(|(_, file)| !is_program(&file.content)),
            "no loader starts a library"
        );
        assert!(
            [&b""[..], b"\x7fELF", b"\x7fELF\x02\x01"]
                .iter()
                .all(|cut| !is_program(cut))
        );
        assert!(
            found.keys().any(|path| path.starts_with(".zooquake/lib/ld-")),
            "{:?}",
            found.keys()
        );
        let script = tempfile::NamedTempFile::new().unwrap();
        fs::write(script.path(), "#!/bin/sh\n").unwrap();
        assert!(shared_libraries(script.path()).unwrap().is_empty());
    }
}
