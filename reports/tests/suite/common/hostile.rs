//! Records made to break a page.

use super::{Run, results};
use serde_json::{Value, json};
use zooquake_history::{Event, EventType, History, Process, Record};

/// Ends elements, hides and reorders text.
pub const POISON: &str = "</script></style><img src=x onerror=alert(1)>\"'&\u{1b}[31m\u{202e}\u{0}\u{2028}";

/// An event of no client's container.
pub fn event(index: usize, time: u64, process: Process, kind: EventType, f: &str, value: Value) -> Event {
    Event {
        index,
        time,
        process,
        kind,
        f: f.into(),
        value: value.into(),
        error: None,
        node: None,
    }
}

/// A run whose texts, wherever they are, end elements.
pub fn poisoned() -> Run {
    let mut run = results::invalid();
    for e in &mut run.record.history.events {
        e.error = e.error.as_ref().map(|_| POISON.to_owned());
        e.node = e
            .node
            .as_ref()
            .map(|n| if n == "c5" { POISON.into() } else { n.clone() });
        if e.f == "write" || e.f == "pause" {
            e.f = format!("write{POISON}").into();
        }
        if let Some(object) = e.value.as_object_mut() {
            object
                .values_mut()
                .filter(|v| v.is_string())
                .for_each(|v| *v = POISON.into());
        } else {
            e.value = json!(POISON).into();
        }
    }
    run.record.plan.workload.promise = POISON.into();
    run.record.plan.workload.family = POISON.into();
    run.record.plan.faults.push(POISON.into());
    run.record.damage.push(POISON.into());
    run.results.anomalies[0].kind = POISON.into();
    run.results.anomalies[0].property = POISON.into();
    run.results.anomalies[0].why = POISON.into();
    run.results.reasons.push(POISON.into());
    run.results.windows[0].fault = POISON.into();
    run.results.windows[0].target = POISON.into();
    run.results.windows[0].why = POISON.into();
    run.results.stats.insert(POISON.into(), json!({ POISON: [POISON] }));
    run.extras.run_name = POISON.into();
    run.extras.reproduce.push(POISON.into());
    for sample in run.record.servers.iter_mut().flatten() {
        sample.server.push_str(POISON);
        sample.mode = POISON.into();
    }
    run
}

/// Every text of a value, however deep.
pub fn poison(value: &mut Value) {
    match value {
        Value::String(s) => *s = POISON.into(),
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(fields) => fields.values_mut().for_each(poison),
        Value::Number(n) if n.is_u64() => *value = json!(i64::MAX),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A run with values of a megabyte.
pub fn huge() -> Run {
    let mut run = results::invalid();
    let huge = "<".repeat(1_000_000);
    for e in run.record.history.events.iter_mut().take(20) {
        e.error = Some(huge.clone());
        e.value = json!({ "grant": huge, "value": [huge, huge], huge.clone(): 1 }).into();
    }
    run.results.anomalies[0].witness = (0..20).collect();
    run.results.anomalies[0].why = huge.clone();
    run.results.reasons.push(huge.clone());
    run.extras.reproduce.push(huge);
    run
}

/// A run of so many processes, each with one operation.
pub fn processes(n: usize) -> Run {
    let sent = |i: usize| {
        let process = Process::Number(i as u64 * 1_000_003);
        let f = format!("f{}", i % 1000);
        event(i, i as u64 * 1_000, process, EventType::Invoke, &f, json!(i))
    };
    let events = (0..n).map(sent).collect();
    Run {
        record: Record {
            history: History { events },
            ..Record::default()
        },
        ..Run::default()
    }
}
