//! The client program's requests and replies, line by line.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use zooquake_workloads::client::{Client, Output};
use zooquake_workloads::protocol::{Message, Outcome, Request};
use zooquake_workloads::recipes::variant;

use crate::server::Fate;
use crate::world::World;
use crate::zk::{Net, OUTAGE};

const MOMENT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3);

/// One end of a stream.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Bed {
    world: World,
    net: Net,
}

struct Driven {
    world: World,
    lines: mpsc::UnboundedSender<String>,
    output: Output,
    pipe: Pipe,
    last: u64,
}

impl Bed {
    fn new() -> Self {
        let world = World::default();
        let net = Net::new(&world);
        Self { world, net }
    }

    fn client(&self, name: &str, lock: &str) -> Driven {
        let (env, pipe) = (self.world.env(Arc::new(self.net.clone())), Pipe::default());
        let output = Output::to(pipe.clone());
        let recipe = (variant("lock", lock).unwrap().build)(&env).unwrap();
        let (lines, requests) = mpsc::unbounded_channel();
        self.world
            .start(Client::new(name, env, recipe, output.clone()).serve(requests));
        self.world.pass(MOMENT);
        Driven {
            world: self.world.clone(),
            lines,
            output,
            pipe,
            last: 0,
        }
    }
}

impl Driven {
    fn send(&mut self, f: &str, value: Value) -> u64 {
        self.last += 1;
        let request = Request {
            id: self.last,
            f: f.to_string(),
            value,
            timeout_ms: None,
        };
        self.line(&serde_json::to_string(&request).unwrap());
        self.last
    }

    fn line(&self, line: &str) {
        self.lines.send(line.to_string()).unwrap();
        self.world.pass(MOMENT);
    }

    fn reply(&self, wanted: u64) -> Option<(Outcome, Value, Option<String>)> {
        self.output.flush();
        let written = String::from_utf8(self.pipe.0.lock().unwrap().clone()).unwrap();
        assert!(written.is_empty() || written.ends_with('\n'));
        written
            .lines()
            .find_map(|line| match serde_json::from_str(line).unwrap() {
                Message::Reply {
                    id,
                    outcome,
                    value,
                    error,
                } if id == wanted => Some((outcome, value, error)),
                _ => None,
            })
    }

    /// The answer of something that takes a moment only.
    fn ask(&mut self, f: &str, value: Value) -> (Outcome, Value, Option<String>) {
        let id = self.send(f, value);
        self.reply(id).unwrap_or_else(|| panic!("no reply to {f}"))
    }

    fn ok(&mut self, f: &str, value: Value) -> Value {
        let (outcome, value, error) = self.ask(f, value);
        assert_eq!((outcome, error), (Outcome::Ok, None), "{f}");
        value
    }
}

#[test]
fn a_cycle_of_a_fenced_lock() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "fenced");
    assert_eq!(c1.ok("ping", json!({})), json!({}));
    let grant = c1.ok("acquire", json!({"grant": "g1"}));
    assert_eq!((&grant["grant"], &grant["token"]), (&json!("g1"), &grant["czxid"]));
    let written = c1.ok("write", json!({"grant": "g1", "value": 31, "work_ms": 5}));
    assert_eq!(written, json!({"grant": "g1", "value": 31, "token": grant["czxid"]}));
    let confirmed = c1.ok("confirm", json!({}));
    assert_eq!((&confirmed["holds"], &confirmed["grant"]), (&json!(true), &json!("g1")));
    assert!(confirmed["zxid"].as_i64() > grant["czxid"].as_i64());
    let quiet = c1.ok("quiesce", json!({}));
    assert_eq!(quiet["sessions"], json!([grant["session"]]));
    assert_eq!(
        quiet["znodes"],
        json!([{"path": grant["path"], "czxid": grant["czxid"]}])
    );
    let released = c1.ok("release", json!({"grant": "g1"}));
    assert_eq!(
        released["removed"],
        json!({"path": grant["path"], "czxid": grant["czxid"]})
    );
    assert_eq!(c1.ok("confirm", json!({}))["holds"], json!(false));
    assert_eq!(c1.ok("quiesce", json!({}))["znodes"], json!([]));
}

