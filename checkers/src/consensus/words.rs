//! Violations in words.

use super::divergence::LogDivergence;
use super::violation::{ConsensusViolation, Credentials, LeaderViolation, ViolationKind};
use crate::analysis::Analysis;

/// What happened, in one paragraph.
pub fn why(violation: &ConsensusViolation, names: &[String], run: &Analysis<'_>) -> String {
    let name = |node: u8| names.get(usize::from(node)).map_or("a node", String::as_str);
    let at = |nth: usize| violation.witness.get(nth).map_or(String::new(), |&place| run.at(place));
    match &violation.kind {
        ViolationKind::Disagreement {
            nodes: (first, second),
            values: ((one, round), (other, later)),
        } => {
            let public = |nth: usize, node: u8, value: u32, round: Option<u32>| match round {
                Some(round) => format!(
                    "{} learned at {} that the value {value} is chosen, by the votes of round {round}",
                    name(node),
                    at(nth)
                ),
                None => format!(
                    "{} was answered at {} that the value {value} is chosen",
                    name(node),
                    at(nth)
                ),
            };
            format!(
                "{}; {}. One value at most is chosen.",
                public(0, *first, *one, *round),
                public(1, *second, *other, *later)
            )
        }
        ViolationKind::InvalidValue { node, value } => format!(
            "{} made public at {} that the value {value} is chosen, which nobody had proposed.",
            name(*node),
            at(0)
        ),
        ViolationKind::Leader(violation) => leader(*violation, &name, &at, run),
        ViolationKind::LostMessage { value, leader, round } => format!(
            "Message {value} was acknowledged at {}. {}, which leads the latest epoch, {round}, from {} on, does not have it in its \
             log.",
            at(0),
            name(*leader),
            at(1)
        ),
        ViolationKind::DivergingReplicas(divergence) => diverging(divergence, &name, run),
        ViolationKind::NoDecision { lacking } => {
            let lacking: Vec<&str> = (0..32).filter(|node| lacking >> node & 1 == 1).map(name).collect();
            format!(
                "Every fault was healed at {}, and by the end of the run, {} later, {} had neither learned what was chosen nor been \
                 answered.",
                healed(run),
                patience(run),
                lacking.join(", ")
            )
        }
    }
}

fn leader<'a>(
    violation: LeaderViolation,
    name: &impl Fn(u8) -> &'a str,
    at: &impl Fn(usize) -> String,
    run: &Analysis<'_>,
) -> String {
    match violation {
        LeaderViolation::TwoAtOnce { first, second } => format!(
            "{} led from {} on, and had neither resigned nor died when {} began to lead at {}: two led at one moment.",
            name(first),
            at(0),
            name(second),
            at(1)
        ),
        LeaderViolation::TwoOfEpoch { first, second, round }
        | LeaderViolation::TwoOfPartition { first, second, round } => format!(
            "{} led epoch {round} from {} on, and {} led the same epoch from {} on.",
            name(first),
            at(0),
            name(second),
            at(1)
        ),
        LeaderViolation::LesserVote {
            leader: (leader, own),
            voter: (voter, theirs),
        } => format!(
            "{} was elected at {} with {}. {}, one of those whose votes elected it, has {}, which is the greater vote.",
            name(leader),
            at(2),
            credentials(own),
            name(voter),
            credentials(theirs)
        ),
        LeaderViolation::None => format!(
            "Every fault was healed at {}, and at the end of the run, {} later, there was no one leader that a majority followed.",
            healed(run),
            patience(run)
        ),
    }
}

fn diverging<'a>(divergence: &LogDivergence, name: &impl Fn(u8) -> &'a str, run: &Analysis<'_>) -> String {
    let LogDivergence {
        replicas: (one, other),
        offset,
        values: (first, second),
        shared,
        round,
        places: (here, there),
        ..
    } = *divergence;
    let both = match shared == offset {
        true => format!("both records are of epoch {round}, in which an offset has one record"),
        false => format!(
            "both have a record of epoch {round} at offset {shared}, before which their logs are to be the same"
        ),
    };
    format!(
        "At the end {} has message {first} at offset {offset}, stored at {}, and {} has message {second} there, stored at {}; {both}. \
         Both run, and are in sync by the last state of the register, of {}.",
        name(one),
        run.at(here),
        name(other),
        run.at(there),
        run.at(divergence.register)
    )
}

fn credentials((epoch, zxid, _): Credentials) -> String {
    format!("epoch {epoch}, zxid {zxid}")
}

/// When all faults were healed.
fn healed(run: &Analysis<'_>) -> String {
    run.phase("recovered").map_or(String::new(), |place| run.at(place))
}

/// How long the run went on after that.
fn patience(run: &Analysis<'_>) -> String {
    let time = |name: &str| run.phase(name).map_or(0, |place| run.events[place].time);
    crate::text::seconds(time("done").saturating_sub(time("recovered")))
}
