//! The running executable with its loader and libraries, so that it runs in an image with another C library.
//!
//! They are read from this process's own memory map: no tool is needed, and what is copied is what is known to run.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::context::{Archive, EXECUTABLE_DOCKERFILE, LAUNCHER};
use super::hash::Hash;

/// The files of this process, by its memory map.
pub(super) struct Executable {
    /// The executable, cut after its last loaded byte: debug information is most of a development build, and
    /// neither the kernel nor the loader reads it.
    code: Vec<u8>,
    /// Loader and libraries; none if linked statically.
    libraries: Vec<PathBuf>,
}

// Looked up by name at run time, hence not mapped yet; part of libc itself since glibc 2.34, separate files before.
const RESOLVERS: [&str; 3] = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];

impl Executable {
    /// Reads the parts of the running process.
    pub(super) fn running() -> Result<Self> {
        let maps = fs::read_to_string("/proc/self/maps").context("reading this process's memory map")?;
        let own = fs::read_link("/proc/self/exe").context("finding this process's executable")?;
        let mapped = loaded_files(&maps);
        let length = mapped
            .get(&own)
            .copied()
            .context("the executable is not in its own memory map")?;
        // Through /proc, because the file may have been replaced by a newer build since the start.
        let file = fs::File::open("/proc/self/exe").context("opening this process's executable")?;
        let mut code = Vec::with_capacity(usize::try_from(length)?);
        file.take(length)
            .read_to_end(&mut code)
            .context("reading this process's executable")?;

        let mut libraries: Vec<PathBuf> = mapped
            .into_keys()
            .filter(|path| *path != own && is_library(path))
            .collect();
        if let Some(folder) = libraries
            .iter()
            .find(|path| stem(path) == "libc")
            .and_then(|libc| libc.parent())
        {
            let resolvers: Vec<PathBuf> = RESOLVERS.iter().map(|name| folder.join(name)).collect();
            libraries.extend(resolvers.into_iter().filter(|path| path.exists()));
        }
        libraries.sort();
        libraries.dedup();
        Ok(Executable { code, libraries })
    }

    /// Names the content: executable, libraries, and how the image is made of them.
    pub(super) fn tag(&self, base: &str) -> Result<String> {
        let mut hash = Hash::new()
            .part(base.as_bytes())
            .part(EXECUTABLE_DOCKERFILE.as_bytes())
            .part(LAUNCHER.as_bytes())
            .part(&self.code);
        for library in &self.libraries {
            let content = fs::read(library).with_context(|| format!("reading {}", library.display()))?;
            hash = hash.part(file_name(library).as_bytes()).part(&content);
        }
        Ok(hash.tag())
    }

    /// The build context of the image's last layer.
    pub(super) fn tar(&self) -> Result<Vec<u8>> {
        let mut archive = Archive::new();
        archive.file("Dockerfile", EXECUTABLE_DOCKERFILE.as_bytes(), 0o644)?;
        archive.file("root/usr/local/bin/zooquake", LAUNCHER.as_bytes(), 0o755)?;
        archive.file("root/zooquake/bin/zooquake.bin", &self.code, 0o755)?;
        for library in &self.libraries {
            let content = fs::read(library).with_context(|| format!("reading {}", library.display()))?;
            let name = file_name(library);
            archive.file(&format!("root/zooquake/lib/{name}"), &content, 0o755)?;
            for alias in aliases(library) {
                archive.link(&format!("root/zooquake/lib/{alias}"), name)?;
            }
        }
        archive.finish()
    }
}

/// Files in a memory map, each with the end of its last mapped byte.
fn loaded_files(maps: &str) -> BTreeMap<PathBuf, u64> {
    let mut files = BTreeMap::new();
    for (path, end) in maps.lines().filter_map(mapping) {
        let last = files.entry(path).or_insert(0);
        *last = end.max(*last);
    }
    files
}

/// The file that a line of a memory map is about, and the end of what that maps; `None` if it is about no file.
fn mapping(line: &str) -> Option<(PathBuf, u64)> {
    // 7f12-7f34 r-xp 00002000 fe:00 1234    /usr/lib/libc.so.6
    let mut fields = line.splitn(6, ' ');
    let (from, to) = fields.next()?.split_once('-')?;
    let offset = fields.nth(1)?;
    let path = fields.nth(2)?.trim_start();
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    let (from, to, offset) = (hexadecimal(from)?, hexadecimal(to)?, hexadecimal(offset)?);
    path.starts_with('/').then(|| (path.into(), offset + (to - from)))
}

/// A loader or a library, going by its name and its first bytes: other files are mapped too (locales, caches).
fn is_library(path: &Path) -> bool {
    let named = file_name(path).contains(".so") || file_name(path).starts_with("ld-");
    let mut magic = [0; 4];
    named
        && fs::File::open(path)
            .and_then(|mut file| file.read_exact(&mut magic))
            .is_ok()
        && magic == *b"\x7fELF"
}

/// Other names of a library in its folder: the map has `libc-2.31.so`, the executable needs `libc.so.6`.
fn aliases(library: &Path) -> Vec<String> {
    let Some(entries) = library.parent().and_then(|folder| fs::read_dir(folder).ok()) else {
        return Vec::new();
    };
    let same = |path: &Path| {
        file_name(path).contains(".so.")
            && stem(path) == stem(library)
            && file_name(path) != file_name(library)
            && fs::canonicalize(path).ok() == fs::canonicalize(library).ok()
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| same(path))
        .map(|path| file_name(&path).to_owned())
        .collect();
    names.sort();
    names
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn stem(path: &Path) -> &str {
    file_name(path).split(['.', '-']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_memory_map() {
        let maps = "55d0-55d2 r--p 00000000 fe:00 7      /opt/my tools/zooquake\n\
                    55d2-55d8 r-xp 00000002 fe:00 7      /opt/my tools/zooquake\n\
                    7ff0-7ff4 rw-p 00000000 00:00 0 \n\
                    7ffd-7fff rw-p 00000000 00:00 0      [stack]\n";
        let files = loaded_files(maps);
        assert_eq!(
            files.into_iter().collect::<Vec<_>>(),
            [(PathBuf::from("/opt/my tools/zooquake"), 8)]
        );
    }

    #[test]
    fn packs_this_very_test() {
        let executable = Executable::running().expect("this process can be read");
        assert_eq!(&executable.code[..4], b"\x7fELF");
        assert_eq!(executable.tag("base").ok(), executable.tag("base").ok());
        assert_ne!(executable.tag("base").ok(), executable.tag("another base").ok());
        let loaders = executable
            .libraries
            .iter()
            .filter(|path| file_name(path).starts_with("ld-"))
            .count();
        assert!(loaders <= 1, "{:?}", executable.libraries);
    }
}
