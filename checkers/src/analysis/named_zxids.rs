//! The transactions that an event names, in whichever field.

use zooquake_history::{Event, EventType, Value};

/// The fields whose number is a zxid, at any depth: what answers of any family name, and what a fault's evidence names
/// of a lost reply.
const FIELDS: [&str; 3] = ["czxid", "mzxid", "zxid"];

/// The zxids that an answer or a notice names, in no order; none of a request, which names what is to be.
pub fn named(event: &Event) -> Vec<i64> {
    let mut found = Vec::new();
    if event.kind != EventType::Invoke {
        collect(&event.value, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<i64>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter() {
                match value.as_i64() {
                    Some(zxid) if FIELDS.iter().any(|field| name == field) => found.push(zxid),
                    _ => collect(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}
