//! Limits of the process (`ulimit`) that are too small to work in: reported at once, instead of a failure in the middle
//! of a run.

use anyhow::{Result, ensure};
use rustix::process::{Resource, getrlimit};

/// What a process may have, and the least that zooquake works in.
struct Limit {
    resource: Resource,
    /// What it counts.
    name: &'static str,
    least: u64,
    /// The option of `ulimit` that sets it.
    option: &'static str,
}

/// A run reads histories of some ten MB into memory several times over, and its threads reserve more than they use. An
/// ensemble of 9 servers and 50 clients has two streams and two logs for each of them.
const LIMITS: [Limit; 3] = [
    Limit {
        resource: Resource::As,
        name: "bytes of address space",
        least: 1 << 30,
        option: "-v",
    },
    Limit {
        resource: Resource::Nofile,
        name: "open files",
        least: 320,
        option: "-n",
    },
    Limit {
        resource: Resource::Fsize,
        name: "bytes of a file",
        least: 64 << 20,
        option: "-f",
    },
];

/// Refuses limits that are too small to work in.
///
/// # Errors
/// The first that is too small, with what is needed.
pub fn check() -> Result<()> {
    for Limit {
        resource,
        name,
        least,
        option,
    } in LIMITS
    {
        // None is no limit.
        let given = getrlimit(resource).current.unwrap_or(u64::MAX);
        ensure!(
            given >= least,
            "this process may have {given} {name}, and zooquake needs {least}: raise the limit (`ulimit {option}`)"
        );
    }
    Ok(())
}
