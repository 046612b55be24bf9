//! What each server was doing while another one won an election.
//!
//! Looks are found by the time in which they were under way, and by the votes cast in them, in time logarithmic in
//! their number: a look that never ends overlaps all elections after it.

use super::won_look::WonLook;
use crate::analysis::search_trees::MaxTree;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use zooquake_history::server_log::{CastVote, LeaderSearch, LeaderVote, ServerLog, VoteRule};

/// The looks of all servers.
#[derive(Debug)]
pub(super) struct LookingSpells<'a> {
    /// Those of each log, in the order of the logs.
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
    /// Those in which a vote was cast in a round.
    voted: HashMap<(i64, LeaderVote), LookSpans<'a>>,
}

/// A vote of a look, and why it is another than the one before; `None` for the first, and for one that no rule allows.
pub(super) type JustifiedVote = (CastVote, Option<VoteRule>);

/// When a server began the look in which it voted, and for whom.
#[derive(Debug, Clone, Copy)]
pub(super) struct LookBegin {
    pub sid: i64,
    pub ms: i64,
    /// Its first vote; `None` if that is not known, and of the winner.
    pub vote: Option<LeaderVote>,
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

/// The same order without a sign.
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
    pub fn begin_of(&self, sid: i64, win: &WonLook<'a>) -> Option<LookBegin> {
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
