//! The elections of real runs, from their servers' logs, against the winners that the model of FastLeaderElection
//! reaches from the same first votes.

use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use zooquake_checkers::ensemble::Account;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::Plan;
use zooquake_network::disturbance::{Disturbance, DisturbanceKind};
use zooquake_network::draft::NetworkDraft;
use zooquake_network::observer::Observer;
use zooquake_network::play::network_rng;
use zooquake_network::scenario::Pace;
use zooquake_network::transit::Transit;
use zooquake_network::world::World;
use zooquake_workloads::consensus::fast_leader_election::{
    FleBug, FleConfig, FleServer, FleVote, MAX_VOTERS, ServerLaunch, ServerStart,
};
use zooquake_workloads::consensus::protocol::Node;

const USAGE: &str = "usage: reachable_winners RUN...
RUN is the folder of a run on a real ensemble: its elections are read from results.json. Of each, as many schedules of
the model as ZOOQUAKE_SCHEDULES has (2000 if it is not set) begin with the same first votes.
Exit codes: 0 if the model reaches every real winner, 1 if not, 2 if a run cannot be read.";

/// Microseconds within which the voters of a schedule begin to look.
const BEGIN: u32 = 1_000_000;

/// Microseconds after which a schedule without a leader ends.
const PATIENCE: u32 = 20_000_000;

/// By winner and round, the schedules that ended so.
type Winners = BTreeMap<(u8, i64), usize>;

fn main() -> ExitCode {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    if folders.is_empty() || folders[0].starts_with('-') {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    let schedules = std::env::var("ZOOQUAKE_SCHEDULES").map_or(Ok(2_000), |number| number.parse());
    let Ok(schedules) = schedules else {
        eprintln!("ZOOQUAKE_SCHEDULES is no number\n{USAGE}");
        return ExitCode::from(2);
    };
    let mut unreached = 0;
    for folder in &folders {
        match compare(Path::new(folder), schedules) {
            Ok(missed) => unreached += missed,
            Err(why) => {
                eprintln!("{folder}: {why}");
                return ExitCode::from(2);
            }
        }
    }
    println!("real winners that the model does not reach: {unreached}");
    ExitCode::from(u8::from(unreached > 0))
}

/// Compares the elections of a run; how many of their winners the model does not reach.
fn compare(folder: &Path, schedules: u64) -> Result<usize, String> {
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
        serde_json::from_str::<serde_json::Value>(&text).map_err(|error| format!("{name}: {error}"))
    };
    let plan: Plan = serde_json::from_value(read("plan.json")?).map_err(|error| format!("plan.json: {error}"))?;
    let elections = read("results.json")?["stats"]["elections"].take();
    let elections: Vec<Account> =
        serde_json::from_value(elections).map_err(|error| format!("results.json has no elections: {error}"))?;
    let mut unreached = 0;
    for election in &elections {
        let scene = election.scene.as_deref().unwrap_or("-");
        let place = format!("{} {scene} {}", folder.display(), election.winner);
        let Some(start) = ElectionStart::from_account(election, plan.cluster.servers) else {
            println!("{place}: not compared, the first votes of those counted are not all in the logs");
            continue;
        };
        let winners = start.winners(schedules);
        let reached: Vec<String> = winners
            .iter()
            .map(|((sid, round), count)| format!("{sid} in round {round} ({count})"))
            .collect();
        let real = (election.sid as u8, start.round(election));
        let same = match (
            winners.contains_key(&real),
            winners.keys().any(|(sid, _)| *sid == real.0),
        ) {
            (true, _) => "reached",
            (false, true) => "reached in another round",
            (false, false) => "NOT REACHED",
        };
        unreached += usize::from(same == "NOT REACHED");
        println!(
            "{place}: first votes {}; {} won in round {}, {same}; the model: {}",
            start.words(),
            real.0,
            real.1,
            reached.join(", ")
        );
    }
    Ok(unreached)
}

/// How the voters of an election began.
struct ElectionStart {
    /// By server id the first vote, which is for itself, and its round.
    first: BTreeMap<i64, (FleVote, i64)>,
    config: FleConfig,
}

