//! The elections of a run: who proposed whom, who changed its vote and why, who won, what each server was doing while
//! another one won; and the form in which `results.json` lists them.
//!
//! Looks are found by the time in which they were under way, and by the votes cast in them, in time logarithmic in
//! their number: a look that never ends overlaps all elections after it.

use super::EnsembleElections;
use crate::analysis::search_trees::MaxTree;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::evidence::ServerSample;
use zooquake_history::server_log::{
    CastVote, EstablishedLeader, LeaderSearch, LeaderVote, ServerLog, ServerRole, VoteRule,
};

/// When the elections of a run have looked at so many servers and votes, the later ones list no votes: the votes of a
/// server that never stops looking for a leader belong to all elections.
const MOST: usize = 100_000;

/// One election: a server looked for a leader and found itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Election {
    /// The winner, such as `n3`.
    pub server: String,
    /// The winner's server id.
    pub winner: i64,
    /// The round it won in, by its own count: rounds begin at 1 with every start of a process, and repeat.
    pub round: i64,
    /// The vote that won, the winner's own.
    pub vote: LeaderVote,
    /// By which rule that vote beat the highest one with which another counted voter had put itself forward. `None` if
    /// there was no other, or if what one proposed first is not known.
    pub rule: Option<VoteRule>,
    /// Those whose vote for it, cast while they looked for a leader in that round, had reached it when it won; itself
    /// too.
    pub counted: BTreeSet<i64>,
    /// When the first of them began to look, in milliseconds since 1970.
    pub began_ms: i64,
    /// When votes of more than half of the voters had reached the winner, if the logs show it.
    pub quorum_ms: Option<i64>,
    /// When it found that it had won.
    pub won_ms: i64,
    /// What it came to lead. A winner that no quorum acknowledged leads nothing ("Follower is ahead of the leader").
    pub established: Option<EstablishedLeader>,
    /// The votes that were cast, by the servers that were LOOKING then, in the order of their times.
    pub ballots: Vec<Ballot>,
    /// Whether these are left out: the elections before used up `MOST`.
    pub left_out: bool,
}

/// A vote that a server cast, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballot {
    /// The voter's server id.
    pub sid: i64,
    /// When, in which round, for whom.
    pub cast: CastVote,
    /// Why it is another than the voter's one before; `None` for its first, and for one that no rule allows.
    pub rule: Option<VoteRule>,
    /// Whether the voter's vote was counted in the end.
    pub counted: bool,
}

/// All elections of a run in the order in which they were won, from the logs of its servers.
pub fn elections(logs: &[ServerLog]) -> Vec<Election> {
    let looks = LookingSpells::new(logs);
    let voters = looks.voters();
    let mut room = MOST;
    let wins = wins(logs).into_iter();
    wins.map(|win| win.election(&looks, voters, &mut room)).collect()
}

/// A look that its server won.
#[derive(Debug, Clone, Copy)]
pub(super) struct WonLook<'a> {
    pub log: &'a ServerLog,
    pub look: &'a LeaderSearch,
    /// The number of the look among those of the log.
    pub number: usize,
    pub won_ms: i64,
    /// Its last vote: for itself.
    pub cast: CastVote,
}

/// The looks that were won, in the order of time.
pub(super) fn wins(logs: &[ServerLog]) -> Vec<WonLook<'_>> {
    let mut wins = Vec::new();
    for log in logs {
        for (number, (_, look)) in log.looks().enumerate() {
            let cast = look.casts().last().filter(|cast| cast.vote.leader == look.sid);
            if let (Some((won_ms, ServerRole::Leading)), Some(cast)) = (look.end, cast) {
                wins.push(WonLook {
                    log,
                    look,
                    number,
                    won_ms,
                    cast,
                });
            }
        }
    }
    wins.sort_by_key(|win| (win.won_ms, win.look.sid));
    wins
}

impl<'a> WonLook<'a> {
    fn election(&self, looks: &LookingSpells<'a>, voters: usize, room: &mut usize) -> Election {
        let counted = self.counted();
        let begins: Vec<Option<LookBegin>> = counted.iter().map(|sid| looks.begin_of(*sid, self)).collect();
        let began_ms = begins.iter().flatten().map(|begin| begin.ms).min();
        let ballots = self.ballots(looks, &counted, *room);
        *room = ballots.as_ref().map_or(0, |&(_, left)| left);
        Election {
            server: self.log.server.clone(),
            winner: self.look.sid,
            round: self.cast.round,
            vote: self.cast.vote,
            rule: self.rule(&begins),
            began_ms: began_ms.unwrap_or(self.look.began_ms),
            quorum_ms: self.quorum_ms(voters / 2 + 1),
            won_ms: self.won_ms,
            established: self.look.established.clone(),
            counted,
            left_out: ballots.is_none(),
            ballots: ballots.map(|(ballots, _)| ballots).unwrap_or_default(),
        }
    }

