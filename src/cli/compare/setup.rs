//! What the options of `zooquake compare` ask for.

use super::CompareOptions;
use crate::backends;
use crate::compare::setup::{Setup, Subject};
use crate::planning::{admission, drawing, names, recipe, spec, values};
use std::collections::BTreeSet;
use std::time::Duration;
use zooquake_history::operation::consensus;
use zooquake_history::plan::{On, Workload};

/// The faults unless others are given.
const FAULTS: [&str; 2] = ["pause", "partition"];

/// How often each subject is run, unless another number is given.
const TIMES: u32 = 5;

/// How long operations and faults go on, unless another time is given.
const TIME: Duration = Duration::from_secs(20);

/// The seed of the first plan unless another one is given.
pub const SEED: u64 = 1;

/// The family that is named.
pub fn family(options: &CompareOptions) -> &str {
    options.family.trim_end_matches('/')
}

/// The whole name of a variant that may be given without its family, or the path of a recipe's folder.
pub fn named(family: &str, variant: &str) -> String {
    let whole = match variant.split_once('/') {
        Some((before, _)) if before == family => variant.to_string(),
        _ => format!("{family}/{variant}"),
    };
    match names::built_in(&whole).is_none() && recipe::is_path(variant) {
        true => variant.to_string(),
        false => whole,
    }
}

/// What the options ask for.
///
/// # Errors
/// If anything that is named does not exist, is there twice, or cannot be compared: a message for the user.
pub fn setup(options: &CompareOptions) -> Result<Setup, String> {
    let family = family(options);
    let prefix = format!("{family}/");
    let known: Vec<String> = names::variants();
    let of_family: Vec<&str> = known.iter().filter_map(|name| name.strip_prefix(&prefix)).collect();
    if of_family.is_empty() {
        let families: BTreeSet<&str> = known.iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
        let families: Vec<String> = families
            .into_iter()
            .chain([consensus::FAMILY.name])
            .map(String::from)
            .collect();
        return Err(names::unknown("family", family, &families));
    }
    let on = options.on.unwrap_or(On::Docker);
    let variants: Vec<&str> = match options.variants.is_empty() {
        true => of_family
            .into_iter()
            .filter(|variant| runs_on(family, variant, on))
            .collect(),
        false => options.variants.iter().map(String::as_str).collect(),
    };
    let faults: Result<Vec<String>, String> = match options.faults.is_empty() {
        true => Ok(FAULTS.map(String::from).to_vec()),
        false => options.faults.iter().map(|list| joined(list)).collect(),
    };
    for servers in &options.servers {
        values::servers(&servers.to_string())?;
    }
    let workloads: Result<Vec<Workload>, String> = variants
        .iter()
        .map(|variant| names::workload(&named(family, variant)))
        .collect();
    let workloads = workloads?;
    // Another name of a protocol is of another family.
    let family = workloads[0].family.clone();
    if let Some(other) = workloads.iter().find(|other| other.family != family) {
        let names = (workloads[0].name(), other.name());
        return Err(format!(
            "{} and {} cannot be compared: give variants of one family",
            names.0, names.1
        ));
    }
    if let Some(protocol) = workloads.first().filter(|_| family == consensus::FAMILY.name) {
        return Err(format!(
            "{} is no recipe of ZooKeeper: `zooquake compare consensus` compares what a decision of Paxos and Fast Paxos takes, and how \
             it fares under faults is found by `zooquake explore {}`",
            protocol.name(),
            protocol.name()
        ));
    }
    let mut subjects = Vec::new();
    for workload in workloads {
        for zookeeper in one_at_least(&options.zookeeper) {
            for timing in one_at_least(&options.timings) {
                for servers in one_at_least(&options.servers) {
                    subjects.push(Subject {
                        variant: workload.variant.clone(),
                        folder: workload.recipe.as_ref().map(|recipe| recipe.folder.clone()),
                        zookeeper: zookeeper.cloned(),
                        timing: timing.copied().unwrap_or_else(|| drawing::timing(&workload)),
                        servers: servers.copied().unwrap_or(spec::SERVERS),
                    });
                }
            }
        }
    }
    let first = options.seed.unwrap_or(SEED);
    let seeds = (0..u64::from(options.times.unwrap_or(TIMES))).map(|round| first.wrapping_add(round));
    let setup = Setup {
        family,
        subjects,
        faults: faults?,
        seeds: seeds.collect(),
        time_ms: options.time.unwrap_or(TIME).as_millis() as u64,
        clients: options.clients.unwrap_or(spec::CLIENTS),
        on,
    };
    setup.check()?;
    Ok(setup)
}

/// Whether a variant of a family that was named as a whole can run there; that it is left out is said.
fn runs_on(family: &str, variant: &str, on: On) -> bool {
    let named = names::named(&named(family, variant));
    let Ok(named) = named else { return true };
    match admission::workload_on(backends::kind(on), &named.workload, named.subject) {
        Ok(()) => true,
        Err(why) => {
            progress!("left out: {why}");
            false
        }
    }
}

/// Kinds of fault joined by `+`, or `none`.
fn joined(list: &str) -> Result<String, String> {
    let kinds = names::faults(&list.replace('+', ","))?;
    Ok(match kinds.is_empty() {
        true => "none".to_string(),
        false => kinds.join("+"),
    })
}

/// The values given, or that none was.
fn one_at_least<T>(values: &[T]) -> Vec<Option<&T>> {
    match values.is_empty() {
        true => vec![None],
        false => values.iter().map(Some).collect(),
    }
}
