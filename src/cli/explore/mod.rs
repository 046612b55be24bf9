//! `zooquake explore`

mod network;
mod show;

use super::exit::{Code, Usage};
use super::shard::ShardChoice;
use super::{interrupt, paths};
use crate::backends::Capacity;
use crate::campaign::shard::Shard;
use crate::confirm::{Confirmer, were_played};
use crate::explore::corpus::Corpus;
use crate::explore::drive::{self, Exploration, ExploringTime, Limits};
use crate::explore::failure_runs::{ExploredFailure, confirm, write};
use crate::explore::space::{Search, Space};
use crate::planning::case::Subject;
use crate::planning::{names, recipe, spec, values};
use crate::run::stage::Stage;
use crate::shell;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The kinds of fault that are explored if none are given.
const FAULTS: &str = "kill,pause,partition,drop-reply,hold-reply,disconnect,expire,latency,stall,move,pin,lag";

/// `explore`
#[derive(Debug, Args)]
#[command(after_help = "\
A schedule is a few operations of a few clients under a few faults on a simulated ensemble, drawn from a seed with the order in
which things happen. Each failure is reported once, by property, anomaly and the shape of its witness, written as a run that `check`,
`report`, `replay` and `shrink` take, and shrunk to a plan that is short enough to read.

Exit codes: 0 no failure, or only such as the variant is known for; 1 a failure that is not known; 2 none, but it was stopped before
its end; 254 wrong usage; 255 the harness failed.

With --confirm the plan of each failure, shrunk and as it was before, is played on a real ensemble until the same anomaly of the
same property shows. The outcome changes no exit code, except for 255 if no try of a failure could be carried out.

Examples:
  zooquake explore lock/protected --budget 60s
  zooquake explore lock/predecessor --faults drop-reply --schedules 1000 --seed 1
  zooquake explore lock/predecessor --faults drop-reply --confirm
  zooquake explore queue/claimed --clients 4 --ops 12 --windows 3
  zooquake explore lock/predecessor --schedule pct --depth 4
  zooquake explore consensus/fast-paxos --faults kill,loss --schedules 1000000
  zooquake explore lock/protected --schedule exhaustive --clients 2 --ops 1 --windows 1 --plans 10
  zooquake explore lock/fenced --budget 8h --corpus corpus/fenced            again: it goes on where it was
  zooquake explore lock/fenced --budget 8h --corpus fenced-2 --seed 1 --shard 2/4")]
pub struct ExploreOptions {
    /// Family and variant, such as lock/predecessor
    pub variant: String,
    /// How long to explore, and to shrink what is found, for which the last quarter is kept
    #[arg(long, default_value = "60s", value_parser = values::duration)]
    pub budget: Duration,
    /// Explore no more than so many schedules
    #[arg(long)]
    pub schedules: Option<u64>,
    /// How the order is chosen in which things happen
    #[arg(long, value_enum, default_value_t = ScheduleOrder::Walk)]
    pub schedule: ScheduleOrder,
    /// With `pct`: the depth of the failures looked for
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub depth: u32,
    /// With `exhaustive`: how many steps are delayed in a schedule at most
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=8))]
    pub delays: u32,
    /// With `exhaustive`: explore no more than so many plans
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub plans: Option<u64>,
    /// Seed of the first schedule; a random one if not given, or that of the corpus
    #[arg(long, value_parser = values::seed)]
    pub seed: Option<u64>,
    /// Only this part of the schedules, so that several machines explore them without overlap: give each the same
    /// --seed. `auto`: the part that GitLab's or Slurm's variables name, or ZOOQUAKE_SHARD=K/N
    #[arg(long, value_name = "K/N|auto", default_value = "1/1")]
    pub shard: ShardChoice,
    /// Folder that keeps what was explored, so that the same command goes on later
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// Kinds of fault, separated by commas, or `none`; if not given
    /// kill,pause,partition,drop-reply,hold-reply,disconnect,expire,latency,stall,move,pin,lag, of consensus
    /// protocols kill,pause,partition,loss,duplicate
    #[arg(long, value_name = "FAULTS")]
    pub faults: Option<String>,
    /// Servers of the ensemble: 1, 3 or 5; 3 if not given, of consensus protocols as many as the variant has
    #[arg(long, value_parser = values::nodes)]
    pub servers: Option<usize>,
    /// Clients; 5 if not given, of consensus protocols as many as the variant has
    #[arg(long, value_parser = values::clients)]
    pub clients: Option<usize>,
    /// Operations of each client in a schedule
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub ops: u64,
    /// Fault windows in a schedule
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(0..=100))]
    pub windows: u16,
    /// Threads; one a core if not given
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Folder of the runs that failures are written to
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub out: PathBuf,
    /// Play the plans of failures on a real ensemble, and report which are real
    #[arg(long)]
    pub confirm: bool,
    /// How often the plan of a failure is run at most to confirm it
    #[arg(long, alias = "confirm-runs", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub confirm_times: u32,
    /// JSON on stdout: schedules, schedules a second, failures, coverage
    #[arg(long)]
    pub json: bool,
}

/// How the order is chosen in which things happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScheduleOrder {
    /// At random
    Walk,
    /// By priorities that are drawn and fall at a few points
    Pct,
    /// All orders that have a few delays at most, of one plan after the other
    Exhaustive,
}

