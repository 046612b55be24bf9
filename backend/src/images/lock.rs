//! One process at a time prepares images on a machine.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

use anyhow::{Context as _, Result};

/// Held until dropped, or until the process is gone, however it went.
///
/// It is a listening socket in Linux's abstract namespace: a lock file left by one user cannot be opened by
/// another, and a socket leaves nothing behind. No process connects to it.
pub(super) struct Lock {
    _listener: UnixListener,
}

const NAME: &str = "zooquake-images";

impl Lock {
    /// Waits for its turn; logs the wait once, if there is one.
    pub(super) async fn acquire() -> Result<Self> {
        let mut said = false;
        loop {
            if let Some(lock) = Self::attempt(NAME)? {
                return Ok(lock);
            }
            if !said {
                log::info!("another zooquake is preparing images, waiting for it");
                said = true;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn attempt(name: &str) -> Result<Option<Self>> {
        let address = SocketAddr::from_abstract_name(name).context("naming the lock of the images")?;
        match UnixListener::bind_addr(&address) {
            Ok(listener) => Ok(Some(Lock { _listener: listener })),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error).context("taking the lock of the images"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_held_by_one() {
        let name = format!("zooquake-test-{}", std::process::id());
        let first = Lock::attempt(&name).expect("no error").expect("free");
        assert!(Lock::attempt(&name).expect("no error").is_none());
        drop(first);
        assert!(Lock::attempt(&name).expect("no error").is_some());
    }
}
