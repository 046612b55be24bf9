//! Explores a consensus protocol within bounds, by hand.

#[path = "../tests/exhaustive/model/mod.rs"]
mod model;

use crate::model::bounds::{ModelBounds, ModelNetwork};
use crate::model::folder;
use crate::model::search::{SearchEffort, search};
use std::path::PathBuf;
use std::process::ExitCode;
use zooquake_history::node;
use zooquake_history::plan::ClusterPlan;
use zooquake_workloads::consensus::setting::ProtocolSetting;
use zooquake_workloads::consensus::variants::{ConsensusVariant, variant};

const USAGE: &str = "usage: exhaust VARIANT [OPTION VALUE]...
VARIANT is paxos, fast-paxos, fast-paxos-uncoordinated, fast-paxos-restart, fast-leader-election,
fast-leader-election-alone, planted-C1, planted-C2 or planted-C3. Options:
  --ballots N    highest ballot, round, or logical clock of an election (2); --rounds is the same
  --timers N     how many timers run out in all, of those that have messages sent again (1)
  --restarts N   how many times in all a process that died starts again (0)
  --cut NAME,…   nodes that take nothing but their request, such as proposer1, and links on which
                 nothing arrives, such as learner1:leader1 (none)
  --network N    delaying, losing or duplicating (delaying)
  --servers N    acceptors or servers (3)
  --leaders N    leaders or coordinators (2)
  --learners N   learners (1)
  --proposers N  proposers (2)
  --seed N       what the servers of an election begin with is drawn from (0)
  --threads N    threads (1); with more a counterexample need not be the shortest
  --out DIR      where the folder of a counterexample's run goes";

/// What the command line asks for.
struct ExhaustArgs {
    variant: &'static ConsensusVariant,
    bounds: ModelBounds,
    cut_off: Vec<String>,
    servers: usize,
    leaders: u8,
    learners: u8,
    proposers: usize,
    seed: u64,
    threads: usize,
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = parse(&args).and_then(|args| run(&args));
    outcome.unwrap_or_else(|why| {
        eprintln!("{why}");
        ExitCode::from(2)
    })
}

fn parse(args: &[String]) -> Result<ExhaustArgs, String> {
    let [name, options @ ..] = args else {
        return Err(USAGE.to_owned());
    };
    let mut parsed = ExhaustArgs {
        variant: variant(name).ok_or(USAGE)?,
        bounds: ModelBounds::new(2, 1),
        cut_off: Vec::new(),
        servers: 3,
        leaders: 2,
        learners: 1,
        proposers: 2,
        seed: 0,
        threads: 1,
        out: None,
    };
    for option in options.chunks(2) {
        let [option, value] = option else {
            return Err(USAGE.to_owned());
        };
        set(&mut parsed, option, value).ok_or(USAGE)?;
    }
    Ok(parsed)
}

/// Sets an option; `None` if there is none such, or it cannot have this value.
fn set(args: &mut ExhaustArgs, option: &str, value: &str) -> Option<()> {
    match option {
        "--ballots" | "--rounds" => args.bounds.rounds = value.parse().ok()?,
        "--timers" => args.bounds.timers = value.parse().ok()?,
        "--restarts" => args.bounds.restarts = value.parse().ok()?,
        "--cut" => args.cut_off = value.split(',').map(str::to_owned).collect(),
        "--network" => {
            args.bounds.network = match value {
                "delaying" => ModelNetwork::Delaying,
                "losing" => ModelNetwork::Losing,
                "duplicating" => ModelNetwork::Duplicating,
                _ => return None,
            };
        }
        "--servers" => args.servers = value.parse().ok()?,
        "--leaders" => args.leaders = value.parse().ok().filter(|&leaders| leaders > 0)?,
        "--learners" => args.learners = value.parse().ok().filter(|&learners| learners > 0)?,
        "--proposers" => args.proposers = value.parse().ok()?,
        "--seed" => args.seed = value.parse().ok()?,
        "--threads" => args.threads = value.parse().ok()?,
        "--out" => args.out = Some(value.into()),
        _ => return None,
    }
    Some(())
}

fn run(args: &ExhaustArgs) -> Result<ExitCode, String> {
    let cluster = ClusterPlan {
        servers: args.servers,
        clients: args.variant.clients.min(args.proposers),
        ..ClusterPlan::default()
    };
    args.variant.check(&cluster)?;
    let mut setting = args.variant.setting(args.seed, &cluster);
    match &mut setting {
        ProtocolSetting::Paxos(config) => (config.leaders, config.learners) = (args.leaders, args.learners),
        ProtocolSetting::FastPaxos(config) => (config.coordinators, config.learners) = (args.leaders, args.learners),
        _ => {}
    }
    let names = setting.names();
    let mut bounds = args.bounds.clone();
    for cut in &args.cut_off {
        bounds
            .cut(cut, &names)
            .ok_or_else(|| format!("the nodes are {}", node::join(&names, ", ")))?;
    }
    println!("{setting:?}\n{bounds:?}");
    let effort = SearchEffort {
        threads: args.threads,
        progress: true,
    };
    let outcome = search(&setting, args.variant.goal, bounds, effort)?;
    println!("{outcome}");
    let Some(found) = &outcome.counterexample else {
        return Ok(ExitCode::SUCCESS);
    };
    let plan = folder::plan(args.variant, args.seed, &cluster, found);
    let record = folder::record(&plan)?;
    for anomaly in zooquake_checkers::check(&record).anomalies {
        println!("played: {}: {}", anomaly.kind, anomaly.why);
    }
    if let Some(out) = &args.out {
        folder::write(&record, out).map_err(|error| format!("writing {}: {error}", out.display()))?;
        println!("written to {}", out.display());
    }
    Ok(ExitCode::FAILURE)
}
