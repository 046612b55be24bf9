//! The messages of a consensus protocol as a diagram: which part of a run is shown, and what stands out in it.

mod assembly;
mod choice;
mod divergence;
mod key;
mod leaders;
mod logs;
mod marks;
mod network_run;
mod scope;
#[cfg(test)]
mod tests;
mod values;

use crate::messages::MessageDiagram;
use crate::model::RunModel;
use crate::text;
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
    /// Sentences for below it: what stands out, by its colours.
    pub sentences: Vec<String>,
    /// What is drawn and what is not, for the small print.
    pub caption: String,
}

/// The messages that lead to an anomaly or, without one, to the first decision or leader; `None` of a record without
/// messages.
pub fn picture(model: &RunModel<'_>, anomaly: Option<&Anomaly>) -> Option<ConsensusPicture> {
    let run = NetworkRun::new(model)?;
    let scope = match anomaly {
        None => calm_scope(&run),
        Some(anomaly) => anomaly_scope(&run, anomaly),
    };
    let chosen = choice::choose(&run, &scope);
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
    sentences.extend(key::words(&run));
    sentences.extend(key::signs(&diagram));
    Some(ConsensusPicture {
        diagram,
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
        "diverging-replicas" => divergence::diverging(run, &witness),
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
