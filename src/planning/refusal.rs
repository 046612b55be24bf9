//! Specs whose runs could not end valid, refused before the first of them begins.

use super::spec::RunSpec;
use crate::planning::feasibility;

/// Refuses specs whose runs cannot end valid, each with its name.
///
/// # Errors
/// Which they are and why, with the way out; or that a variant or a fault does not exist.
pub fn refuse(specs: &[(String, RunSpec)], way_out: impl FnOnce() -> String) -> Result<(), String> {
    let mut short = Vec::new();
    for (name, spec) in specs {
        let shortfalls = feasibility::shortfalls(&spec.plan()?);
        if !shortfalls.is_empty() {
            short.push((name.clone(), shortfalls));
        }
    }
    match short.is_empty() {
        true => Ok(()),
        false => Err(feasibility::refusal(&short, &way_out())),
    }
}

/// The shortest time with which all these plans can end valid, in milliseconds; `None` if no time would do.
pub fn enough_ms(specs: impl IntoIterator<Item = RunSpec>) -> Option<u64> {
    let mut each = specs.into_iter().map(|spec| spec.shortest_ms());
    each.try_fold(0, |enough, shortest| Some(shortest?.max(enough)))
}
