//! Consensus protocols: what their clients ask for, and what their nodes make public.

use super::{Family, OpSpec, Role, fields};
use crate::event::{Event, Process};
use crate::node::Node;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// Names of the operations.
pub mod f {
    /// To have a value chosen.
    pub const PROPOSE: &str = "propose";
    /// To have a message appended to a replicated log.
    pub const APPEND: &str = "append";
}

/// Consensus protocols in virtual time.
pub const FAMILY: Family = Family {
    name: "consensus",
    recipes: false,
    grants: false,
    ops: &[OpSpec::new(f::PROPOSE, Role::Work), OpSpec::new(f::APPEND, Role::Work)],
    fields: &[],
};

/// What a node makes public. Rounds are ballots, terms, logical clocks or epochs, as its protocol has them; nodes are
/// numbers, in histories their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum Announcement {
    /// Of a client's node: its request has been carried out. For a proposer the value that was chosen, whichever that
    /// is; for a producer the message that was appended.
    Answered { value: u32 },
    /// A learner has learned that a value is chosen.
    Learned {
        value: u32,
        /// The round whose votes chose it.
        round: u32,
    },
    /// A server has these credentials now: what its vote for itself would carry.
    Credentials {
        /// Its current epoch.
        epoch: u32,
        /// The number of its last transaction.
        zxid: u32,
    },
    /// A node seeks a leader; also each time it adopts another round while it does.
    Looking {
        /// The round in which it does.
        round: u32,
    },
    /// A node takes itself for the leader, by the votes that these nodes cast while they were looking too, its own
    /// among them. Nodes that it counts because they follow it already are not among them.
    Elected {
        /// The round of the election.
        round: u32,
        /// The nodes: bit `n` is node `n`.
        voters: u32,
    },
    /// A node leads: it acts as the leader of an epoch that a majority has acknowledged, or of its term.
    Leading {
        /// The epoch or term.
        round: u32,
    },
    /// A node has accepted a leader.
    Following {
        leader: u8,
        /// The epoch or term.
        round: u32,
    },
    /// A node that led, or followed, does so no longer and has not begun to look yet.
    Resigned {
        /// The epoch or term in which it did.
        round: u32,
    },
    /// A replica has an entry in its log, be it in memory alone.
    Stored {
        offset: u32,
        /// The epoch under which it was appended; `None` where a history does not have it, or has something else there.
        #[serde(default, deserialize_with = "round", skip_serializing_if = "Option::is_none")]
        round: Option<u32>,
        /// The message.
        value: u32,
    },
    /// A replica has cut its log off: entries from this offset on are gone.
    Truncated {
        /// The first offset that is gone.
        offset: u32,
    },
    /// Of a partition's register: these replicas are in sync from now on.
    InSync {
        /// The nodes: bit `n` is node `n`.
        replicas: u32,
    },
}

/// A round, if it can be read as one.
fn round<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(value.as_u64().and_then(|round| u32::try_from(round).ok()))
}

/// The event of the process `run` whose value lists the names of all nodes, by their numbers.
pub const NODES: &str = "nodes";

fields! {
    /// The value that is proposed, or chosen; the message that is appended.
    CONTENT, content: i64 = "value";
}

impl Announcement {
    /// The name and the value of its event, in which nodes have these names.
    ///
    /// # Panics
    /// If it names a node that has no name.
    pub fn event(self, names: &[Node]) -> (String, Value) {
        let mut written = serde_json::to_value(self).expect("an announcement is plain data");
        let mut value = written["value"].take();
        match self {
            Self::Following { leader, .. } => value["leader"] = json!(names[usize::from(leader)]),
            Self::Elected { voters, .. } => value["voters"] = json!(members(voters, names)),
            Self::InSync { replicas } => value["replicas"] = json!(members(replicas, names)),
            _ => {}
        }
        let name = written["f"].as_str().expect("it has a tag");
        (name.to_owned(), value)
    }

