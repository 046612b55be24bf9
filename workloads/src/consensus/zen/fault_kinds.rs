//! What happens to a network in tests, and how often they play one.

/// Which faults a schedule has, each until a run heals.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaultKinds {
    /// Messages are lost.
    pub loss: bool,
    /// Messages arrive twice, or much later.
    pub duplicates: bool,
    /// Nodes are cut from each other.
    pub partitions: bool,
    /// Processes are killed, between two outputs of a step as well, and started again.
    pub kills: bool,
    /// Processes stand still.
    pub pauses: bool,
    /// No fault, and until the end: each link takes its own time, up to 300 ms.
    pub slow_links: bool,
}

impl FaultKinds {
    pub const ALL: Self = Self {
        loss: true,
        duplicates: true,
        partitions: true,
        kills: true,
        pauses: true,
        slow_links: false,
    };
    pub const KILLS: Self = Self {
        loss: false,
        duplicates: false,
        partitions: false,
        kills: true,
        pauses: false,
        slow_links: false,
    };
}

/// Number of schedules that a test plays: in the environment, or this many.
pub fn schedules(usual: u64) -> u64 {
    let given = std::env::var("ZOOQUAKE_SCHEDULES").ok();
    given.map_or(usual, |number| number.parse().expect("a number of schedules"))
}