    /// By which rule the winner's vote beat the highest one with which another counted voter had begun.
    fn rule(&self, begins: &[Option<LookBegin>]) -> Option<VoteRule> {
        let other = |begin: &Option<LookBegin>| begin.is_none_or(|begin| begin.sid != self.look.sid);
        let others = begins.iter().copied().filter(other);
        let firsts: Option<Vec<LeaderVote>> = others.map(|begin| begin?.vote).collect();
        self.cast.vote.beats(firsts?.into_iter().max()?)
    }

    /// What all servers cast until the election was won, in rounds up to the winner's, and how much room is left;
    /// `None` if there is not enough.
    fn ballots(&self, looks: &LookingSpells<'a>, counted: &BTreeSet<i64>, room: usize) -> Option<(Vec<Ballot>, usize)> {
        let (mut ballots, mut room) = (Vec::new(), room);
        for server in &looks.servers {
            room = room.checked_sub(1)?;
            let Some((number, look)) = server.during(self) else {
                continue;
            };
            let until = |(cast, _): &&JustifiedVote| cast.ms <= self.won_ms && cast.round <= self.cast.round;
            let before = ballots.len();
            let ballot = |&(cast, rule): &JustifiedVote| Ballot {
                sid: look.sid,
                cast,
                rule,
                counted: counted.contains(&look.sid),
            };
            ballots.extend(server.turns(number).iter().take_while(until).take(room + 1).map(ballot));
            room = room.checked_sub(ballots.len() - before)?;
        }
        ballots.sort_by_key(|ballot| (ballot.cast.ms, ballot.sid));
        Some((ballots, room))
    }

    /// Whose votes were counted: each voter's last one of the round that had arrived, if it is for the winner.
    pub fn counted(&self) -> BTreeSet<i64> {
        let last: BTreeMap<i64, LeaderVote> = self.round().map(|(_, sid, vote)| (sid, vote)).collect();
        let agrees = |(sid, vote)| (vote == self.cast.vote).then_some(sid);
        last.into_iter().filter_map(agrees).collect()
    }

    /// The votes of those looking in the winner's round, as they reached the winner.
    fn round(&self) -> impl Iterator<Item = (i64, i64, LeaderVote)> + 'a {
        let round = self.cast.round;
        self.look.seen.iter().filter_map(move |(ms, message)| {
            let in_it = message.round == round && message.state == ServerRole::Looking;
            in_it.then_some((*ms, message.sid, message.vote))
        })
    }

    /// When the votes of `quorum` voters for the winner had arrived.
    pub fn quorum_ms(&self, quorum: usize) -> Option<i64> {
        let mut agree = BTreeSet::new();
        self.round().find_map(|(ms, sid, vote)| {
            if vote == self.cast.vote {
                agree.insert(sid);
            }
            (agree.len() >= quorum).then_some(ms)
        })
    }
}

/// The looks of all servers.
#[derive(Debug)]
pub(super) struct LookingSpells<'a> {
    /// The looks of each log, in the order of the logs.
    pub servers: Vec<ServerLooks<'a>>,
    /// By server id the index of its log; `None` where several logs name the same id.
    by_sid: HashMap<i64, Option<usize>>,
}

#[derive(Debug)]
pub(super) struct ServerLooks<'a> {
    pub log: &'a ServerLog,
    /// The votes of each look, repetitions left out.
    turns: Vec<Vec<JustifiedVote>>,
    all: LookSpans<'a>,
    /// The looks in which a vote was cast in a round.
    voted: HashMap<(i64, LeaderVote), LookSpans<'a>>,
}

/// A vote of a look, and why it is another than the one before; `None` for the first, and for one that no rule allows.
pub(super) type JustifiedVote = (CastVote, Option<VoteRule>);

/// When a server began the look in which it voted, and for whom.
#[derive(Debug, Clone, Copy)]
struct LookBegin {
    sid: i64,
    ms: i64,
    /// Its first vote; `None` if that is not known, and of the winner.
    vote: Option<LeaderVote>,
}

/// Looks with their numbers, the one that began last first, and until when each was under way.
#[derive(Debug)]
struct LookSpans<'a> {
    looks: Vec<(usize, &'a LeaderSearch)>,
    over: MaxTree,
}

