//! The plan of a run, pinned to its witness: the windows that came before it, each at the moment of a client's
//! operations at which it struck.

use zooquake_checkers::{Anomaly, Results};
use zooquake_history::plan::{Plan, Target, Trigger, Window};
use zooquake_history::{Event, EventType, Node, Process, Record};

/// Milliseconds of operations after the last window that is kept: pinned windows come a little earlier or later.
const AFTER_MS: u64 = 6_000;

/// A plan to replay.
#[derive(Debug, Clone)]
pub struct PinnedPlan {
    pub plan: Plan,
    /// What was changed and why, a line each.
    pub notes: Vec<String>,
}

/// The anomaly that a replay is to bring back: the worst news, or else the worst of what is known and accepted.
pub fn headline(results: &Results) -> Option<&Anomaly> {
    let mut damage = results.anomalies.iter().filter(|anomaly| !anomaly.advisory);
    damage.clone().find(|anomaly| !anomaly.accepted).or(damage.next())
}

/// Pins the plan of a run to the witness of an anomaly; `name` is that of the run.
///
/// Windows that began after the witness cannot have brought it about, and are left out, and with them the time of
/// operations after it, unless the anomaly was only seen after recovery.
pub fn pin(record: &Record, anomaly: &Anomaly, name: &str) -> PinnedPlan {
    let events = &record.history.events;
    let mut plan = record.plan.clone();
    let mut notes = Vec::new();
    plan.replay_of = Some(name.to_string());
    let began = phase(events, "ops").map_or(0, |event| event.time);
    let since_ms = |event: &Event| event.time.saturating_sub(began) / 1_000_000;
    let last = anomaly.witness.last().and_then(|&index| events.get(index));
    // Of what is seen after recovery, any window may have a part.
    let last = last.filter(|last| phase(events, "heal").is_none_or(|heal| last.index < heal.index));
    plan.windows
        .retain(|window| begin(events, window).is_some_and(|begin| last.is_none_or(|last| begin.index < last.index)));
    let dropped = record.plan.windows.len() - plan.windows.len();
    if dropped > 0 {
        notes.push(format!(
            "windows that never began or began after the witness are left out: {dropped}"
        ));
    }
    if let Some(last) = last {
        let kept = plan.windows.iter().filter_map(|window| end(events, window));
        let until = kept.chain([last]).map(since_ms).max().unwrap_or(plan.time_ms);
        plan.time_ms = plan.time_ms.min(until + AFTER_MS);
    }
    for window in &mut plan.windows {
        let Some(begin) = begin(events, window) else { continue };
        let id = window.id;
        let (fault, target) = (&window.fault, begin.target().unwrap_or_default());
        match moment(events, begin, anomaly) {
            Some(moment) => {
                notes.push(format!("window {id}, {fault} of {target}: {}", moment.words()));
                if Node::from(target).is_client() {
                    window.target = Target::Node(target.into());
                }
                window.trigger = moment.trigger(since_ms(begin));
            }
            None => notes.push(format!(
                "window {id}, {fault} of {target}: by the clock, no operation was near"
            )),
        }
    }
    PinnedPlan { plan, notes }
}

/// The moment at which a window began: of the client that it hit; for servers, of a client of the witness that was
/// waiting for an answer.
fn moment(events: &[Event], begin: &Event, anomaly: &Anomaly) -> Option<Moment> {
    let target = begin.target().unwrap_or_default();
    if Node::from(target).is_client() {
        return Moment::at(events, begin, target);
    }
    let mut clients: Vec<&str> = anomaly
        .witness
        .iter()
        .filter_map(|&index| events.get(index)?.node.as_deref())
        .collect();
    clients.sort_unstable();
    clients.dedup();
    clients
        .into_iter()
        .filter(|client| Moment::is_busy(events, begin, client))
        .find_map(|client| Moment::at(events, begin, client))
}

fn phase<'a>(events: &'a [Event], name: &str) -> Option<&'a Event> {
    events.iter().find(|event| event.entered() == Some(name))
}

fn begin<'a>(events: &'a [Event], window: &Window) -> Option<&'a Event> {
    of_window(events, window).find(|event| event.phase() == Some("begin"))
}

fn end<'a>(events: &'a [Event], window: &Window) -> Option<&'a Event> {
    of_window(events, window).last()
}

fn of_window<'a>(events: &'a [Event], window: &Window) -> impl Iterator<Item = &'a Event> {
    let id = i64::try_from(window.id).ok();
    events
        .iter()
        .filter(move |event| event.is_of("nemesis") && event.window() == id)
}

/// Longest time after an operation was sent at which a moment is still defined by it, in milliseconds; a wait is
/// longer.
const TELLING_MS: u64 = 5_000;

/// A moment in a client's own sequence of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    client: Node,
    f: String,
    nth: u64,
    work_ms: u64,
    after_ms: u64,
}

impl Moment {
    /// The moment of `event` in the operations of `client`: since its last one was sent; `None` if there is none near.
    pub fn at(events: &[Event], event: &Event, client: &str) -> Option<Self> {
        let before = &events[..event.index.min(events.len())];
        let mut asked = before.iter().filter(|e| is_asked(e, client));
        let last = asked.next_back()?;
        let after_ms = event.time.saturating_sub(last.time) / 1_000_000;
        let nth = 1 + asked.filter(|e| e.f == last.f).count() as u64;
        (after_ms <= TELLING_MS).then(|| Self {
            client: client.into(),
            f: last.f.to_string(),
            nth,
            work_ms: last.work_ms().unwrap_or(0).max(0).unsigned_abs(),
            after_ms,
        })
    }