#[test]
fn control_requests_are_answered_beside_an_operation() {
    for lock in ["children", "predecessor", "protected"] {
        let bed = Bed::new();
        let (mut c1, mut c2) = (bed.client("c1", lock), bed.client("c2", lock));
        c1.ok("acquire", json!({"grant": "g1"}));
        let pending = c2.send("acquire", json!({"grant": "g2"}));
        c2.ok("ping", json!({}));
        assert_eq!(c2.ok("confirm", json!({}))["holds"], json!(false), "{lock}");
        let quiet = c2.ok("quiesce", json!({}));
        assert_eq!(
            (
                quiet["sessions"].as_array().unwrap().len(),
                quiet["znodes"].as_array().unwrap().len()
            ),
            (1, 1)
        );
        let (outcome, _, error) = c2.ask("release", json!({"grant": "g2"}));
        assert!(outcome == Outcome::Fail && error.unwrap().starts_with("busy"), "{lock}");
        assert_eq!(c2.reply(pending), None);
        c1.ok("release", json!({"grant": "g1"}));
        bed.world.pass(MOMENT);
        assert_eq!(c2.reply(pending).unwrap().0, Outcome::Ok, "{lock}");
    }
}

#[test]
fn belief_is_checked_before_the_work_and_not_after() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "protected");
    let grant = c1.ok("acquire", json!({"grant": "g1"}));
    let work = c1.send("write", json!({"grant": "g1", "value": 1, "work_ms": 500}));
    bed.net.lose(bed.net.last_session(), OUTAGE);
    bed.world.pass(Duration::from_millis(300));
    assert_eq!(bed.world.lost(), ["g1"]);
    assert!(
        bed.net.server().exists(grant["path"].as_str().unwrap()).is_some(),
        "the work goes on under its znode"
    );
    bed.world.pass(LONG);
    assert_eq!(c1.reply(work).unwrap().0, Outcome::Ok);
    assert_eq!(bed.net.locks(), Vec::<String>::new(), "and no longer");
    for (f, value) in [
        ("write", json!({"grant": "g1", "value": 2})),
        ("release", json!({"grant": "g1"})),
    ] {
        let (outcome, _, error) = c1.ask(f, value);
        assert_eq!((outcome, error.as_deref()), (Outcome::Fail, Some("not-held")), "{f}");
    }
}

#[test]
fn a_confirm_whose_write_fails_confirms_nothing() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "predecessor");
    c1.ok("acquire", json!({"grant": "g1"}));
    bed.net.next("set", Fate::ReplyLost);
    assert_eq!(c1.ask("confirm", json!({})).0, Outcome::Info);
    bed.world.pass(OUTAGE);
    assert_eq!(c1.ok("confirm", json!({}))["holds"], json!(true));
    bed.net.expire(bed.net.last_session(), MOMENT);
    bed.world.pass(MOMENT);
    assert_eq!(
        c1.ask("confirm", json!({})).0,
        Outcome::Info,
        "its session is over, though it believes"
    );
    assert_eq!(c1.ok("write", json!({"grant": "g1", "value": 1}))["value"], json!(1));
}

#[test]
fn an_idle_predecessor_confirms_in_a_session_for_the_purpose() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "predecessor");
    assert_eq!(c1.ok("confirm", json!({}))["holds"], json!(false));
    assert_eq!(c1.ok("quiesce", json!({})), json!({"sessions": [], "znodes": []}));
}

#[test]
fn quiesce_waits_for_the_clean_up() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "protected");
    c1.ok("acquire", json!({"grant": "g1"}));
    bed.net.lose(bed.net.last_session(), LONG);
    let id = c1.send("quiesce", json!({}));
    assert_eq!(c1.reply(id), None);
    bed.world.pass(LONG);
    assert_eq!(c1.reply(id).unwrap().1["znodes"], json!([]));
    assert_eq!(bed.net.locks(), Vec::<String>::new());
}

#[test]
fn nonsense_is_answered() {
    let bed = Bed::new();
    let mut c1 = bed.client("c1", "fenced");
    assert!(
        c1.ask("enqueue", json!({}))
            .2
            .unwrap()
            .starts_with("no operation `enqueue`")
    );
    assert!(
        c1.ask("acquire", json!({"grand": "g1"}))
            .2
            .unwrap()
            .contains("missing field `grant`")
    );
    c1.line("what?");
    c1.line(r#"{"id":77}"#);
    assert_eq!(c1.reply(77).unwrap().0, Outcome::Fail);
    c1.ok("ping", json!({}));
}

#[test]
fn lines_are_as_the_protocol_says() {
    let request: Request = serde_json::from_str(r#"{"id":4,"f":"ping"}"#).unwrap();
    assert_eq!((request.value, request.timeout_ms), (Value::Null, None));
    for line in [
        r#"{"type":"hello","protocol":1,"pid":7,"session":null}"#,
        r#"{"type":"reply","id":4,"outcome":"info","value":null,"error":"timed out"}"#,
        r#"{"type":"notice","notice":"lost","value":{"grant":"g1","why":"disconnected"}}"#,
    ] {
        let message: Message = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), line);
    }
}
