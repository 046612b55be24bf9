//! `lesser-vote-won`: a voter counted in the winner's quorum had, looking for a leader in that round, put itself forward
//! with a higher vote.
//!
//! Within one look and one round a server only ever changes to a higher vote. So a voter that proposed itself with a
//! higher vote than the winner's, and then voted for the winner, in the same look and round, broke the order of votes.
//! Both are read in the voter's own log, where its broadcasts stand in the order in which it made them; that the vote
//! arrived while the winner was looking, in the winner's.

use super::elections::{Win, wins};
use super::log::{Cast, Look, ServerLog};
use super::{Ensemble, Suspicion};

/// Looks for winners with a lesser vote. Returns how many elections it judged: those whose winner's and voters' logs are
/// whole.
pub fn check(ensemble: &Ensemble<'_>, found: &mut Vec<Suspicion>) -> usize {
    let mut judged = 0;
    for win in wins(ensemble.logs) {
        let counted = win.counted();
        let voters: Vec<&ServerLog> = ensemble
            .logs
            .iter()
            .filter(|log| log.sid().is_some_and(|sid| counted.contains(&sid)))
            .collect();
        let whole = |log: &&ServerLog| log.cuts.is_empty();
        if voters.len() == counted.len() && voters.iter().all(whole) {
            judged += 1;
        }
        for log in voters.into_iter().filter(whole).filter(|_| win.log.cuts.is_empty()) {
            if let Some((look, higher, vote)) = win.look_of(log).and_then(|look| betrayal(&win, look)) {
                found.push(suspicion(ensemble, &win, log, look, [higher, vote]));
            }
        }
    }
    judged
}

/// The look in which a voter put itself forward with a higher vote and then voted for the winner, and both votes.
fn betrayal<'a>(win: &Win<'_>, look: &'a Look) -> Option<(&'a Look, Cast, Cast)> {
    let mut round = look.casts().filter(|cast| cast.round == win.cast.round);
    let own = |cast: &Cast| cast.vote.leader == look.sid && cast.vote > win.cast.vote;
    let higher = round.find(own)?;
    let vote = round.find(|cast| cast.vote == win.cast.vote)?;
    Some((look, higher, vote))
}

fn suspicion(ensemble: &Ensemble<'_>, win: &Win<'_>, log: &ServerLog, look: &Look, casts: [Cast; 2]) -> Suspicion {
    let clock = ensemble.clock;
    let [higher, vote] = casts;
    let counted: Vec<String> = win.counted().iter().map(i64::to_string).collect();
    let rule = higher.vote.beats(win.cast.vote).map_or("", |rule| rule.name());
    Suspicion {
        kind: "lesser-vote-won",
        property: "the highest vote of a quorum wins",
        span: clock.run_ns(look.began_ms).zip(clock.run_ns(win.won_ms)),
        why: format!(
            "{} won round {} at {} with the vote {}, counting the servers {}; but {}, which it counted, had put itself forward \
             in that round with {} at {}, which is higher by its {rule}, and voted for {} at {} nevertheless.",
            win.log.server,
            win.cast.round,
            clock.at(win.won_ms),
            win.cast.vote,
            counted.join(", "),
            log.server,
            higher.vote,
            clock.at(higher.ms),
            win.log.server,
            clock.at(vote.ms),
        ),
    }
}
