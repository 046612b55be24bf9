//! Clients driven through the client program, line by line.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::mpsc;
use zooquake_workloads::client::{Output, RecipeClient};
use zooquake_workloads::protocol::{Message, Outcome, Request};
use zooquake_workloads::recipes::commit::Journal;
use zooquake_workloads::recipes::variant;

use crate::bed::{LONG, MOMENT};
use crate::world::RecipeWorld;
use zooquake_workloads::zk::sim::Net;

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

/// A server and its clients.
pub struct ClientTestBed {
    pub world: RecipeWorld,
    pub net: Net,
    /// What clients have on their disks, by their names.
    journals: RefCell<BTreeMap<String, Journal>>,
}

/// A client that is driven line by line.
pub struct DrivenClient {
    world: RecipeWorld,
    lines: mpsc::UnboundedSender<String>,
    output: Output,
    pipe: Pipe,
    last: u64,
}

impl ClientTestBed {
    pub fn new() -> Self {
        let world = RecipeWorld::default();
        let net = Net::new(&world);
        Self {
            world,
            net,
            journals: RefCell::default(),
        }
    }

    pub fn client(&self, name: &str, lock: &str) -> DrivenClient {
        self.drive(name, "lock", lock)
    }

    pub fn drive(&self, name: &str, family: &str, recipe: &str) -> DrivenClient {
        let (mut env, pipe) = (self.world.env(Arc::new(self.net.clone())), Pipe::default());
        env.client = name.into();
        let mut journals = self.journals.borrow_mut();
        env.journal = Some(
            journals
                .entry(name.to_string())
                .or_insert_with(Journal::in_memory)
                .clone(),
        );
        let output = Output::to(pipe.clone());
        let variant = variant(family, recipe).unwrap();
        variant.znodes.iter().for_each(|path| self.net.server().ensure(path));
        let recipe = variant.recipe(&env).unwrap();
        let (lines, requests) = mpsc::unbounded_channel();
        self.world
            .start(RecipeClient::new(name, env, recipe, output.clone()).serve(requests));
        self.world.pass(MOMENT);
        DrivenClient {
            world: self.world.clone(),
            lines,
            output,
            pipe,
            last: 0,
        }
    }
}

impl DrivenClient {
    pub fn send(&mut self, f: &str, value: Value) -> u64 {
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

    pub fn line(&self, line: &str) {
        self.lines.send(line.to_string()).unwrap();
        self.world.pass(MOMENT);
    }

    pub fn reply(&self, wanted: u64) -> Option<(Outcome, Value, Option<String>)> {
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
    pub fn ask(&mut self, f: &str, value: Value) -> (Outcome, Value, Option<String>) {
        let id = self.send(f, value);
        self.reply(id).unwrap_or_else(|| panic!("no reply to {f}"))
    }

    /// The answer of something that takes longer.
    pub fn end(&mut self, f: &str, value: Value) -> (Outcome, Value, Option<String>) {
        let id = self.send(f, value);
        self.world.pass(LONG);
        self.reply(id).unwrap_or_else(|| panic!("no reply to {f}"))
    }

    pub fn ok(&mut self, f: &str, value: Value) -> Value {
        let (outcome, value, error) = self.ask(f, value);
        assert_eq!((outcome, error), (Outcome::Ok, None), "{f}");
        value
    }

    /// The error of an operation that certainly did not happen.
    pub fn failed(&mut self, f: &str, value: Value) -> String {
        let (outcome, _, error) = self.ask(f, value);
        assert_eq!(outcome, Outcome::Fail, "{f}");
        error.unwrap()
    }
}