    /// The announcement of an event with the number of the node that made it; `None` of any other event, and where it
    /// names a node that is not among these.
    pub fn read(event: &Event, names: &[Node]) -> Option<(u8, Self)> {
        // Sets of nodes have 32 bits.
        let number = |name: &str| names.iter().take(32).position(|other| other == name);
        let Process::Name(process) = &event.process else {
            return None;
        };
        let node = number(process)?;
        let mut value: Value = serde_json::to_value(&event.value).ok()?;
        if let Some(leader) = value.get("leader").and_then(Value::as_str) {
            value["leader"] = json!(number(leader)?);
        }
        for set in ["voters", "replicas"] {
            if let Some(members) = value.get(set).and_then(Value::as_array) {
                let bit = |member: &Value| Some(1_u32 << number(member.as_str()?)?);
                let bits: Option<Vec<u32>> = members.iter().map(bit).collect();
                value[set] = json!(bits?.into_iter().fold(0, |all, bit| all | bit));
            }
        }
        let read = serde_json::from_value(json!({ "f": event.f, "value": value })).ok()?;
        Some((u8::try_from(node).ok()?, read))
    }
}

/// The nodes of a set, of which bit `n` is node `n`, in ascending order.
pub fn nodes_of(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |node| set >> node & 1 == 1)
}

/// The names of the nodes of a set.
fn members(set: u32, names: &[Node]) -> Vec<&Node> {
    nodes_of(set).map(|node| &names[node]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventType;

    #[test]
    fn announcements_are_read_from_the_events_that_they_make() {
        let names: Vec<Node> = (1..=5).map(|n| Node::of_role("server", n)).collect();
        let all = [
            Announcement::Answered { value: 7 },
            Announcement::Learned { value: 7, round: 3 },
            Announcement::Credentials { epoch: 1, zxid: 9 },
            Announcement::Looking { round: 2 },
            Announcement::Elected {
                round: 2,
                voters: 0b10101,
            },
            Announcement::Leading { round: 2 },
            Announcement::Following { leader: 4, round: 2 },
            Announcement::Resigned { round: 2 },
            Announcement::Stored {
                offset: 0,
                round: Some(1),
                value: 7,
            },
            Announcement::Stored {
                offset: 1,
                round: None,
                value: 8,
            },
            Announcement::Truncated { offset: 1 },
            Announcement::InSync { replicas: 0b101 },
        ];
        for announcement in all {
            let (f, value) = announcement.event(&names);
            let event = Event {
                index: 0,
                time: 0,
                process: Process::Name("server2".into()),
                kind: EventType::Info,
                f: f.as_str().into(),
                value: value.into(),
                error: None,
                node: Some("server2".into()),
            };
            assert_eq!(Announcement::read(&event, &names), Some((1, announcement)));
            let stranger = [names[1].clone()];
            let needs_others = matches!(
                announcement,
                Announcement::Elected { .. } | Announcement::Following { .. } | Announcement::InSync { .. }
            );
            assert_eq!(Announcement::read(&event, &stranger).is_none(), needs_others);
        }
    }

    #[test]
    fn a_stored_entry_without_a_readable_epoch_is_stored_all_the_same() {
        for round in ["", r#", "round": null"#, r#", "round": "1""#, r#", "round": -1"#] {
            let value = format!(r#"{{"offset": 0, "value": 7{round}}}"#);
            let line = format!(
                r#"{{"index": 0, "time": 0, "process": "replica1", "type": "info", "f": "stored", "value": {value}}}"#
            );
            let event = serde_json::from_str(&line).expect("an event");
            let stored = Announcement::Stored {
                offset: 0,
                round: None,
                value: 7,
            };
            let names = [Node::of_role("replica", 1)];
            assert_eq!(Announcement::read(&event, &names), Some((0, stored)), "{line}");
        }
    }
}