impl<'a> LookSpans<'a> {
    fn new(mut looks: Vec<(usize, &'a LeaderSearch)>) -> Self {
        looks.sort_by_key(|&(number, look)| Reverse((look.began_ms, number)));
        let over = |&(_, look): &(usize, &LeaderSearch)| look.end.map_or(u64::MAX, |(end, _)| ordered(end));
        let over = MaxTree::new(looks.iter().map(over).collect());
        Self { looks, over }
    }

    /// The one that began last of those under way at some moment of the span.
    fn last(&self, from_ms: i64, until_ms: i64) -> Option<(usize, &'a LeaderSearch)> {
        let begun = self.looks.partition_point(|(_, look)| look.began_ms > until_ms);
        Some(self.looks[self.over.first(begun, ordered(from_ms))?])
    }
}

/// Milliseconds as numbers without a sign, in the same order.
fn ordered(ms: i64) -> u64 {
    ms.cast_unsigned() ^ (1 << 63)
}

impl<'a> LookingSpells<'a> {
    pub fn new(logs: &'a [ServerLog]) -> Self {
        let mut by_sid: HashMap<i64, Option<usize>> = HashMap::new();
        for (at, log) in logs.iter().enumerate() {
            if let Some(sid) = log.sid() {
                by_sid.entry(sid).and_modify(|known| *known = None).or_insert(Some(at));
            }
        }
        let servers = logs.iter().map(ServerLooks::new).collect();
        Self { servers, by_sid }
    }

    /// The server of this id; `None` if no log names it, or several do.
    pub fn server(&self, sid: i64) -> Option<&ServerLooks<'a>> {
        self.by_sid.get(&sid).copied().flatten().map(|at| &self.servers[at])
    }

    /// How a counted voter began; `None` if that is not known.
    fn begin_of(&self, sid: i64, win: &WonLook<'a>) -> Option<LookBegin> {
        let begin = |ms: i64, turns: &[JustifiedVote]| LookBegin {
            sid,
            ms,
            vote: turns.first().map(|(first, _)| first.vote),
        };
        if sid == win.look.sid {
            return Some(begin(win.look.began_ms, &[]));
        }
        let server = self.server(sid)?;
        let (number, look) = server.during(win)?;
        (look.sid == sid).then(|| begin(look.began_ms, server.turns(number)))
    }

    /// How many servers vote, as their logs show.
    pub fn voters(&self) -> usize {
        let votes = |server: &&ServerLooks<'_>| server.turns.iter().any(|turns| !turns.is_empty());
        self.servers.iter().filter(votes).count()
    }
}

impl<'a> ServerLooks<'a> {
    fn new(log: &'a ServerLog) -> Self {
        let looks: Vec<(usize, &LeaderSearch)> = log.looks().map(|(_, look)| look).enumerate().collect();
        let mut turns = Vec::with_capacity(looks.len());
        let mut voted: HashMap<(i64, LeaderVote), Vec<(usize, &LeaderSearch)>> = HashMap::new();
        for &(number, look) in &looks {
            let of = self::turns(look);
            let each: BTreeSet<(i64, LeaderVote)> = of.iter().map(|(cast, _)| (cast.round, cast.vote)).collect();
            for vote in each {
                voted.entry(vote).or_default().push((number, look));
            }
            turns.push(of);
        }
        let voted = voted.into_iter();
        Self {
            log,
            turns,
            all: LookSpans::new(looks),
            voted: voted.map(|(vote, looks)| (vote, LookSpans::new(looks))).collect(),
        }
    }

    /// What the server was doing while an election was won: of its looks under way then, the one in which it voted for
    /// the winner in this round, or else any; of several the one that began last. With the number of the look.
    pub fn during(&self, win: &WonLook<'a>) -> Option<(usize, &'a LeaderSearch)> {
        if std::ptr::eq(self.log, win.log) {
            return Some((win.number, win.look));
        }
        let vote = (win.cast.round, win.cast.vote);
        let voted = self.voted.get(&vote);
        let found = voted.and_then(|spans| spans.last(win.look.began_ms, win.won_ms));
        found.or_else(|| self.all.last(win.look.began_ms, win.won_ms))
    }

    /// The votes of a look by its number.
    pub fn turns(&self, look: usize) -> &[JustifiedVote] {
        &self.turns[look]
    }
}

/// What a server cast in a look, repetitions left out.
fn turns(look: &LeaderSearch) -> Vec<JustifiedVote> {
    let mut turns: Vec<JustifiedVote> = Vec::new();
    for cast in look.casts() {
        let rule = match (turns.first(), turns.last()) {
            (Some(_), Some((last, _))) if (last.round, last.vote) == (cast.round, cast.vote) => continue,
            (Some((first, _)), Some((last, _))) => why(*first, *last, cast),
            _ => None,
        };
        turns.push((cast, rule));
    }
    turns
}

/// Why a server casts another vote than its last one; `None` if no rule allows it.
///
/// A higher round makes it begin again: it compares the vote that came with the round to its own first one.
fn why(first: CastVote, last: CastVote, cast: CastVote) -> Option<VoteRule> {
    if cast.round != last.round {
        return Some(cast.vote.beats(first.vote).unwrap_or(VoteRule::Round));
    }
    cast.vote.beats(last.vote)
}

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
