//! The process that a run is of, as a label of what it has on an engine.

use std::fs;

/// Label of what a run creates on a host with procfs: the boot and the namespace in which its process has its id, the
/// id, and the tick of its start.
pub const LABEL: &str = "zooquake.orchestrator";

/// The field of `/proc/PID/stat` with the tick of the start, counted from the state, which is the third (proc(5)).
const START_AFTER_STATE: usize = 19;

/// The states of processes that have ended and are not waited for.
const ENDED: [char; 2] = ['Z', 'X'];

/// This process; `None` where there is no procfs.
pub fn own() -> Option<String> {
    identity(std::process::id())
}

/// Whether the process of a label has ended; `None` if its id is of another host, boot or namespace.
pub fn has_ended(label: &str) -> Option<bool> {
    let mut words = label.split(' ');
    let ids = [words.next()?, words.next()?];
    let process = words.next()?.parse().ok()?;
    (space()? == ids.join(" ")).then(|| identity(process).as_deref() != Some(label))
}

/// The label of a process of this host; `None` if it has ended.
fn identity(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before the state may have blanks and parentheses.
    let (_, fields) = stat.rsplit_once(") ")?;
    let start = fields.split(' ').nth(START_AFTER_STATE)?;
    match fields.starts_with(ENDED) {
        true => None,
        false => Some(format!("{} {process} {start}", space()?)),
    }
}

/// The boot and the namespace of this process's id.
fn space() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.to_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_has_ended_before_and_after_it_is_waited_for() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("a process");
        let label = identity(child.id()).expect("its label");
        assert_eq!(has_ended(&label), Some(false));
        child.kill().expect("its end");
        while has_ended(&label) != Some(true) {
            std::thread::yield_now();
        }
        child.wait().expect("its end");
        assert_eq!(has_ended(&label), Some(true));
    }

    #[test]
    fn a_later_process_of_the_same_id_is_another() {
        let own = own().expect("a label");
        let (before, start) = own.rsplit_once(' ').expect("words");
        let earlier: u64 = start.parse::<u64>().expect("a tick") - 1;
        assert_eq!(has_ended(&format!("{before} {earlier}")), Some(true));
    }

    #[test]
    fn nothing_is_known_of_processes_elsewhere() {
        let own = own().expect("a label");
        let (_, process) = own.split_once(' ').expect("words");
        let labels = [format!("another-boot {process}"), "no label".to_string(), String::new()];
        assert_eq!(labels.map(|label| has_ended(&label)), [None; 3]);
    }
}