    /// Whether the operation was still going on at `event`.
    pub fn is_busy(events: &[Event], event: &Event, client: &str) -> bool {
        let before = &events[..event.index.min(events.len())];
        let mut own = before.iter().rev();
        let last = own.find(|e| matches!(e.process, Process::Number(_)) && e.node.as_deref() == Some(client));
        last.is_some_and(|e| e.kind == EventType::Invoke)
    }

    /// The trigger that fires at this moment of another run; given up at `by_ms` after operations began.
    pub fn trigger(self, by_ms: u64) -> Trigger {
        Trigger::Op {
            client: self.client,
            f: self.f,
            nth: self.nth,
            work_ms: self.work_ms,
            after_ms: self.after_ms,
            by_ms,
        }
    }

    /// The moment in words.
    pub fn words(&self) -> String {
        let Self {
            client,
            f,
            nth,
            after_ms,
            ..
        } = self;
        format!("{after_ms} ms into `{f}` number {nth} of {client}")
    }
}

fn is_asked(event: &Event, client: &str) -> bool {
    event.kind == EventType::Invoke
        && matches!(event.process, Process::Number(_))
        && event.node.as_deref() == Some(client)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use zooquake_history::event::parse_jsonl;
    use zooquake_history::plan::{ClientState, Trigger};

    fn record(lines: &[serde_json::Value]) -> Record {
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            let mut line = line.clone();
            line["index"] = json!(index);
            text += &format!("{line}\n");
        }
        let (history, damage) = parse_jsonl(text.as_bytes());
        assert!(damage.is_none(), "{damage:?}");
        let window = |id, fault: &str| Window {
            id,
            fault: fault.into(),
            target: Target::Client,
            payload: None,
            trigger: Trigger::State {
                state: ClientState::Working,
                client: None,
                from_ms: 0,
                after_ms: 200,
            },
            duration_ms: 3_000,
            beside: false,
        };
        Record {
            plan: Plan {
                time_ms: 60_000,
                windows: vec![window(1, "pause"), window(2, "kill"), window(3, "pause")],
                ..Plan::default()
            },
            history,
            ..Record::default()
        }
    }

    fn invoke(ms: u64, node: &str, f: &str, value: serde_json::Value) -> serde_json::Value {
        json!({"time": ms * 1_000_000, "process": 0, "type": "invoke", "f": f, "value": value, "node": node})
    }

    fn nemesis(ms: u64, fault: &str, window: u64, phase: &str, target: &str) -> serde_json::Value {
        json!({"time": ms * 1_000_000, "process": "nemesis", "type": "info", "f": fault,
               "value": {"window": window, "phase": phase, "target": target}})
    }

    fn whole() -> Record {
        record(&[
            json!({"time": 1_000_000_000u64, "process": "run", "type": "info", "f": "phase", "value": "ops"}),
            invoke(1_100, "c3", "write", json!({"work_ms": 5})),
            invoke(2_000, "c3", "write", json!({"work_ms": 700})),
            invoke(2_100, "c1", "write", json!({"work_ms": 10})),
            nemesis(2_210, "pause", 1, "begin", "c3"),
            nemesis(5_000, "pause", 1, "off", "c3"),
            nemesis(6_000, "kill", 2, "begin", "n1"),
            invoke(6_500, "c3", "write", json!({"work_ms": 1})),
            nemesis(7_000, "kill", 2, "off", "n1"),
            json!({"time": 8_000_000_000u64, "process": "run", "type": "info", "f": "phase", "value": "heal"}),
            invoke(9_000, "c3", "acquire", json!({})),
        ])
    }

    fn anomaly(witness: &[usize]) -> Anomaly {
        Anomaly {
            kind: "stale-write".into(),
            property: "mutual exclusion".into(),
            advisory: false,
            accepted: true,
            witness: witness.to_vec(),
            span: None,
            stuck: None,
            cause: None,
            why: String::new(),
        }
    }

    #[test]
    fn a_window_is_tied_to_the_operation_it_struck_and_later_ones_are_left_out() {
        let pinned = pin(&whole(), &anomaly(&[2, 5]), "r1");
        let [window] = pinned.plan.windows.as_slice() else {
            panic!("{:?}", pinned.plan.windows)
        };
        let expected = Trigger::Op {
            client: Node::client(3),
            f: "write".into(),
            nth: 2,
            work_ms: 700,
            after_ms: 210,
            by_ms: 1_210,
        };
        assert_eq!(
            (&window.target, &window.trigger),
            (&Target::Node(Node::client(3)), &expected)
        );
        assert_eq!(pinned.plan.time_ms, 4_000 + AFTER_MS);
        assert_eq!(pinned.plan.replay_of.as_deref(), Some("r1"));
    }

    #[test]
    fn what_is_seen_after_recovery_keeps_all_windows_and_the_whole_time() {
        let pinned = pin(&whole(), &anomaly(&[10]), "r1");
        assert_eq!(
            (pinned.plan.windows.len(), pinned.plan.time_ms),
            (2, 60_000),
            "window 3 never began"
        );
    }

    #[test]
    fn a_server_is_struck_at_the_moment_of_a_busy_client_of_the_witness() {
        let pinned = pin(&whole(), &anomaly(&[2, 7]), "r1");
        let windows = &pinned.plan.windows;
        assert_eq!(windows.len(), 2);
        assert!(
            matches!(&windows[1].trigger, Trigger::Op { client, after_ms: 4_000, .. } if *client == Node::client(3))
        );
        assert_eq!(windows[1].target, Target::Client, "servers are found anew");
    }
}
