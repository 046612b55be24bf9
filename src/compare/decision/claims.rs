//! What papers claim of a decision, and where the protocols as they are played differ from it.
//!
//! "Paxos Made Simple" is Lamport's paper of 2001, "Fast Paxos" that of 2006 (Distributed Computing 19(2)). Numbers of
//! messages are those of the steps that the sections describe. What proposers send again while they wait for a
//! coordinator no paper counts.

use super::situation::DecisionSituation;
use std::fmt;
use zooquake_reports::decision::CostClaim;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionClaim {
    /// Message delays from the request, or from the last timeout.
    delays: u32,
    /// Messages from the request on; `None` if none are claimed.
    messages: Option<MessageFormula>,
    /// The fewest acceptors for which it is claimed.
    fewest: u8,
    /// The paper and its sections.
    source: &'static str,
    /// Why what is measured differs, with the section; empty where nothing does.
    explanation: &'static str,
}

/// The fewest acceptors of a group.
const FEWEST: u8 = 3;

/// What the steps of a decision have in common: a message to each acceptor, and a vote of each for each learner.
const VOTES: MessageFormula = MessageFormula {
    n: 1,
    n_l: 1,
    ..MessageFormula::NOTHING
};

impl DecisionClaim {
    const fn new(delays: u32, messages: MessageFormula, source: &'static str) -> Self {
        Self {
            delays,
            messages: Some(messages),
            fewest: FEWEST,
            source,
            explanation: "",
        }
    }

    /// The message delays with so many acceptors; `None` if none are claimed.
    pub fn delays(&self, acceptors: u8) -> Option<u32> {
        (acceptors >= self.fewest).then_some(self.delays)
    }

    /// The messages with so many acceptors and learners; `None` if none are claimed.
    pub fn messages(&self, acceptors: u8, learners: u8) -> Option<u32> {
        let formula = self.messages.filter(|_| acceptors >= self.fewest);
        formula.map(|formula| formula.count(acceptors, learners))
    }

    /// The claim as reports have it.
    pub fn written(&self) -> CostClaim {
        let bounded = |text: String| match self.fewest {
            FEWEST => text,
            fewest => format!("{text} from {fewest} acceptors on"),
        };
        CostClaim {
            delays: bounded(self.delays.to_string()),
            messages: self
                .messages
                .map_or_else(String::new, |formula| bounded(formula.to_string())),
            source: self.source.to_owned(),
            explanation: self.explanation.to_owned(),
        }
    }
}

/// The claim about a protocol, by the name of its variant, in a situation; `None` if it is none of Paxos' kind.
pub fn claim(protocol: &str, situation: DecisionSituation) -> Option<DecisionClaim> {
    let fast = match protocol {
        "paxos" => return Some(paxos(situation)),
        "fast-paxos-restart" => FastClaims {
            collision: DecisionClaim::new(6, collided(6, 0), RECOVERY),
            explanation: REPORTED,
            acceptors_recover: false,
        },
        "fast-paxos" => FastClaims {
            collision: DecisionClaim::new(4, collided(4, 0), RECOVERY),
            explanation: REPORTED,
            acceptors_recover: false,
        },
        "fast-paxos-uncoordinated" => FastClaims {
            collision: DecisionClaim {
                explanation: REPORTED_TOO,
                ..DecisionClaim::new(3, collided(1, 1), RECOVERY)
            },
            explanation: EXCHANGED,
            acceptors_recover: true,
        },
        _ => return None,
    };
    Some(fast.claim(situation))
}

fn paxos(situation: DecisionSituation) -> DecisionClaim {
    let with = |constant, n| MessageFormula { constant, n, ..VOTES };
    let takeover = DecisionClaim::new(
        5,
        with(2, 3),
        "\"Paxos Made Simple\", 2.4 and 3: a new leader executes phase 1",
    );
    match situation {
        DecisionSituation::Prepared => {
            DecisionClaim::new(3, with(1, 1), "\"Fast Paxos\", 1; \"Paxos Made Simple\", 2.2 and 2.3")
        }
        DecisionSituation::Unprepared => DecisionClaim::new(5, with(1, 3), "\"Paxos Made Simple\", 2.2 and 2.3"),
        DecisionSituation::Collision => {
            DecisionClaim::new(3, with(2, 1), "\"Paxos Made Simple\", 2.4: one proposer leads")
        }
        DecisionSituation::LeaderLostEarly | DecisionSituation::LeaderLost => takeover,
        // Which proposers ask again hangs on their timeouts.
        DecisionSituation::CollisionWithoutLeader => DecisionClaim {
            messages: None,
            ..takeover
        },
        DecisionSituation::AcceptorLost => DecisionClaim::new(
            3,
            MessageFormula { l: -1, ..with(1, 1) },
            "\"Paxos Made Simple\", 2.2: a majority is enough",
        ),
    }
}

/// Two proposals and the votes of two rounds, with `n` messages for each acceptor and `n_squared` for each pair.
const fn collided(n: i32, n_squared: i32) -> MessageFormula {
    MessageFormula {
        n,
        n_squared,
        n_l: 2,
        ..MessageFormula::NOTHING
    }
}

