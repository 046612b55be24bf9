//! A host of a network: one node's disk, and the process that runs there.

use zooquake_workloads::consensus::protocol::{InputOf, Protocol};

/// An input that a frozen process has missed, of a message with its number.
pub type MissedInput<P> = (InputOf<P>, Option<u32>);

#[derive(Debug)]
pub struct VirtualHost<P: Protocol> {
    /// The machine of the process; `None` while that is dead.
    pub machine: Option<P>,
    /// What the node has written.
    pub disk: P::Disk,
    /// Kinds of timer that are set, each with the number of its last setting.
    pub timers: Vec<(P::Timer, u32)>,
    /// Of a frozen process what it has missed, in order.
    pub missed: Option<Vec<MissedInput<P>>>,
    /// The disturbance that killed the process, while it is dead.
    pub killed_by: Option<usize>,
    /// The disturbance that froze the process, while it is frozen.
    pub paused_by: Option<usize>,
}

impl<P: Protocol> VirtualHost<P> {
    /// A host whose node never ran.
    pub fn new(disk: P::Disk) -> Self {
        Self {
            machine: None,
            disk,
            timers: Vec::new(),
            missed: None,
            killed_by: None,
            paused_by: None,
        }
    }

    /// Ends the process; whether there was one.
    pub fn kill(&mut self, by: usize) -> bool {
        self.missed = None;
        self.paused_by = None;
        self.timers.clear();
        self.killed_by = Some(by);
        self.machine.take().is_some()
    }

    /// Freezes the process, also one that starts later.
    pub fn pause(&mut self, by: usize) {
        self.missed.get_or_insert_default();
        self.paused_by = Some(by);
    }

    /// Thaws the process if this disturbance froze it; what it has missed.
    pub fn thaw(&mut self, by: usize) -> Vec<MissedInput<P>> {
        if self.paused_by != Some(by) {
            return Vec::new();
        }
        self.paused_by = None;
        self.missed.take().unwrap_or_default()
    }

    /// Takes a timer out that was set with this number; `None` if it is set no longer.
    pub fn run_out(&mut self, setting: u32) -> Option<P::Timer> {
        let at = self.timers.iter().position(|&(_, number)| number == setting)?;
        Some(self.timers.swap_remove(at).0)
    }
}
