//! The looks for a leader that their servers won, and the votes that had reached them then.

use std::collections::{BTreeMap, BTreeSet};
use zooquake_history::server_log::{CastVote, LeaderSearch, LeaderVote, ServerLog, ServerRole};

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