const RECOVERY: &str = "\"Fast Paxos\", 3.2";
const REPORTED: &str = "Each acceptor sends its vote in a fast round to the coordinator too, which learns of a collision that way: one message more \
     for each vote. \"Fast Paxos\", section 3.2.";
const REPORTED_TOO: &str = "Each acceptor sends its vote in a fast round to the coordinator too, which begins a higher round if the recovery leads to no \
     decision: one message more for each vote. \"Fast Paxos\", section 3.2.";
const EXCHANGED: &str = "Each acceptor sends its vote in a fast round to all other acceptors too, which recover from a collision by these votes, and to the \
     coordinator: n messages more for each vote. \"Fast Paxos\", section 3.2.";

/// The claims about Fast Paxos with one kind of recovery.
struct FastClaims {
    /// Where two proposals collide.
    collision: DecisionClaim,
    /// Why more messages are sent in a fast round than its decision takes.
    explanation: &'static str,
    /// Whether acceptors recover from collisions without a coordinator.
    acceptors_recover: bool,
}

impl FastClaims {
    fn claim(&self, situation: DecisionSituation) -> DecisionClaim {
        let explained = |claim| DecisionClaim {
            explanation: self.explanation,
            ..claim
        };
        let takeover = DecisionClaim {
            messages: None,
            ..DecisionClaim::new(5, VOTES, "\"Fast Paxos\", 2.2.1: another coordinator's classic round")
        };
        match situation {
            DecisionSituation::Prepared => explained(DecisionClaim::new(2, VOTES, "\"Fast Paxos\", 1 and 3.1")),
            DecisionSituation::Unprepared => {
                let messages = MessageFormula { n: 4, ..VOTES };
                explained(DecisionClaim::new(4, messages, "\"Fast Paxos\", 3.1"))
            }
            DecisionSituation::Collision => self.collision,
            DecisionSituation::LeaderLostEarly => takeover,
            DecisionSituation::LeaderLost => explained(DecisionClaim::new(
                2,
                VOTES,
                "\"Fast Paxos\", 3.1: no coordinator takes part",
            )),
            DecisionSituation::CollisionWithoutLeader if self.acceptors_recover => self.collision,
            DecisionSituation::CollisionWithoutLeader => takeover,
            DecisionSituation::AcceptorLost => DecisionClaim {
                fewest: 4,
                ..explained(DecisionClaim::new(
                    2,
                    MessageFormula { l: -1, ..VOTES },
                    "\"Fast Paxos\", 3.4.1: ⌈3n/4⌉ of 3 acceptors are all three",
                ))
            },
        }
    }
}

/// How many messages there are with n acceptors and l learners; the fields are the factors of its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageFormula {
    /// Messages whatever the sizes.
    pub constant: i32,
    /// The factor of n.
    pub n: i32,
    /// The factor of n².
    pub n_squared: i32,
    /// The factor of n·l.
    pub n_l: i32,
    /// The factor of l.
    pub l: i32,
}

impl MessageFormula {
    /// No message.
    pub const NOTHING: Self = Self {
        constant: 0,
        n: 0,
        n_squared: 0,
        n_l: 0,
        l: 0,
    };

    /// The number for these sizes.
    ///
    /// # Panics
    /// If it is negative.
    pub fn count(self, acceptors: u8, learners: u8) -> u32 {
        let (n, l) = (i32::from(acceptors), i32::from(learners));
        let sum = self.constant + self.n * n + self.n_squared * n * n + self.n_l * n * l + self.l * l;
        u32::try_from(sum).expect("no number of messages is negative")
    }
}

/// `1 + n + n·l`.
impl fmt::Display for MessageFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = [
            (self.constant, ""),
            (self.n, "n"),
            (self.n_squared, "n²"),
            (self.n_l, "n·l"),
            (self.l, "l"),
        ];
        for (place, (factor, unit)) in terms.into_iter().filter(|(factor, _)| *factor != 0).enumerate() {
            match (place, factor < 0) {
                (0, false) => {}
                (0, true) => f.write_str("−")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" − ")?,
            }
            match (factor.unsigned_abs(), unit) {
                (size, "") => write!(f, "{size}")?,
                (1, unit) => f.write_str(unit)?,
                (size, unit) => write!(f, "{size}{unit}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MessageFormula;

    #[test]
    fn a_formula_is_written_as_it_is_counted() {
        let paxos = MessageFormula {
            constant: 1,
            n: 1,
            n_l: 1,
            ..MessageFormula::NOTHING
        };
        assert_eq!((paxos.to_string(), paxos.count(5, 2)), ("1 + n + n·l".to_owned(), 16));
        let other = MessageFormula {
            n: -1,
            n_squared: 2,
            n_l: 3,
            l: -1,
            ..MessageFormula::NOTHING
        };
        assert_eq!(
            (other.to_string(), other.count(3, 2)),
            ("−n + 2n² + 3n·l − l".to_owned(), 31)
        );
    }
}
