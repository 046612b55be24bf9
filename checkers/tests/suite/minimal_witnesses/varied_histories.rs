//! Histories whose end is another one than that which their world makes.

use crate::doubtful_evidence::run_ends::RunEndWriter;
use crate::doubtful_evidence::{self, FamilyHistories};
use crate::script;
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_history::{EventType, Node, Record, evidence::Znode};

/// A history as its world makes it, with the end of a run behind it, with requests and answers that do not pair, or
/// with somebody who is refused after recovery.
pub fn varied(family: &FamilyHistories, plain: fn(u64) -> Record, seed: u64) -> Record {
    let mut rng = Rng::with_seed(seed ^ 0x1ea57);
    let record = if rng.bool() { plain(seed) } else { (family.make)(seed) };
    match rng.u8(0..4) {
        0 => {
            doubtful_evidence::unpaired_answers::spoil(&mut rng, &record, family).map_or(record, |spoilt| spoilt.record)
        }
        1 => {
            let kind = [EventType::Info, EventType::Fail][usize::from(rng.u8(0..4) > 0)];
            refused(&mut rng, record, kind)
        }
        _ => record,
    }
}

/// Clients ask again and again after recovery, and all these requests end so.
pub fn refused(rng: &mut Rng, record: Record, kind: EventType) -> Record {
    let family = record.plan.workload.family.clone();
    let operations = match family.as_str() {
        "lock" | "rwlock" | "semaphore" => vec![("acquire", json!({"grant": "g90"}))],
        "election" => vec![("elect", json!({"grant": "g90"}))],
        "commit" => vec![
            ("decided", json!({"tx": "t0"})),
            ("begin", json!({"tx": "t90", "participants": ["c1", "c2"]})),
        ],
        "queue" => vec![("dequeue", json!({})), ("enqueue", json!({"item": 990}))],
        "membership" => vec![
            ("register", json!({"member": "m1", "value": 990})),
            ("update", json!({"value": 990})),
            ("deregister", json!({})),
        ],
        "register" => vec![("write", json!({"key": 1, "value": 990})), ("read", json!({"key": 1}))],
        "counter" => vec![("increment", json!({})), ("get", json!({}))],
        _ if record.plan.workload.variant == "gate" => {
            ["raise", "wait", "lift"].map(|f| (f, json!({"round": 1}))).to_vec()
        }
        _ => vec![("enter", json!({"round": 1, "members": 2}))],
    };
    let (f, value) = rng.choice(operations).expect("an operation");
    let mut end = RunEndWriter::new(record);
    for _ in 0..rng.usize(1..4) {
        for node in ["c1", "c2"] {
            end.op(node, EventType::Invoke, f, value.clone());
        }
        let now = end.record.history.events.last().map_or(0, |event| event.time);
        end.until(now + rng.u64(0..9_000_000_000));
        for node in ["c2", "c1"] {
            end.op(node, kind, f, value.clone());
        }
    }
    end.audit(vec![])
}

/// Claims and members in the tree at the end, some of which no client names.
pub fn audited(seed: u64, mut record: Record) -> Record {
    record.plan.cluster.clients = 4;
    let mut rng = Rng::with_seed(seed);
    let last = record.history.events.last().map_or(0, |event| event.time);
    let push = |record: &mut Record, process: &str, kind: EventType, f: &str, value: Value| {
        let events = &mut record.history.events;
        let index = events.len();
        events.push(script::event(index, last + index as u64, process, None, kind, f, value));
    };
    for phase in ["recovered", "audit"] {
        push(&mut record, "run", EventType::Info, "phase", json!(phase));
    }
    let first = record.history.events.len();
    let znodes: Vec<Znode> = (0..rng.i64(1..4))
        .map(|number| {
            let session = format!("0x{}", rng.u8(1..5));
            let data = json!({"owner": session, "item": rng.u8(1..4)}).to_string();
            Znode {
                path: format!("/{}/x{number}", ["taken", "barrier"][rng.usize(0..2)]),
                czxid: number,
                data,
                owner: rng.bool().then_some(session),
                ..Znode::default()
            }
        })
        .collect();
    let silent = rng.u8(0..16);
    for number in (1..5).filter(|number| *number != silent) {
        let node = Node::client(number.into()).to_string();
        push(&mut record, &node, EventType::Invoke, "quiesce", json!({}));
        let named = znodes.iter().filter(|_| rng.u8(0..4) == 0);
        let named = named.map(|znode| json!({"path": znode.path, "czxid": znode.czxid}));
        let named: Vec<Value> = named.collect();
        let sessions = json!([format!("0x{number}")]);
        let sessions = if rng.bool() { sessions } else { json!([]) };
        let answer = json!({"sessions": sessions, "znodes": named});
        push(&mut record, &node, EventType::Ok, "quiesce", answer);
    }
    let mut record = script::standing(record, znodes);
    let readings = &mut record.tree.as_mut().expect("two readings").readings;
    (readings[0].index, readings[0].end_index) = (first, first);
    record
}
