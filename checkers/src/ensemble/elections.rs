//! The elections of a run: who proposed whom, who changed its vote and why, who won.

use super::event::State;
use super::log::{Cast, Established, Look, ServerLog};
use super::vote::{Rule, Vote};
use std::collections::{BTreeMap, BTreeSet};

/// One election: a server looked for a leader and found itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Election {
    /// The winner, such as `n3`.
    pub server: String,
    /// Its id.
    pub winner: i64,
    /// The round it won in, by its own count: rounds begin at 1 with every start of a process, and repeat.
    pub round: i64,
    /// The vote that won, the winner's own.
    pub vote: Vote,
    /// By which rule that vote beat the highest one with which another counted voter had put itself forward. `None` if
    /// there was no other, or if what one proposed first is not known.
    pub rule: Option<Rule>,
    /// Those whose vote for it, cast while they looked for a leader in that round, had reached it when it won; itself too.
    pub counted: BTreeSet<i64>,
    /// When the first of them began to look, in milliseconds since 1970.
    pub began_ms: i64,
    /// When votes of more than half of the voters had reached the winner, if the logs show it.
    pub quorum_ms: Option<i64>,
    /// When it knew that it had won.
    pub won_ms: i64,
    /// What it came to lead. A winner that no quorum acknowledged leads nothing ("Follower is ahead of the leader").
    pub established: Option<Established>,
    /// The votes that were cast, by the servers that were LOOKING then, in the order of their times.
    pub ballots: Vec<Ballot>,
}

/// A vote that a server cast, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballot {
    /// Who.
    pub sid: i64,
    /// When, in which round, for whom.
    pub cast: Cast,
    /// Why it is another than the voter's one before; `None` for its first, and for one that no rule allows.
    pub rule: Option<Rule>,
    /// Whether the voter's vote was counted in the end.
    pub counted: bool,
}

/// A look that its server won.
#[derive(Debug, Clone, Copy)]
pub(super) struct Win<'a> {
    pub log: &'a ServerLog,
    pub look: &'a Look,
    pub won_ms: i64,
    /// Its last vote: for itself.
    pub cast: Cast,
}

/// All elections of a run in the order in which they were won, from the logs of its servers.
pub fn elections(logs: &[ServerLog]) -> Vec<Election> {
    wins(logs).into_iter().map(|win| win.election(logs)).collect()
}

/// The looks that were won, in the order of time.
pub(super) fn wins(logs: &[ServerLog]) -> Vec<Win<'_>> {
    let mut wins = Vec::new();
    for log in logs {
        for (_, look) in log.looks() {
            let Some((won_ms, State::Leading)) = look.end else {
                continue;
            };
            let cast = look.casts().last().filter(|cast| cast.vote.leader == look.sid);
            wins.extend(cast.map(|cast| Win {
                log,
                look,
                won_ms,
                cast,
            }));
        }
    }
    wins.sort_by_key(|win| (win.won_ms, win.look.sid));
    wins
}

impl<'a> Win<'a> {
    /// Whose votes were counted: each voter's last one of the round that had arrived, if it is for the winner.
    pub fn counted(&self) -> BTreeSet<i64> {
        let last: BTreeMap<i64, Vote> = self.round().map(|(_, sid, vote)| (sid, vote)).collect();
        let agrees = |(sid, vote)| (vote == self.cast.vote).then_some(sid);
        last.into_iter().filter_map(agrees).collect()
    }

