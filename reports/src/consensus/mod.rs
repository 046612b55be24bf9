//! The messages of a consensus protocol as a diagram: which part of a run is shown, and what stands out in it.

mod assembly;
mod leaders;
mod logs;
mod network_run;
mod scope;
#[cfg(test)]
mod tests;
mod values;

use crate::messages::{ArrowEnd, DiagramArrow, MessageDiagram};
use crate::model::RunModel;
use crate::{lists, text};
use network_run::NetworkRun;
use scope::{CALM, DiagramScope};
use zooquake_checkers::Anomaly;
use zooquake_history::Event;
use zooquake_history::plan::ConsensusGoal;

/// The most messages that are drawn of an anomaly.
const ANOMALY: usize = 80;

/// A diagram with what is to be said of it.
#[derive(Debug)]
pub struct ConsensusPicture {
    pub diagram: MessageDiagram,
    /// What the violation comes from, as a sentence; `None` without one, or where the messages do not show it.
    pub cause: Option<String>,
    /// Sentences for below it: what stands out, by its colours.
    pub sentences: Vec<String>,
    /// What is drawn and what is not, for the small print.
    pub caption: String,
}

impl ConsensusPicture {
    /// What a picture that has no page around it says below: the cause, and what stands out.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let cause = self.cause.iter().map(|cause| format!("Cause: {cause}"));
        cause.chain(self.sentences.iter().cloned())
    }
}

/// Whether a run has a diagram of messages: its record has some.
pub fn is_drawn(model: &RunModel<'_>) -> bool {
    model
        .record
        .messages
        .as_ref()
        .is_some_and(|messages| !messages.is_empty())
}

/// The messages that lead to an anomaly or, without one, to the first decision or leader; `None` of a record without
/// messages.
pub fn picture(model: &RunModel<'_>, anomaly: Option<&Anomaly>) -> Option<ConsensusPicture> {
    let run = NetworkRun::new(model)?;
    let scope = match anomaly {
        None => calm_scope(&run),
        Some(anomaly) => anomaly_scope(&run, anomaly),
    };
    let chosen = scope::choose(&run, &scope);
    let diagram = assembly::assemble(model, &run, (&scope, &chosen), anomaly);
    let sent = run.sent_in(scope.from, scope.until).count();
    let caption = format!(
        "{} of {} that were sent from {} to {} ({} in the whole run). Time runs downwards and is not to scale: each moment at which \
         something is sent, received, lost or done has a row; where the lanes are broken the given time passes.{}",
        text::grouped(chosen.len()),
        text::count(sent, "message"),
        text::moment(scope.from),
        text::moment(scope.until),
        text::grouped(run.messages.len()),
        match run.scripted {
            true => " What a shrunk run sends and never delivers is left out.",
            false => "",
        },
    );
    let mut sentences = scope.sentences;
    sentences.extend(protocol_words(&run));
    sentences.extend(signs(&diagram));
    Some(ConsensusPicture {
        diagram,
        cause: scope.cause,
        sentences,
        caption,
    })
}

/// The part that shows an anomaly.
fn anomaly_scope(run: &NetworkRun<'_>, anomaly: &Anomaly) -> DiagramScope {
    let witness: Vec<&Event> = anomaly.witness.iter().filter_map(|&at| run.events.get(at)).collect();
    let found = match anomaly.kind.as_str() {
        "disagreement" | "invalid-value" => values::learned(run, &witness),
        "two-leaders" | "two-ensemble-leaders" => leaders::two(run, &witness),
        "lesser-vote-won" => leaders::lesser_vote(run, &witness),
        "lost-message" => logs::lost_message(run, &witness),
        "diverging-replicas" => logs::diverging(run, &witness),
        _ => None,
    };
    let scope = found.unwrap_or_else(|| DiagramScope::around(run, &witness));
    DiagramScope { most: ANOMALY, ..scope }
}

/// The part that shows what the protocol brings about first.
fn calm_scope(run: &NetworkRun<'_>) -> DiagramScope {
    let found = match run.goal {
        ConsensusGoal::Value => values::decided(run),
        ConsensusGoal::Log => logs::acknowledged(run),
        ConsensusGoal::Nothing => None,
        _ => leaders::established(run),
    };
    let scope = found.unwrap_or_else(|| DiagramScope {
        until: run.end(),
        edges: true,
        ..DiagramScope::default()
    });
    DiagramScope { most: CALM, ..scope }
}

/// The messages of a protocol in a sentence, for the foot of its diagram; `None` where the protocol is not known.
fn protocol_words(run: &NetworkRun<'_>) -> Option<String> {
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
        ConsensusGoal::Log => partition_words(run),
        ConsensusGoal::Nothing => return None,
    })
}

fn partition_words(run: &NetworkRun<'_>) -> String {
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
fn signs(diagram: &MessageDiagram) -> Option<String> {
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
