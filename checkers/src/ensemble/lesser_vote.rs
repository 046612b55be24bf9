//! `lesser-vote-won`: a voter counted in the winner's quorum had, looking for a leader in that round, put itself
//! forward with a higher vote.
//!
//! Within one look and one round a server only ever changes to a higher vote. So a voter that proposed itself with a
//! higher vote than the winner's, and then voted for the winner, in the same look and round, broke the order of votes.
//! Both are read in the voter's own log, where its broadcasts stand in the order in which it made them; that the vote
//! arrived while the winner was looking, in the winner's.

use super::elections::{JustifiedVote, LookingSpells, ServerLooks, WonLook, wins};
use super::{EnsembleElections, Suspicion};
use crate::text::few;
use std::collections::HashMap;
use zooquake_history::server_log::{CastVote, LeaderVote};

/// The votes by which a look breaks the order: by round and vote the higher one for the server itself, and the cast of
/// that vote after it.
type BrokenOrder = HashMap<(i64, LeaderVote), [CastVote; 2]>;

/// Looks for winners with a lesser vote. Returns how many elections it judged: those whose winner's and voters' logs
/// are whole. A server id that several logs name belongs to no known server.
pub fn check(ensemble: &EnsembleElections<'_>, found: &mut Vec<Suspicion>) -> usize {
    let looks = LookingSpells::new(ensemble.logs);
    // By server id and look.
    let mut broken: HashMap<(i64, usize), BrokenOrder> = HashMap::new();
    let mut judged = 0;
    for win in wins(ensemble.logs) {
        let counted = win.counted();
        let server = |&sid: &i64| Some((sid, looks.server(sid)?));
        let voters: Vec<(i64, &ServerLooks<'_>)> = counted.iter().filter_map(server).collect();
        let whole = |(_, server): &(i64, &ServerLooks<'_>)| server.log.cuts.is_empty();
        if voters.len() == counted.len() && voters.iter().all(whole) {
            judged += 1;
        }
        let names: Vec<String> = counted.iter().map(i64::to_string).collect();
        let names = few(&names);
        for (sid, server) in voters.into_iter().filter(whole).filter(|_| win.log.cuts.is_empty()) {
            let Some((number, look)) = server.during(&win) else {
                continue;
            };
            let of_look = broken
                .entry((sid, number))
                .or_insert_with(|| broken_by(look.sid, server.turns(number)));
            if let Some(casts) = of_look.get(&(win.cast.round, win.cast.vote)) {
                found.push(suspicion(ensemble, &win, &names, (server, look.began_ms), *casts));
            }
        }
    }
    judged
}

/// Where a server put itself forward and then, in the same round, cast a lesser vote.
fn broken_by(sid: i64, turns: &[JustifiedVote]) -> BrokenOrder {
    let mut broken = BrokenOrder::new();
    // By round the votes for itself, each higher than all before it.
    let mut highest: HashMap<i64, Vec<CastVote>> = HashMap::new();
    for &(cast, _) in turns {
        let own = highest.entry(cast.round).or_default();
        let first = own.partition_point(|own| own.vote <= cast.vote);
        if let Some(&higher) = own.get(first) {
            broken.entry((cast.round, cast.vote)).or_insert([higher, cast]);
        } else if cast.vote.leader == sid && own.last().is_none_or(|own| own.vote < cast.vote) {
            own.push(cast);
        }
    }
    broken
}

fn suspicion(
    ensemble: &EnsembleElections<'_>,
    win: &WonLook<'_>,
    counted: &str,
    (server, began_ms): (&ServerLooks<'_>, i64),
    [higher, vote]: [CastVote; 2],
) -> Suspicion {
    let clock = ensemble.clock;
    let rule = higher.vote.beats(win.cast.vote).map_or("", |rule| rule.name());
    Suspicion {
        kind: "lesser-vote-won",
        property: "the highest vote of a quorum wins",
        span: clock.run_ns(began_ms).zip(clock.run_ns(win.won_ms)),
        why: format!(
            "{} won round {} at {} with the vote {}, counting the servers {}; but {}, which it counted, had proposed \
             itself in that round with {} at {}, which is higher by its {rule}, and voted for {} at {} nevertheless.",
            win.log.server,
            win.cast.round,
            clock.at(win.won_ms),
            win.cast.vote,
            counted,
            server.log.server,
            higher.vote,
            clock.at(higher.ms),
            win.log.server,
            clock.at(vote.ms),
        ),
    }
}
