//! The messages of a consensus protocol as a diagram: which part of a run is shown, and what stands out in it.

mod assembly;
mod choice;
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
use scope::DiagramScope;
use zooquake_checkers::Anomaly;

/// A diagram with what is to be said of it.
#[derive(Debug)]
pub struct ConsensusPicture {
    /// The diagram.
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
    let scope = DiagramScope::new(&run, anomaly);
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
