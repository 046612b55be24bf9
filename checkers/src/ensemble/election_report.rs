//! Elections in the form in which `results.json` lists them.

use super::EnsembleElections;
use super::elections::{Ballot, Election, elections};
use crate::analysis::search_trees::MaxTree;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::HashMap;
use zooquake_history::evidence::ServerSample;
use zooquake_history::server_log::VoteRule;

/// One election. Moments are milliseconds since it began, when the first voter counted in it began to look.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The scene it belongs to, of a run that plays several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<String>,
    /// The winner, such as `n3`.
    pub winner: String,
    /// The winner's server id.
    pub sid: i64,
    /// The round it won in.
    pub round: i64,
    /// `epoch`, `zxid` or `sid`: by which its vote beat the highest one with which another counted voter had begun;
    /// `null` if there was no other, or if that is not known.
    pub rule: Option<String>,
    /// The epoch it came to lead in; `null` if no quorum acknowledged it.
    pub epoch: Option<i64>,
    /// The ids of the servers that had acknowledged it then.
    pub supporters: Vec<i64>,
    /// The ids of the servers whose votes were counted.
    pub counted: Vec<i64>,
    /// Milliseconds since the run began when it began; `null` if the wall clock was not read.
    pub began_ms: Option<i64>,
    /// When votes of more than half of the voters had reached the winner.
    pub quorum_ms: Option<i64>,
    /// When the winner's log shows it as elected.
    pub won_ms: i64,
    /// When a quorum had acknowledged it as leader.
    pub established_ms: Option<i64>,
    /// How long nobody led: milliseconds from the last answer of a server as leader of an earlier epoch to the first
    /// answer of this one as leader. `null` without such answers, as for the first election.
    pub lost_ms: Option<i64>,
    /// The votes that were cast, repetitions left out, in the order of time.
    pub votes: Vec<VoteCast>,
    /// Whether the votes are left out, because the elections before it listed too many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub votes_left_out: bool,
}

/// A vote that a server cast in an election.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteCast {
    /// When it was cast: milliseconds since the election began.
    pub ms: i64,
    /// The voter's server id.
    pub sid: i64,
    /// The round of the election that the vote names.
    pub round: i64,
    /// The server id of the proposed leader.
    pub leader: i64,
    /// The proposed server's last zxid, as `0x…`.
    pub zxid: String,
    /// The proposed server's epoch.
    pub epoch: i64,
    /// Why it is not the voter's vote before: `round`, `epoch`, `zxid` or `sid`; `null` for its first vote, and for one
    /// that no rule allows.
    pub rule: Option<String>,
    /// Whether the voter's last vote was counted for the winner.
    pub counted: bool,
}

/// All elections of an ensemble.
pub fn accounts(ensemble: &EnsembleElections<'_>) -> Vec<Account> {
    let leaders = Leaders::new(ensemble.samples);
    let tell = |election: &Election| account(ensemble, &leaders, election);
    elections(ensemble.logs).iter().map(tell).collect()
}

fn account(ensemble: &EnsembleElections<'_>, leaders: &Leaders<'_>, election: &Election) -> Account {
    let since = |ms: i64| ms - election.began_ms;
    let led = election.established.as_ref();
    Account {
        scene: None,
        winner: election.server.clone(),
        sid: election.winner,
        round: election.round,
        rule: election.rule.map(name),
        epoch: led.map(|led| led.epoch),
        supporters: led.map(|led| led.sids.clone()).unwrap_or_default(),
        counted: election.counted.iter().copied().collect(),
        began_ms: ensemble.clock.run_ms(election.began_ms),
        quorum_ms: election.quorum_ms.map(since),
        won_ms: since(election.won_ms),
        established_ms: led.map(|led| since(led.ms)),
        lost_ms: led.and_then(|led| leaders.lost_ms(&election.server, led.epoch)),
        votes: election.ballots.iter().map(|ballot| vote(ballot, since)).collect(),
        votes_left_out: election.left_out,
    }
}

fn vote(ballot: &Ballot, since: impl Fn(i64) -> i64) -> VoteCast {
    let cast = &ballot.cast;
    VoteCast {
        ms: since(cast.ms),
        sid: ballot.sid,
        round: cast.round,
        leader: cast.vote.leader,
        zxid: format!("0x{:x}", cast.vote.zxid),
        epoch: cast.vote.epoch,
        rule: ballot.rule.map(name),
        counted: ballot.counted,
    }
}

fn name(rule: VoteRule) -> String {
    rule.name().to_owned()
}

/// The answers of servers as leaders.
struct Leaders<'a> {
    /// By server and epoch the time of the first, in nanoseconds since the run began.
    first: HashMap<(&'a str, i64), u64>,
    /// The times, the latest first.
    times: Vec<u64>,
    /// The epochs at these times, the lowest as the greatest number.
    epochs: MaxTree,
}

impl<'a> Leaders<'a> {
    fn new(samples: &'a [ServerSample]) -> Self {
        let mut all: Vec<&ServerSample> = samples.iter().filter(|sample| sample.mode == "leader").collect();
        all.sort_by_key(|sample| Reverse(sample.time));
        let mut first = HashMap::new();
        for sample in &all {
            first.insert((sample.server.as_str(), sample.epoch), sample.time);
        }
        Self {
            first,
            times: all.iter().map(|sample| sample.time).collect(),
            epochs: MaxTree::new(all.iter().map(|sample| falling(sample.epoch)).collect()),
        }
    }

    /// Milliseconds from the last answer as leader of an earlier epoch to the first of `server` as leader of this one.
    fn lost_ms(&self, server: &str, epoch: i64) -> Option<i64> {
        let first = *self.first.get(&(server, epoch))?;
        let before = self.times.partition_point(|&time| time >= first);
        let last = self.times[self.epochs.first(before, falling(epoch.checked_sub(1)?))?];
        i64::try_from((first - last) / 1_000_000).ok()
    }
}

/// A number that is the greater the lower the epoch is.
fn falling(epoch: i64) -> u64 {
    !(epoch.cast_unsigned() ^ (1 << 63))
}