    /// The votes of those looking in the winner's round, as they reached the winner.
    fn round(&self) -> impl Iterator<Item = (i64, i64, Vote)> + 'a {
        let round = self.cast.round;
        self.look.seen.iter().filter_map(move |(ms, message)| {
            let in_it = message.round == round && message.state == State::Looking;
            in_it.then_some((*ms, message.sid, message.vote))
        })
    }

    /// When the votes of `quorum` voters for the winner had arrived.
    fn quorum_ms(&self, quorum: usize) -> Option<i64> {
        let mut agree = BTreeSet::new();
        self.round().find_map(|(ms, sid, vote)| {
            if vote == self.cast.vote {
                agree.insert(sid);
            }
            (agree.len() >= quorum).then_some(ms)
        })
    }

    /// What a server was doing meanwhile: of its looks under way then, the one in which it voted for the winner in this
    /// round, or else the last.
    pub fn look_of(&self, log: &'a ServerLog) -> Option<&'a Look> {
        if log.server == self.log.server {
            return Some(self.look);
        }
        let meanwhile = || {
            log.looks()
                .map(|(_, look)| look)
                .filter(|look| look.overlaps(self.look.began_ms, self.won_ms))
        };
        let voted = |look: &Look| {
            look.casts()
                .any(|cast| (cast.round, cast.vote) == (self.cast.round, self.cast.vote))
        };
        let found = meanwhile().filter(|look| voted(look)).last();
        found.or_else(|| meanwhile().last())
    }

    fn election(&self, logs: &[ServerLog]) -> Election {
        let looks: Vec<&Look> = logs.iter().filter_map(|log| self.look_of(log)).collect();
        let counted = self.counted();
        let of_voters = || looks.iter().filter(|look| counted.contains(&look.sid));
        let mut ballots: Vec<Ballot> = looks
            .iter()
            .flat_map(|look| self.ballots(look, counted.contains(&look.sid)))
            .collect();
        ballots.sort_by_key(|ballot| (ballot.cast.ms, ballot.sid));
        let voters = logs.iter().filter(|log| votes(log)).count();
        Election {
            server: self.log.server.clone(),
            winner: self.look.sid,
            round: self.cast.round,
            vote: self.cast.vote,
            rule: self.rule(&looks, &counted),
            began_ms: of_voters()
                .map(|look| look.began_ms)
                .min()
                .unwrap_or(self.look.began_ms),
            quorum_ms: self.quorum_ms(voters / 2 + 1),
            won_ms: self.won_ms,
            established: self.look.established.clone(),
            counted,
            ballots,
        }
    }

    /// By which rule the winner's vote beat the highest one with which another counted voter had begun.
    fn rule(&self, looks: &[&Look], counted: &BTreeSet<i64>) -> Option<Rule> {
        let first = |sid: &i64| {
            let look = looks.iter().find(|look| look.sid == *sid)?;
            Some(look.casts().next()?.vote)
        };
        let others = counted.iter().filter(|sid| **sid != self.look.sid);
        let firsts: Option<Vec<Vote>> = others.map(first).collect();
        self.cast.vote.beats(firsts?.into_iter().max()?)
    }

    /// What a server cast until the election was won, repetitions left out, in rounds up to the winner's.
    fn ballots(&self, look: &Look, counted: bool) -> Vec<Ballot> {
        let mut ballots: Vec<Ballot> = Vec::new();
        let until = |cast: &Cast| cast.ms <= self.won_ms && cast.round <= self.cast.round;
        for cast in look.casts().filter(until) {
            let rule = match (ballots.first(), ballots.last()) {
                (Some(_), Some(last)) if (last.cast.round, last.cast.vote) == (cast.round, cast.vote) => continue,
                (Some(first), Some(last)) => why(first.cast, last.cast, cast),
                _ => None,
            };
            ballots.push(Ballot {
                sid: look.sid,
                cast,
                rule,
                counted,
            });
        }
        ballots
    }
}

/// Why a server casts another vote than its last one; `None` if no rule allows it.
///
/// A higher round makes it begin again: it compares the vote that came with the round to its own first one.
fn why(first: Cast, last: Cast, cast: Cast) -> Option<Rule> {
    if cast.round != last.round {
        return Some(cast.vote.beats(first.vote).unwrap_or(Rule::Round));
    }
    cast.vote.beats(last.vote)
}

/// Whether a server votes, as its log shows.
fn votes(log: &ServerLog) -> bool {
    log.looks().any(|(_, look)| look.casts().next().is_some())
}
