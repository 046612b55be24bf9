//! The elections of a run: who proposed whom, who changed its vote and why, who won.

use super::looking_spells::{JustifiedVote, LookBegin, LookingSpells};
use super::won_look::{WonLook, wins};
use std::collections::BTreeSet;
use zooquake_history::server_log::{CastVote, EstablishedLeader, LeaderVote, ServerLog, VoteRule};

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
    /// Whether these are left out: the elections before used up [`MOST`].
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
}
