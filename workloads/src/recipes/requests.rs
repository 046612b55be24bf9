//! Around single requests: what is there before them, when they are repeated, how an operation ends that waited too
//! long for them.

use super::bug::Bug;
use super::{Env, OpError};
use crate::zk::{CreateMode, Error, Reply, SessionState, WatchEvent, Zk};
use std::time::Duration;

/// How long to wait before a request with an unknown outcome is repeated on a connection that is there.
const RETRY: Duration = Duration::from_millis(20);

/// The end of an operation that ran out of time.
pub fn overdue() -> OpError {
    OpError::Info("timed out".to_string())
}

/// Creates a persistent znode unless it is there: exists, then create; who loses a race has what it wanted.
pub async fn ensure(zk: &dyn Zk, path: &str) -> Result<(), Error> {
    if zk.exists(path).await?.is_some() {
        return Ok(());
    }
    match zk.create(path, b"", CreateMode::Persistent).await {
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Exists, then create: a race gives NodeExists, which is only printed, like every other error.
pub async fn ensure_or_print(zk: &dyn Zk, path: &str) {
    let created = match zk.exists(path).await {
        Ok(Some(_)) => return,
        Ok(None) => zk.create(path, b"", CreateMode::Persistent).await.map(drop),
        Err(error) => Err(error),
    };
    if let Err(error) = created {
        crate::stderr::say(&format!("create {path}: {error}"));
    }
}

/// A request; with this planted bug it is repeated after an unknown outcome as if it had not taken effect.
///
/// # Errors
/// Of the request.
pub async fn blindly<T>(
    env: &Env,
    bug: Bug,
    zk: &dyn Zk,
    request: impl Fn() -> Reply<T> + Send + Sync,
) -> Result<T, Error> {
    loop {
        match request().await {
            Err(Error::Unknown(_)) if env.has(bug) && steady(env, zk).await => {}
            ended => return ended,
        }
    }
}

/// Waits until a session is over.
pub async fn over(zk: &dyn Zk) {
    let mut seen = zk.state();
    while !seen.is_over() {
        seen = zk.changed(seen).await;
    }
}

/// Checks the event of a watch. Only the session's end is an error.
///
/// # Errors
/// The session is over.
pub fn heard(event: WatchEvent) -> Result<(), OpError> {
    match event {
        WatchEvent::Session(state) => Err(OpError::Info(format!("the session is {} while waiting", state.name()))),
        _ => Ok(()),
    }
}

/// Waits until it makes sense to ask again. False if the session is over.
pub async fn steady(env: &Env, zk: &dyn Zk) -> bool {
    if zk.state() == SessionState::Disconnected {
        zk.changed(SessionState::Disconnected).await;
    }
    if !zk.state().is_over() {
        env.host.sleep(RETRY).await;
    }
    !zk.state().is_over()
}

/// The parent of the scratch znodes.
pub const SCRATCH: &str = "/zooquake/scratch";

/// Writes a scratch znode, creates it first if need be, and answers the transaction.
///
/// # Errors
/// If the write is not known to have happened.
pub async fn touch(zk: &dyn Zk, path: &str) -> Result<i64, Error> {
    match zk.set(path, b"", None).await {
        Err(Error::NoNode) => {}
        set => return set.map(|stat| stat.mzxid),
    }
    match zk.create(path, b"", CreateMode::Persistent).await {
        Ok(_) | Err(Error::NodeExists) => Ok(zk.set(path, b"", None).await?.mzxid),
        Err(error) => Err(error),
    }
}