/// Explores, writes the failures, and prints the coverage.
///
/// # Errors
/// [`Usage`] for what does not exist or cannot be simulated, or the corpus of another exploration; otherwise the
/// harness failed.
pub async fn explore(options: ExploreOptions) -> Result<Code> {
    let shard = options.shard.resolve()?;
    if shard != Shard::default() && options.seed.is_none() {
        let why = "--shard needs --seed, the same on every machine, so that their schedules do not overlap";
        return Err(Usage(why.into()).into());
    }
    if options.schedule != ScheduleOrder::Exhaustive && options.plans.is_some() {
        return Err(Usage("--plans goes with --schedule exhaustive".into()).into());
    }
    if options.schedule == ScheduleOrder::Exhaustive && options.corpus.is_some() {
        let why = "--corpus goes with schedules that are drawn: an exhaustive exploration is identified by its seed";
        return Err(Usage(why.into()).into());
    }
    if let Some(Subject::Protocol(variant)) = names::subject(&options.variant) {
        return network::explore(options, variant, shard).await;
    }
    let asked = space(&options).map_err(Usage)?;
    let resolved = asked.resolve().map_err(Usage)?;
    paths::output_folder(&options.out, "--out")?;
    let (mut corpus, space) = match &options.corpus {
        None => (None, asked),
        Some(folder) => {
            paths::output_folder(folder, "--corpus")?;
            let (corpus, space) = Corpus::open(folder, &asked, options.seed)?;
            (Some(corpus), space)
        }
    };
    let interrupt = interrupt::listen()?;
    let stop = interrupt::flag(&interrupt);
    let stopped = interrupt.clone();
    let until = Instant::now() + options.budget;
    let confirmer = match options.confirm {
        true => Some(Confirmer::prepare(options.confirm_times, &options.out, interrupt).await?),
        false => None,
    };
    let limits = Limits {
        time: ExploringTime::before_shrinking(options.budget),
        schedules: options.schedules,
        plans: options.plans,
        threads: threads(options.threads),
        also: None,
    };
    let (out, json) = (options.out.clone(), options.json);
    let seed = space.seed;
    let space = resolved.beginning_at(seed);
    let stage = Stage::begin("writing what was found");
    let exploring = tokio::task::spawn_blocking(move || {
        progress!(
            "exploring {} from seed {seed} on {} threads",
            space.space.variant,
            limits.threads
        );
        let tell = |explored: &Exploration| progress!("{}", show::progress(explored));
        let explored = drive::explore((&space, shard), corpus.as_mut(), limits, &stop, tell)?;
        let failures = write(&space, &explored, &out, (until, &stop))?;
        anyhow::Ok((explored, failures))
    });
    let (explored, mut failures) = exploring.await.context("the exploration did not come to its end")??;
    drop(stage);
    if let Some(confirmer) = &confirmer {
        confirm(confirmer, &mut failures).await?;
    }
    match json {
        true => show::print_json(seed, &explored, &failures)?,
        false => show::print(&explored, &failures),
    }
    were_played(failures.iter().filter_map(|failure| failure.confirmation.as_ref()))?;
    Ok(code(&failures, *stopped.borrow()))
}

/// How many threads play schedules: as many as are asked for, or one for each processor.
pub fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| Capacity::of_this_machine().processors, usize::from)
}

/// What an exploration comes to, be it that the user has stopped it before its end.
fn code(failures: &[ExploredFailure], stopped: bool) -> Code {
    let new = failures.iter().any(|failure| !failure.signature.known);
    match (new, stopped) {
        (true, _) => Code::Invalid,
        (false, true) => Code::Unknown,
        (false, false) => Code::Valid,
    }
}

/// Refuses the folder of a recipe, whose clients no simulated ensemble can run.
fn refuse_recipe(name: &str) -> Result<(), String> {
    if names::built_in(name).is_some() || !recipe::is_path(name) {
        return Ok(());
    }
    let run = shell::line(["run", name, "--times", "10"]);
    let way_out = run.map_or_else(String::new, |line| format!(": `{line}` runs it on real ensembles"));
    Err(format!(
        "{name:?} is a recipe of your own and cannot be explored, since its clients are programs that need containers and \
         real time{way_out}"
    ))
}

fn space(options: &ExploreOptions) -> Result<Space, String> {
    refuse_recipe(&options.variant)?;
    if let Some(servers) = options.servers {
        values::servers(&servers.to_string())?;
    }
    let faults = names::faults(options.faults.as_deref().unwrap_or(FAULTS))?;
    names::check_ensemble_faults(&faults, 0)?;
    Ok(Space {
        variant: names::workload(&options.variant)?.name(),
        servers: options.servers.unwrap_or(spec::SERVERS),
        clients: options.clients.unwrap_or(spec::CLIENTS),
        ops: options.ops,
        windows: if faults.is_empty() { 0 } else { options.windows.into() },
        faults,
        seed: options.seed.unwrap_or_else(|| u64::from(fastrand::u32(..))),
        search: match options.schedule {
            ScheduleOrder::Walk => Search::Walk,
            ScheduleOrder::Pct => Search::Pct { depth: options.depth },
            ScheduleOrder::Exhaustive => Search::Exhaustive { delays: options.delays },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{Code, ExploredFailure, code};
    use crate::explore::failure::Signature;

    #[test]
    fn what_was_stopped_without_a_find_is_no_answer() {
        let failure = |known| ExploredFailure {
            signature: Signature {
                property: "mutual exclusion".into(),
                anomaly: "stale-write".into(),
                known,
                shape: String::new(),
            },
            schedules: 1,
            seed: 1,
            why: String::new(),
            run: None,
            shrunk: None,
            confirmation: None,
        };
        assert!(matches!(code(&[], false), Code::Valid));
        assert!(matches!(code(&[failure(true)], false), Code::Valid));
        assert!(matches!(code(&[failure(true)], true), Code::Unknown));
        assert!(matches!(code(&[failure(false)], true), Code::Invalid));
    }
}