impl ElectionStart {
    /// The start of an election among so many servers; `None` if a counted one's vote for itself is not in the logs.
    fn from_account(election: &Account, servers: usize) -> Option<Self> {
        let zxid = |text: &str| i64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let own = election.votes.iter().filter(|vote| vote.sid == vote.leader);
        let own: Vec<_> = own.map(|vote| Some((vote, zxid(&vote.zxid)?))).collect::<Option<_>>()?;
        // Zxids of real servers have 64 bits; the model compares their ranks.
        let ranks: BTreeSet<i64> = own.iter().map(|(_, zxid)| *zxid).collect();
        let mut first = BTreeMap::new();
        for (vote, zxid) in own {
            let vote_of_model = FleVote {
                epoch: u32::try_from(vote.epoch).ok()?,
                zxid: ranks.range(..zxid).count() as u32,
                sid: u8::try_from(vote.sid).ok()?,
            };
            first.entry(vote.sid).or_insert((vote_of_model, vote.round));
        }
        let known = election.counted.iter().all(|sid| first.contains_key(sid));
        if !known || servers > MAX_VOTERS || first.keys().any(|&sid| sid < 1 || sid > servers as i64) {
            return None;
        }
        let start = std::array::from_fn(|node| match first.get(&(node as i64 + 1)) {
            Some((vote, _)) => ServerStart {
                epoch: vote.epoch,
                zxid: vote.zxid,
                launch: ServerLaunch::AtOnce,
            },
            None => ServerStart {
                epoch: 0,
                zxid: 0,
                launch: ServerLaunch::Never,
            },
        });
        let config = FleConfig {
            servers: servers as u8,
            observers: 0,
            start,
            discovery: true,
            bug: FleBug::None,
        };
        Some(Self { first, config })
    }

    /// The round in which a real election was won, counted from 1 at the highest round in which a counted voter began:
    /// who is behind adopts that one with the first vote that it receives.
    fn round(&self, election: &Account) -> i64 {
        let begun = election.counted.iter().filter_map(|sid| self.first.get(sid));
        election.round - begun.map(|(_, round)| *round).max().unwrap_or(election.round) + 1
    }

    /// The first votes as (server, rank of the zxid, epoch).
    fn words(&self) -> String {
        let vote = |(vote, _): &(FleVote, i64)| format!("({}, {}, {})", vote.sid, vote.zxid, vote.epoch);
        self.first.values().map(vote).collect::<Vec<_>>().join(" ")
    }

    /// Who comes to lead first, in schedules in which voters begin at different moments and messages may be lost.
    fn winners(&self, schedules: u64) -> Winners {
        let mut winners = Winners::new();
        for seed in 0..schedules {
            let mut rng = Rng::with_seed(seed);
            let mut draft = NetworkDraft::default();
            // A process that is frozen from the beginning begins when it thaws.
            for sid in self.first.keys() {
                let spread = [1, BEGIN / 10, BEGIN][rng.usize(0..3)];
                draft.disturbances.push(Disturbance {
                    kind: DisturbanceKind::Pause(*sid as Node - 1),
                    from: 0,
                    until: rng.u32(1..=spread),
                });
            }
            if rng.bool() {
                draft.disturbances.push(Disturbance {
                    kind: DisturbanceKind::Loss(rng.u8(5..60)),
                    from: 0,
                    until: rng.u32(1..2 * BEGIN),
                });
            }
            let scenario = draft.scenario::<FleServer>(&self.config, PATIENCE);
            let observer = FirstLeader::default();
            let mut world = World::new(scenario, Pace::Drawn(Transit::Drawn), network_rng(seed), observer);
            world.run();
            if let Some((node, round)) = world.observer.leader {
                *winners.entry((node + 1, i64::from(round))).or_default() += 1;
            }
        }
        winners
    }
}

/// The first node that leads, and the round that it was elected in.
#[derive(Default)]
struct FirstLeader {
    elected: BTreeMap<Node, u32>,
    leader: Option<(Node, u32)>,
}

impl Observer<FleServer> for FirstLeader {
    fn announced(&mut self, _: u32, node: Node, announcement: Announcement) -> ControlFlow<()> {
        match announcement {
            Announcement::Elected { round, .. } => {
                self.elected.insert(node, round);
            }
            Announcement::Leading { .. } => {
                self.leader = self.elected.get(&node).map(|round| (node, *round));
                return ControlFlow::Break(());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn requested(&mut self, _: u32, _: Node, _: u32) {}

    fn died(&mut self, _: u32, _: Node) {}
}
