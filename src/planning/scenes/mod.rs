//! Variants that are runs of scenes: fresh ensembles without clients, brought into a given state step by step.

mod textbook;

use zooquake_history::plan::{ClusterPlan, Plan, Workload};

/// A variant that is a run of scenes.
#[derive(Debug)]
pub struct Variant {
    /// What it is.
    pub workload: fn() -> Workload,
    /// Its plan from a seed and the shape asked for.
    pub plan: fn(u64, ClusterPlan) -> Plan,
    /// The numbers of servers that it is played on.
    pub servers: usize,
    /// Observers, unless another number is asked for.
    pub observers: usize,
}

/// All of them.
pub const VARIANTS: &[Variant] = &[Variant {
    workload: textbook::workload,
    plan: textbook::plan,
    servers: 5,
    observers: 1,
}];

/// The variant of this workload; `None` if that is no run of scenes.
pub fn variant(workload: &Workload) -> Option<&'static Variant> {
    VARIANTS
        .iter()
        .find(|variant| (variant.workload)().name() == workload.name())
}
