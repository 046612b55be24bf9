//! The messages of a network, as the first screen shows them.

use crate::model::RunModel;
use crate::{consensus, messages, text};
use maud::{Markup, html};
use zooquake_checkers::Anomaly;
use zooquake_history::operation::consensus::NODES;

/// The diagram of the messages that lead to an anomaly or, without one, to the first decision or leader; `None` of a
/// run that is no network's.
pub fn picture(model: &RunModel<'_>, anomaly: Option<&Anomaly>) -> Option<Markup> {
    let picture = consensus::picture(model, anomaly)?;
    let label = match anomaly {
        Some(anomaly) => format!(
            "The messages that lead to {}, time downwards",
            text::clip(&anomaly.kind, 60)
        ),
        None => "The messages up to the first decision or leader, time downwards".to_owned(),
    };
    Some(html! {
        div.diagram {
            (messages::draw(&picture.diagram, "messages", &label))
            @for sentence in &picture.sentences { p { (text::clip(sentence, 600)) } }
            p.note { (picture.caption) }
        }
    })
}

/// How many nodes a network has; `None` of a run that is no network's.
pub fn nodes(model: &RunModel<'_>) -> Option<usize> {
    let events = model.record.history.events.iter();
    let mut listed = events.filter(|event| event.f == NODES && event.is_of("run"));
    listed.find_map(|event| Some(event.value.as_array()?.len()))
}
