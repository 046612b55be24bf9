//! The znodes that a workload stands on.

use zooquake_history::plan::Plan;

/// Paths of the znodes that are there before the first client starts.
pub fn setup_paths(plan: &Plan) -> Vec<String> {
    let own = ["/zooquake", "/zooquake/scratch", "/resource"].map(String::from);
    own.into_iter()
        .chain(plan.workload.contenders.iter().cloned())
        .chain(plan.workload.znodes.iter().cloned())
        .collect()
}

/// A znode's path and those of the znodes above it, but for the root: the highest first, and the path itself last.
pub fn lineage(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    ends.map(|end| &path[..end])
}
