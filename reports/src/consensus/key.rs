//! What the words and signs of a diagram mean, for its foot.

use super::network_run::NetworkRun;
use crate::messages::{ArrowEnd, DiagramArrow, MessageDiagram};
use crate::{lists, text};
use zooquake_history::plan::ConsensusGoal;

/// The messages of a protocol in a sentence; `None` where the protocol is not known.
pub fn words(run: &NetworkRun<'_>) -> Option<String> {
    Some(match run.goal {
        ConsensusGoal::Value => format!(
            "1a asks for a promise to vote in no lower {0}; 1b gives it, with the last vote if there was one; 2a asks for a vote, 2a any for a \
             vote for any proposal; 2b is a vote, with its value.",
            run.round
        ),
        ConsensusGoal::EpochLeader | ConsensusGoal::Election => {
            "A vote (3, 9) is for server 3 with the zxid 9. What has capitals is Zab's discovery and synchronization after an election."
                .to_owned()
        }
        ConsensusGoal::OneLeader => {
            "ping and pong find who is there; join is a vote; publish, ack and commit make the elected node's cluster state that of all."
                .to_owned()
        }
        ConsensusGoal::Log => partition(run),
        ConsensusGoal::Nothing => return None,
    })
}

fn partition(run: &NetworkRun<'_>) -> String {
    let register = run.names.iter().find(|name| name.starts_with("register"));
    let register = register.map_or("The register", String::as_str);
    format!(
        "{} stands for Kafka's controller: it keeps leader, leader epoch and in-sync replicas (ISR), and makes a change only of the \
         version (v) before it. A fetch from n acknowledges all before offset n; HW is the high watermark; ack answers a produce with \
         acks=all. An epoch is a leader epoch.",
        text::clip(register, 24)
    )
}

/// What the arrows and hatches mean that are not whole arrows; `None` if there are none.
pub fn signs(diagram: &MessageDiagram) -> Option<String> {
    let some = |is_so: fn(&DiagramArrow) -> bool| diagram.arrows.iter().any(is_so);
    let signs = [
        (some(|arrow| matches!(arrow.end, ArrowEnd::Lost(_))), "×: lost"),
        (
            some(|arrow| arrow.end == ArrowEnd::OnItsWay),
            "dotted: not received before the diagram ends",
        ),
        (some(|arrow| arrow.copy), "dashed: a second copy"),
        (!diagram.spans.is_empty(), "hatched: a fault at that node"),
    ];
    let there = signs.iter().filter(|(is_there, _)| *is_there);
    let words = lists::joined(there.map(|(_, words)| words), "; ");
    (!words.is_empty()).then(|| format!("Signs: {words}."))
}
