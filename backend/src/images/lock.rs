//! One process at a time makes an image on a machine; images of other names do not wait for it.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::UnixStream;

use super::hash::Hash;

/// The lock of one image, held until dropped, or until the process is gone, however it went.
///
/// It is a listening socket in Linux's abstract namespace: a lock file left by one user cannot be opened by
/// another, and a socket leaves nothing behind. Who waits connects to it, which shows whose it is; nothing is sent.
pub(super) struct Lock {
    _listener: UnixListener,
}

/// How often the wait is looked at.
const POLL: Duration = Duration::from_millis(100);

/// How often the wait is logged.
const REPORT_EVERY: Duration = Duration::from_secs(30);

/// How many characters of a command line are logged.
const MOST: usize = 120;

impl Lock {
    /// Waits for its turn to make the image of this name. A wait is logged when it begins and every 30 s: for which
    /// image, by which process, for how long.
    pub(super) async fn acquire(image: &str) -> Result<Self> {
        let name = format!("zooquake-image-{}", Hash::new().part(image.as_bytes()).tag());
        let begun = Instant::now();
        let mut report = Duration::ZERO;
        loop {
            if let Some(lock) = Self::attempt(&name)? {
                if !report.is_zero() {
                    log::info!("waited {} s for the image {image}", begun.elapsed().as_secs());
                }
                return Ok(lock);
            }
            if begun.elapsed() >= report {
                let so_far = match report.is_zero() {
                    true => String::new(),
                    false => format!(", {} s so far", begun.elapsed().as_secs()),
                };
                log::info!("waiting for the image {image}, which {} makes{so_far}", holder(&name));
                report += REPORT_EVERY;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn attempt(name: &str) -> Result<Option<Self>> {
        let address = SocketAddr::from_abstract_name(name).context("naming the lock of an image")?;
        match UnixListener::bind_addr(&address) {
            Ok(listener) => Ok(Some(Lock { _listener: listener })),
            Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error).context("taking the lock of an image"),
        }
    }
}

/// The process that holds the lock of this name, in words: its id and command, where they are visible from here.
fn holder(name: &str) -> String {
    let Ok(Some(pid)) = holder_id(name) else {
        return "a process that is not visible from here".to_owned();
    };
    let command = command(pid).map(|command| format!(" (`{command}`)"));
    format!("process {pid}{}", command.unwrap_or_default())
}

/// The id of that process; `None` if it is in another namespace of processes.
fn holder_id(name: &str) -> std::io::Result<Option<i32>> {
    // A connection that would block means that more processes wait than the listener's queue takes.
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
    socket.connect(&SockAddr::unix(format!("\0{name}"))?)?;
    let stream = UnixStream::from_std(OwnedFd::from(socket).into())?;
    Ok(stream.peer_cred()?.pid().filter(|&pid| pid > 0))
}

/// The command line of a process, the path of its program cut off; `None` if it cannot be read.
fn command(pid: i32) -> Option<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let mut words = line.trim_end_matches('\0').split('\0');
    let program = words.next()?.rsplit('/').next()?;
    let shown: Vec<&str> = std::iter::once(program).chain(words).collect();
    let shown: String = shown.join(" ").chars().filter(|c| !c.is_control()).take(MOST).collect();
    (!shown.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(of: &str) -> String {
        format!("zooquake-test-{of}-{}", std::process::id())
    }

    #[test]
    fn is_held_by_one() {
        let name = name("one");
        let first = Lock::attempt(&name).expect("no error").expect("free");
        assert!(Lock::attempt(&name).expect("no error").is_none());
        drop(first);
        assert!(Lock::attempt(&name).expect("no error").is_some());
    }

    #[tokio::test]
    async fn each_image_has_its_own() {
        let (java, other) = (name("java"), name("other"));
        let _java = Lock::acquire(&java).await.expect("free");
        let soon = tokio::time::timeout(Duration::from_secs(5), Lock::acquire(&other)).await;
        soon.expect("nobody makes the other image").expect("free");
        let waits = tokio::time::timeout(3 * POLL, Lock::acquire(&java)).await;
        assert!(waits.is_err(), "the same image is made once");
    }

    #[tokio::test]
    async fn shows_who_holds_it() {
        let name = name("holder");
        let lock = Lock::attempt(&name).expect("no error").expect("free");
        let shown = holder(&name);
        let program = command(i32::try_from(std::process::id()).expect("a pid")).expect("this process's command");
        assert_eq!(shown, format!("process {} (`{program}`)", std::process::id()));
        drop(lock);
        assert_eq!(holder(&name), "a process that is not visible from here");
    }
}
