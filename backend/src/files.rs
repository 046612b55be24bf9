//! Files from elsewhere: what a file is and how large it is, is looked at before a byte of it is read.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};
use std::time::{Duration, Instant};

/// Most bytes of a file in which somebody sets something: a manifest, a campaign, defaults.
pub const SETTINGS: u64 = 1 << 20;

/// Most bytes of the record of a campaign: a line for each run.
pub const RECORD: u64 = 1 << 30;

/// Nothing waits for the writer of a pipe, and no terminal becomes ours.
const PLAIN: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

fn refused(why: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

/// Sees a regular file of so many bytes at the most.
fn regular(file: File, most: u64) -> io::Result<File> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(refused("it is not a regular file".to_owned()));
    }
    if metadata.len() > most {
        return Err(too_large(most));
    }
    Ok(file)
}

fn too_large(most: u64) -> io::Error {
    refused(format!("it is larger than {} MiB", most >> 20))
}

/// Opens a regular file.
///
/// # Errors
/// If it cannot be opened, is no regular file, or has more bytes than `most`.
pub fn open(path: &Path, most: u64) -> io::Result<File> {
    regular(openat(CWD, path, PLAIN, Mode::empty())?.into(), most)
}

/// Reads a regular file.
///
/// # Errors
/// As [`open`], or if it grows beyond `most` meanwhile.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(open(path, most)?, most)
}

/// Reads a regular file of text.
///
/// # Errors
/// As [`read`], or if it is no UTF-8.
pub fn read_to_string(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is no UTF-8"))
}

/// How long a pipe is waited for that nothing has open for writing.
const WRITER: Duration = Duration::from_secs(2);

/// How long nothing may come out of a pipe.
const SILENCE: Duration = Duration::from_secs(20);

/// Reads a regular file, or what comes out of a pipe, to its end.
///
/// # Errors
/// If it is neither, such as a device, or longer than `most`, or a pipe into which nothing writes.
pub fn read_or_receive(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !FileType::from_raw_mode(rustix::fs::statat(CWD, path, AtFlags::empty())?.st_mode).is_fifo() {
        return read(path, most);
    }
    let file: File = openat(CWD, path, PLAIN, Mode::empty())?.into();
    // Another file may have taken its place meanwhile.
    match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
        FileType::Fifo => received(file, most),
        _ => Err(refused("it is not a pipe any more".to_owned())),
    }
}

/// What comes out of a pipe that was opened without waiting for its writer.
fn received(mut pipe: File, most: u64) -> io::Result<Vec<u8>> {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    let (mut since, mut has_writer) = (Instant::now(), false);
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) if has_writer => return Ok(bytes),
            Ok(0) if since.elapsed() > WRITER => {
                return Err(refused("it is a pipe into which nothing writes".to_owned()));
            }
            Ok(0) => {}
            Ok(count) => {
                bytes.extend_from_slice(&buffer[..count]);
                if bytes.len() as u64 > most {
                    return Err(too_large(most));
                }
                (since, has_writer) = (Instant::now(), true);
                continue;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            Err(_) if since.elapsed() > SILENCE => {
                let silence = SILENCE.as_secs();
                return Err(refused(format!("nothing came out of this pipe for {silence} s")));
            }
            Err(_) => has_writer = true,
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    Ok(bytes)
}

/// A folder, the files of which are reached through no link: what is read lies in it, whatever is moved meanwhile.
#[derive(Debug)]
pub struct FolderHandle(OwnedFd);

