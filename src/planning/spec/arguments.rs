//! A run's spec as the arguments of `zooquake run`, which draw its plan again: from arguments, to arguments, and from a
//! plan.

use super::{CLIENTS, RunSpec, SERVERS, protocols};
use crate::planning::{drawing, feasibility, names, network, placement, values};
use crate::shell;
use clap::Parser;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;
use zooquake_history::plan::{DrawnFor, Plan, Timing};

/// The arguments after `run`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Arguments {
    #[command(flatten)]
    spec: RunSpec,
}

impl RunSpec {
    /// The spec that these arguments of `zooquake run` give.
    ///
    /// # Errors
    /// If `zooquake run` would refuse them as no arguments of its own.
    pub fn from_args(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Self, clap::Error> {
        Ok(Arguments::try_parse_from(arguments)?.spec)
    }

    /// The arguments of `zooquake run` that give this spec; what is not given, or as usual, is left out. Former names
    /// of variants and faults are replaced by the present ones; names that do not exist are kept.
    pub fn to_args(&self) -> Vec<OsString> {
        let usual = Self::new("");
        let workload = names::built_in(&self.workload).map_or_else(|| self.workload.clone(), |known| known.name());
        let present = |list: &String| match names::faults(list) {
            Ok(kinds) if !kinds.is_empty() => kinds.join(","),
            _ => list.clone(),
        };
        let mut all: Vec<OsString> = vec![workload.into()];
        let mut give = |name: &str, value: Option<OsString>| match value {
            // As a word of its own it would be taken for an option.
            Some(value) if value.as_bytes().starts_with(b"-") => {
                let mut joined = OsString::from(format!("{name}="));
                joined.push(value);
                all.push(joined);
            }
            Some(value) => all.extend([name.into(), value]),
            None => {}
        };
        let number = |n: usize| OsString::from(n.to_string());
        let unusual = |n: usize, usual: usize| (n != usual).then(|| number(n));
        let shape = |d: &DrawnFor| format!("{}:{}", d.servers, values::timing_text(&d.timing)).into();
        give("--seed", self.seed.map(|seed| seed.to_string().into()));
        give("--faults", self.faults.as_ref().map(|list| present(list).into()));
        give("--time", self.time.map(|time| values::duration_text(time).into()));
        give("--servers", self.servers.map(number));
        give("--observers", self.observers.map(number));
        let clients = self.clients.filter(|&clients| clients != CLIENTS);
        give("--clients", clients.map(number));
        let timing = self.timing.map(|timing| values::timing_text(&timing));
        give("--timing", timing.map(Into::into));
        give("--zookeeper", self.zookeeper.clone().map(Into::into));
        give("--drawn-for", self.drawn_for.as_ref().map(shape));
        let list = |all: Vec<String>| (!all.is_empty()).then(|| all.join(",").into());
        give("--hosts", list(self.hosts.clone()));
        give("--place", list(self.place.iter().map(placement::text).collect()));
        give("--on", self.on.map(|on| on.name().into()));
        give("--times", unusual(self.times as usize, usual.times as usize));
        give("--out", (self.out != usual.out).then(|| self.out.clone().into()));
        let flags = [("--keep", self.keep), ("--live", self.live), ("--anyway", self.anyway)];
        all.extend(flags.iter().filter(|flag| flag.1).map(|flag| flag.0.into()));
        all.extend(self.json.then(|| "--json".into()));
        all
    }

    /// The command line of this spec; `None` if it cannot be written for a shell.
    pub fn line(&self) -> Option<String> {
        shell::line(std::iter::once(OsStr::new("run").to_owned()).chain(self.to_args()))
    }

    /// The spec that draws this plan, if any does. [`Plan::replay_of`], which no spec draws, is not looked at.
    pub fn from_plan(plan: &Plan) -> Self {
        let cluster = &plan.cluster;
        let workload = match &plan.workload.recipe {
            Some(recipe) => recipe.folder.clone(),
            None => plan.workload.name(),
        };
        let named = Self {
            seed: Some(plan.seed),
            zookeeper: cluster.image.clone(),
            on: Some(plan.on).filter(|on| !on.is_real()),
            hosts: cluster.hosts.iter().map(|host| host.address.clone()).collect(),
            place: placement::placed(cluster),
            ..Self::new(workload)
        };
        if let Some(variant) = network::variant(&plan.workload) {
            return protocols::from_plan(plan, variant, named);
        }
        let other = |usual: Timing| (cluster.timing != usual).then_some(cluster.timing);
        // Scenes bring their own faults, take their own time, and have no clients.
        if !plan.scenes.is_empty() {
            return Self {
                observers: Some(cluster.observers),
                timing: other(Timing::default()),
                ..named
            };
        }
        let none = plan.faults.is_empty();
        Self {
            faults: Some(if none { "none".into() } else { plan.faults.join(",") }),
            time: Some(Duration::from_millis(plan.time_ms)),
            servers: (cluster.servers != SERVERS).then_some(cluster.servers),
            observers: (cluster.observers != 0).then_some(cluster.observers),
            clients: (cluster.clients != CLIENTS).then_some(cluster.clients),
            timing: other(drawing::timing(&plan.workload)),
            drawn_for: plan.drawn_for,
            anyway: !feasibility::shortfalls(plan).is_empty(),
            ..named
        }
    }
}
