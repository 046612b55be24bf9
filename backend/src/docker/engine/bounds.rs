//! How long an answer of the engine may be, and how long it may take.

use hyper::Method;
use std::time::Duration;

/// Longest wait for an ordinary answer, from the request to its last byte. An engine under load took 20 s to pause a
/// container.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What takes a base image from a slow mirror, or builds an image, may take this long.
const BUILDING: Duration = Duration::from_secs(1800);

/// Most bytes of an image that is carried to another machine, which is not held in memory either.
const IMAGE: u64 = 16 << 30;

/// Reading files of a container may take this long.
const COPYING: Duration = Duration::from_secs(300);

/// Most bytes of an ordinary answer, which is held in memory: a list of some thousand containers.
const WHOLE: u64 = 16 << 20;

/// Most bytes of the output of a build, or of the progress of a pull.
const PROGRESS: u64 = 64 << 20;

/// Most bytes of files of a container, which are not held in memory by the client.
const FILES: u64 = 4 << 30;

/// The bounds of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes, its head among them.
    pub bytes: u64,
    /// Longest time to its last byte; `None` where it goes on as long as a container.
    pub time: Option<Duration>,
    /// Whether it becomes the streams of a process once the engine has agreed to that: without an end, in frames.
    pub streams: bool,
}

impl Bounds {
    /// Those of the answer to a request.
    pub fn of_answer(method: &Method, path: &str) -> Self {
        let bounds = |bytes, time| Self {
            bytes,
            time,
            streams: false,
        };
        let post = method == Method::POST;
        if post && (path.ends_with("/attach") || (path.starts_with("/exec/") && path.ends_with("/start"))) {
            Self {
                streams: true,
                ..bounds(WHOLE, Some(PATIENCE))
            }
        } else if post && ["/build", "/images/create", "/images/load"].contains(&path) {
            bounds(PROGRESS, Some(BUILDING))
        } else if path.starts_with("/images/") && path.ends_with("/get") {
            bounds(IMAGE, Some(BUILDING))
        } else if method == Method::DELETE && path.starts_with("/images/") {
            bounds(WHOLE, Some(BUILDING))
        } else if path.ends_with("/archive") {
            bounds(FILES, Some(COPYING))
        } else if path.ends_with("/logs") || path == "/events" {
            // A request that follows a log, or waits for events, has no limit of time.
            bounds(WHOLE, None)
        } else {
            bounds(WHOLE, Some(PATIENCE))
        }
    }
}
