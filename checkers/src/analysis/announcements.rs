//! What answers contain that notices are to have announced.

use super::{Ops, ops};
use std::collections::HashMap;
use zooquake_history::operation::membership::MEMBERS;
use zooquake_history::operation::{FieldSource, JsonNode, RequiredField};
use zooquake_history::{Event, EventType, Value};

/// The answers with a number in a field that a notice is to have announced: the client of each, its event, and whether
/// a notice of the same process had. Of a view that shows nothing none is needed. None of a field of another kind.
pub fn announced_answers<'a>(events: &'a [Event], ops: &Ops<'a>, field: &RequiredField) -> Vec<(&'a str, usize, bool)> {
    let FieldSource::Announced { f, notice, within } = field.of else {
        return Vec::new();
    };
    let all = ops.work.iter().chain(&ops.control).filter(|op| op.f == f);
    let asked: HashMap<usize, (&str, Option<usize>)> = all
        .filter_map(|op| Some((op.end?, (op.node, op.invoke))))
        .filter(|(end, _)| events[*end].kind == EventType::Ok && !ops.disputed.contains(end))
        .collect();
    let [path @ .., name] = field.path else {
        return Vec::new();
    };
    // By client where its process announced each number last.
    let mut announced: HashMap<&str, HashMap<i64, usize>> = HashMap::new();
    let mut answers = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if let Some(client) = ops::named_client(event).filter(|_| event.kind == EventType::Info) {
            let number = event.value.named(name).and_then(Value::as_i64);
            match event.f.as_str() {
                "hello" | "exit" => drop(announced.remove(client)),
                f if f == notice => {
                    let own = announced.entry(client).or_default();
                    own.extend(number.map(|number| (number, at)));
                }
                _ => {}
            }
        }
        let Some(&(node, sent)) = asked.get(&at) else { continue };
        let inner = path.iter().try_fold(&event.value, |value, name| value.named(name));
        let Some(inner) = inner.filter(|inner| !MEMBERS.read_from(*inner).is_some_and(Value::is_null)) else {
            continue;
        };
        // Of an answer whose request is missing it is not known what came after that.
        let Some(since) = sent.filter(|_| within).or((!within).then_some(0)) else {
            continue;
        };
        if let Some(number) = inner.named(name).and_then(Value::as_i64) {
            let last = announced.get(node).and_then(|own| own.get(&number));
            answers.push((node, at, last.is_some_and(|&last| last >= since)));
        }
    }
    answers
}