impl FolderHandle {
    /// Opens the folder at a path, which may lead to it through links.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, PLAIN | OFlags::DIRECTORY, Mode::empty())?))
    }

    /// Reads the regular file at a path below the folder; with whether it may be executed.
    ///
    /// # Errors
    /// If it or a folder on the way is a link, it is no regular file, has more bytes than `most`, or the path leads
    /// elsewhere.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<(Vec<u8>, bool)> {
        let mut at = self.0.try_clone()?;
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else {
                return Err(refused("its path leads elsewhere".to_owned()));
            };
            let kind = if parts.peek().is_some() {
                OFlags::DIRECTORY
            } else {
                OFlags::empty()
            };
            let linked = |error| match error {
                rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR => {
                    refused(format!("{name:?} is a link, or no folder: no file is read through one"))
                }
                error => error.into(),
            };
            at = openat(&at, name, PLAIN | OFlags::NOFOLLOW | kind, Mode::empty()).map_err(linked)?;
        }
        let file = regular(at.into(), most)?;
        let executable = {
            use std::os::unix::fs::PermissionsExt;
            file.metadata()?.permissions().mode() & 0o111 != 0
        };
        Ok((whole(file, most)?, executable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::mkfifoat;
    use std::fs;
    use std::os::unix::fs::symlink;

    const MOST: u64 = 1 << 20;

    #[test]
    fn what_never_ends_or_is_too_large_is_refused_unread() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        mkfifoat(CWD, at("pipe"), Mode::RUSR | Mode::WUSR).expect("a pipe");
        File::create(at("large"))
            .and_then(|file| file.set_len(10 << 30))
            .expect("10 GiB without a byte");
        fs::write(at("good"), "good").expect("a file");
        symlink("good", at("link")).expect("a link");
        for (path, why) in [
            (at("pipe"), "not a regular file"),
            ("/dev/zero".into(), "not a regular file"),
            (at("large"), "larger than 1 MiB"),
        ] {
            let error = read(&path, MOST).expect_err("it is refused").to_string();
            assert!(error.contains(why), "{path:?}: {error}");
        }
        assert!(read_or_receive(Path::new("/dev/zero"), MOST).is_err());
        assert_eq!(read(&at("good"), MOST).ok(), Some(b"good".to_vec()));
        assert_eq!(
            read(&at("link"), MOST).ok(),
            Some(b"good".to_vec()),
            "a name of the user's"
        );
        assert_eq!(read(&at("none"), MOST).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn what_comes_out_of_a_pipe_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
        for (bytes, good) in [(4, true), (MOST, true), (MOST + 1, false)] {
            let to = pipe.clone();
            // What is not taken breaks the pipe.
            let writer = std::thread::spawn(move || drop(fs::write(to, vec![b'x'; bytes as usize])));
            let read = read_or_receive(&pipe, MOST);
            assert_eq!(read.is_ok_and(|read| read.len() as u64 == bytes), good, "{bytes}");
            writer.join().expect("the writer");
        }
    }

    #[test]
    fn a_pipe_without_a_writer_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
        let error = read_or_receive(&pipe, MOST).expect_err("nothing writes").to_string();
        assert!(error.contains("nothing writes"), "{error}");
        let to = pipe.clone();
        let writer = std::thread::spawn(move || {
            let mut to = File::options().write(true).open(to).expect("the pipe");
            std::thread::sleep(Duration::from_millis(300));
            std::io::Write::write_all(&mut to, b"late").expect("it is read");
        });
        assert_eq!(read_or_receive(&pipe, MOST).ok(), Some(b"late".to_vec()));
        writer.join().expect("the writer");
    }

    #[test]
    fn nothing_is_read_through_a_link_at_any_depth() {
        let outside = tempfile::tempdir().expect("a folder");
        fs::create_dir(outside.path().join("b")).expect("a folder");
        fs::write(outside.path().join("b/secret"), "secret").expect("a file");
        let inside = tempfile::tempdir().expect("a folder");
        let at = |name: &str| inside.path().join(name);
        fs::create_dir_all(at("a/b")).expect("folders");
        fs::write(at("a/b/own"), "own").expect("a file");
        symlink(outside.path().join("b/secret"), at("a/b/link")).expect("a link");
        symlink(outside.path(), at("a/out")).expect("a link");
        symlink(at("a"), at("again")).expect("a link");
        let folder = FolderHandle::open(inside.path()).expect("the folder");
        let own = folder.read(Path::new("a/b/own"), MOST).expect("its own file");
        assert_eq!(own, (b"own".to_vec(), false));
        for path in [
            "a/b/link",
            "a/out/b/secret",
            "again/b/own",
            "../x",
            "/etc/passwd",
            "a/b",
            "none",
        ] {
            assert!(folder.read(Path::new(path), MOST).is_err(), "{path}");
        }
    }
}
