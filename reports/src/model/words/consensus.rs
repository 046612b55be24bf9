//! Of consensus protocols: what clients ask for, and what nodes make public.

use super::{EventContext, FamilyWords, GENERAL, Terms};
use zooquake_history::EventType::{Info, Invoke, Ok};
use zooquake_history::operation::consensus::{self, CONTENT, f};
use zooquake_history::plan::ConsensusGoal;

const TERMS: Terms = Terms {
    work: "proposes or appends",
    took: "answered",
    ..GENERAL
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &consensus::FAMILY,
    terms: |_| &TERMS,
    predicate,
};

/// What a protocol for a goal calls that in which a node leads.
pub fn round_word(goal: ConsensusGoal) -> &'static str {
    match goal {
        ConsensusGoal::EpochLeader | ConsensusGoal::Log => "epoch",
        ConsensusGoal::OneLeader => "term",
        _ => "round",
    }
}

/// The predicate of an event of a consensus protocol.
fn predicate(context: EventContext<'_>) -> Option<String> {
    let value = |name: &str| match context.event.value.get(name) {
        Some(value) => value.to_string().replace('"', ""),
        None => "?".to_owned(),
    };
    let round = |word: &str| format!("{word} {}", value("round"));
    let led = || match context.goal {
        ConsensusGoal::Value => round(context.voting),
        goal => round(round_word(goal)),
    };
    // FastLeaderElection counts elections apart from the epochs that they lead to.
    let election = || match context.goal {
        ConsensusGoal::OneLeader => led(),
        _ => round("round"),
    };
    Some(match context.what() {
        (f::PROPOSE, Invoke) => format!("proposes {}", context.field(CONTENT)),
        (f::PROPOSE, Ok) => format!("is answered that {} is chosen", context.field(CONTENT)),
        (f::APPEND, Invoke) => format!("has message {} appended", context.field(CONTENT)),
        (f::APPEND, Ok) => format!("has message {} acknowledged", context.field(CONTENT)),
        (consensus::NODES, Info) => "names its nodes".to_owned(),
        ("learned", Info) => format!("learns that {} is chosen, in {}", value("value"), led()),
        ("credentials", Info) => format!("has epoch {} and zxid {}", value("epoch"), value("zxid")),
        ("looking", Info) => format!("looks for a leader, in {}", election()),
        ("elected", Info) => format!("is elected in {} by {}", election(), value("voters")),
        ("leading", Info) => format!("leads, in {}", led()),
        ("following", Info) => format!("follows {}, in {}", value("leader"), led()),
        ("resigned", Info) => format!("leads and follows no longer, after {}", led()),
        ("stored", Info) => {
            let epoch = match context.event.value.get("round") {
                Some(_) => format!(" of {}", led()),
                None => String::new(),
            };
            format!("stores message {}{epoch} at offset {}", value("value"), value("offset"))
        }
        ("truncated", Info) => format!("cuts its log off at offset {}", value("offset")),
        ("in-sync", Info) => format!("has as in sync: {}", value("replicas")),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{EventContext, predicate};
    use zooquake_history::plan::ConsensusGoal;

    #[test]
    fn a_round_has_the_name_that_its_protocol_gives_it() {
        let said = |goal, f: &str| {
            let line = format!(
                r#"{{"index": 0, "time": 0, "process": "n1", "type": "info", "f": "{f}", "value": {{"round": 3, "voters": 3}}}}"#
            );
            let event = serde_json::from_str(&line).expect("an event");
            let (event, invoke, thing) = (&event, None, "");
            predicate(EventContext {
                event,
                invoke,
                thing,
                goal,
                voting: "ballot",
            })
            .expect("words")
        };
        assert_eq!(said(ConsensusGoal::Log, "leading"), "leads, in epoch 3");
        assert_eq!(said(ConsensusGoal::EpochLeader, "leading"), "leads, in epoch 3");
        assert_eq!(
            said(ConsensusGoal::EpochLeader, "looking"),
            "looks for a leader, in round 3"
        );
        assert_eq!(said(ConsensusGoal::Election, "elected"), "is elected in round 3 by 3");
        assert_eq!(said(ConsensusGoal::Value, "leading"), "leads, in ballot 3");
        assert_eq!(said(ConsensusGoal::OneLeader, "elected"), "is elected in term 3 by 3");
        assert_eq!(
            said(ConsensusGoal::OneLeader, "resigned"),
            "leads and follows no longer, after term 3"
        );
    }
}
