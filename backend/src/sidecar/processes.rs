//! The processes of the host that a sidecar stands beside; both share one pid namespace.

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

/// How long a killed process may take to vanish.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// The port of ZooKeeper's clients.
const CLIENT_PORT: u16 = 2181;

/// Process ids of what runs on the host: everything but the containers' own keepers and this program.
///
/// # Errors
/// If /proc cannot be read.
pub fn running() -> Result<Vec<i32>> {
    let own = std::process::id() as i32;
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").context("reading /proc")? {
        let name = entry.context("reading /proc")?.file_name();
        let Some(pid) = name.to_str().and_then(|n| n.parse::<i32>().ok()) else {
            continue;
        };
        // A process may vanish while we look at it.
        let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else {
            continue;
        };
        if pid != own && under_test(pid, &status) {
            found.push(pid);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Whether the process is the one under test: not PID 1, not a container's `sleep infinity`, not a sidecar's program,
/// not a zombie.
fn under_test(pid: i32, status: &str) -> bool {
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map_or("", str::trim)
    };
    let zombie = field("State:").starts_with('Z');
    let keeper = pid == 1 || field("Name:") == "sleep";
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let sidecar = arguments.split(|b| *b == 0).any(|argument| argument == b"sidecar");
    !(zombie || keeper || sidecar)
}

/// Kills all of them with SIGKILL and waits until none is left; returns those killed.
///
/// # Errors
/// If nothing ran, or something is still there after five seconds.
pub async fn kill_all() -> Result<Vec<i32>> {
    let killed = running()?;
    ensure!(!killed.is_empty(), "no process was running");
    let begun = Instant::now();
    loop {
        let left = running()?;
        if left.is_empty() {
            return Ok(killed);
        }
        ensure!(
            begun.elapsed() <= GONE_WITHIN,
            "processes {left:?} are still there {} s after SIGKILL",
            GONE_WITHIN.as_secs()
        );
        for pid in left {
            if let Some(pid) = Pid::from_raw(pid) {
                // It may have gone by itself since we looked.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Continues what is stopped on the host, as a sidecar leaves it that dies while it looks whether the host is frozen;
/// returns how many processes.
///
/// # Errors
/// If /proc cannot be read.
pub fn go_on() -> Result<usize> {
    let stopped = |pid: &i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
        status.is_ok_and(|status| status.lines().any(|line| line.starts_with("State:\tT")))
    };
    let stopped: Vec<i32> = running()?.into_iter().filter(stopped).collect();
    for pid in stopped.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        // It may have ended since we looked.
        let _ = kill_process(pid, Signal::CONT);
    }
    Ok(stopped.len())
}

/// Number of threads of the host that came onto a processor within the time, or began or ended; 0 for a frozen host.
///
/// Ends early once one did. An idle process is woken by a stop that is taken back at once, so that one which sleeps is
/// not taken for frozen.
///
/// # Errors
/// If nothing runs on the host.
pub async fn ran_within(limit: Duration) -> Result<usize> {
    let begun = Instant::now();
    let before = switches()?;
    for pid in running()?.into_iter().filter_map(Pid::from_raw) {
        // It may have ended since we looked.
        let _ = kill_process(pid, Signal::STOP).and_then(|()| kill_process(pid, Signal::CONT));
    }
    loop {
        let now = switches()?;
        let began_or_ran = now
            .iter()
            .filter(|(thread, count)| before.get(*thread) != Some(*count))
            .count();
        let ended = before.keys().filter(|thread| !now.contains_key(*thread)).count();
        if began_or_ran + ended > 0 || begun.elapsed() >= limit {
            return Ok(began_or_ran + ended);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Threads of the host that are stopped, by a signal or a debugger, as `pid/thread`.
///
/// # Errors
/// If nothing runs on the host.
pub fn stopped() -> Result<Vec<String>> {
    let stopped = |status: &str| {
        let state = status.lines().find_map(|line| line.strip_prefix("State:"));
        state.is_some_and(|state| state.trim_start().starts_with(['T', 't']))
    };
    Ok(threads()?
        .into_iter()
        .filter(|(_, status)| stopped(status))
        .map(|(thread, _)| thread)
        .collect())
}

/// Context switches of each thread of the host so far.
fn switches() -> Result<BTreeMap<String, u64>> {
    let count = |status: &str| {
        let lines = status.lines().filter(|line| line.contains("_ctxt_switches:"));
        lines
            .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
            .sum()
    };
    let threads = threads()?.into_iter();
    Ok(threads.map(|(thread, status)| (thread, count(&status))).collect())
}

/// The text of `/proc/PID/task/TID/status` of each thread of the running processes, by `pid/thread`.
fn threads() -> Result<BTreeMap<String, String>> {
    let pids = running()?;
    ensure!(!pids.is_empty(), "no process was running");
    let mut found = BTreeMap::new();
    for pid in pids {
        // Threads and processes may end while we look.
        let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for thread in threads.flatten() {
            let Ok(status) = std::fs::read_to_string(thread.path().join("status")) else {
                continue;
            };
            found.insert(format!("{pid}/{}", thread.file_name().display()), status);
        }
    }
    Ok(found)
}

/// Address of the ZooKeeper server that a process of this host is connected to, if any.
///
/// # Errors
/// If the kernel's table cannot be read.
pub fn connected_server() -> Result<Option<Ipv4Addr>> {
    let table = std::fs::read_to_string("/proc/net/tcp").context("reading /proc/net/tcp")?;
    let tables = table + &std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    Ok(tables.lines().find_map(established_peer))
}

/// The peer of a line of /proc/net/tcp that is an established connection to a server's client port.
fn established_peer(line: &str) -> Option<Ipv4Addr> {
    let mut fields = line.split_whitespace().skip(2);
    let (address, port) = fields.next()?.split_once(':')?;
    let established = fields.next()? == "01";
    if !established || u16::from_str_radix(port, 16).ok()? != CLIENT_PORT {
        return None;
    }
    // The kernel prints each 32-bit word in the host's byte order; of a mapped IPv6 address the last one counts.
    let word = u32::from_str_radix(address.get(address.len().checked_sub(8)?..)?, 16).ok()?;
    Some(Ipv4Addr::from(word.to_ne_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_server_of_a_connection() {
        let line = "   1: 030014AC:C350 020014AC:0885 01 00000000:00000000 00:00000000 00000000     0        0 1";
        assert_eq!(established_peer(line), Some(Ipv4Addr::new(172, 20, 0, 2)));
        assert_eq!(established_peer(&line.replace(" 01 ", " 06 ")), None);
        assert_eq!(established_peer(&line.replace("0885", "0886")), None);
        assert_eq!(established_peer("  sl  local_address rem_address   st"), None);
    }
}
