//! What comes to the interpreter: lines and ends of clients' streams, and what the nemesis asks.

use super::interpreter::Interpreter;
use super::recorder::Entry;
use super::trigger::Armed;
use crate::cluster::Cluster;
use crate::cluster::exec::{Output, Stdin};
use crate::faults::nemesis::Ask;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;
use zooquake_checkers::EventType;
use zooquake_workloads::protocol::{BESIDE, Message};

/// One queue, so that everything has one order.
#[derive(Debug)]
pub(super) enum Input {
    /// A client's process said something, or has ended.
    Client {
        /// Which client, from 0.
        slot: usize,
        /// Which of its processes.
        incarnation: u64,
        /// What it said.
        output: Output,
    },
    /// A client's process was started, or could not be.
    Started {
        /// Which client, from 0.
        slot: usize,
        /// Which of its processes.
        incarnation: u64,
        /// The way to it.
        stdin: Result<Stdin>,
    },
    /// From the nemesis.
    Nemesis(Ask),
}

impl Interpreter {
    /// The nemesis's way to this interpreter.
    pub(super) fn nemesis_sender(&self) -> mpsc::UnboundedSender<Ask> {
        let (asks, mut receiver) = mpsc::unbounded_channel();
        let sender = self.sender.clone();
        tokio::spawn(async move {
            while let Some(ask) = receiver.recv().await {
                if sender.send(Input::Nemesis(ask)).is_err() {
                    return;
                }
            }
        });
        asks
    }

    /// Starts a client's process.
    pub(super) fn start_client(&mut self, number: usize) {
        let slot = &mut self.slots[number];
        slot.incarnation += 1;
        slot.killed = false;
        let (name, incarnation) = (slot.name.clone(), slot.incarnation);
        let (cluster, sender) = (Arc::clone(&self.cluster), self.sender.clone());
        tokio::spawn(async move {
            let outputs = sender.clone();
            let on_output = move |output| {
                // Nobody listens once the run has ended.
                let _ = outputs.send(Input::Client {
                    slot: number,
                    incarnation,
                    output,
                });
            };
            let stdin = cluster.start_client(&name, incarnation, on_output).await;
            let _ = sender.send(Input::Started {
                slot: number,
                incarnation,
                stdin,
            });
        });
    }

    pub(super) fn handle(&mut self, input: Input) -> Result<()> {
        match input {
            Input::Client {
                slot,
                incarnation,
                output,
            } if self.slots[slot].incarnation == incarnation => match output {
                Output::Line(line) => self.line(slot, &line),
                Output::Ended => self.ended(slot),
            },
            // Whatever a process wrote was read before its end, so only a second end could come here.
            Input::Client { .. } => Ok(()),
            Input::Started {
                slot,
                incarnation,
                stdin,
            } => {
                let stdin = stdin.with_context(|| self.cluster.log_tail(&self.slots[slot].name))?;
                if self.slots[slot].incarnation == incarnation {
                    self.slots[slot].stdin = Some(stdin);
                    self.wake(slot);
                }
                Ok(())
            }
            Input::Nemesis(ask) => self.nemesis(ask),
        }
    }

    fn nemesis(&mut self, ask: Ask) -> Result<()> {
        match ask {
            Ask::Record { fault, value, done } => {
                let begins = value["phase"] == "begin";
                let healed = value["phase"] == "skipped" || value["phase"] == "off" && value["verified"] == true;
                self.unhealed.extend(value["window"].as_u64().filter(|_| begins));
                self.unhealed.retain(|window| !healed || value["window"] != *window);
                self.faults += usize::from(begins);
                self.recorder.record(Entry::lane("nemesis", &fault, value))?;
                if begins {
                    self.recorder.sync()?;
                }
                // The nemesis waits for this, unless it has ended.
                let _ = done.send(());
            }
            Ask::Arm { window, fired } => self.armed = Some(Armed::new(&window, self.ops_began, fired)),
            Ask::Killing { client, expected } => {
                if let Some(slot) = self.slots.iter_mut().find(|slot| slot.name == client) {
                    slot.killed = true;
                }
                // The nemesis waits for this, unless it has ended.
                let _ = expected.send(());
            }
            Ask::Restart { client, greeted } => {
                if let Some(number) = self.slots.iter().position(|slot| slot.name == client) {
                    self.slots[number].awaited = Some(greeted);
                    self.start_client(number);
                }
            }
            Ask::Done => self.nemesis_done = true,
        }
        Ok(())
    }

    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        let name = self.slots[number].name.clone();
        let message: Message = serde_json::from_str(line)
            .with_context(|| format!("client {name} wrote a line that is no message of the protocol: {line}"))?;
        match message {
            Message::Hello {
                pid, session, cannot, ..
            } => {
                let mut value =
                    json!({ "pid": pid, "incarnation": self.slots[number].incarnation, "session": session });
                if !cannot.is_empty() {
                    value["cannot"] = json!(cannot);
                }
                self.slots[number].beside = !cannot.iter().any(|what| what == BESIDE);
                self.recorder.record(Entry::lane(&name, "hello", value))?;
                self.slots[number].greeted = true;
                if let Some(awaited) = self.slots[number].awaited.take() {
                    // The nemesis waits for this, unless it has ended.
                    let _ = awaited.send(());
                }
                self.wake(number);
            }
            Message::Notice { notice, value } => {
                let lost = notice == "lost" && value["grant"].as_str() == self.slots[number].hold.as_deref();
                self.recorder.record(Entry::lane(&name, &notice, value))?;
                if lost {
                    self.hold_ended(number);
                }
            }
            Message::Reply {
                id,
                outcome,
                value,
                error,
            } => {
                if self.slots[number].op.as_ref().is_some_and(|op| op.id == id) {
                    self.completed += 1;
                    self.complete(number, outcome, value, error)?;
                } else if let Some((f, sent)) = self.slots[number].control.remove(&id) {
                    self.control_answered(number, (id, f, sent), outcome, value, error)?;
                } else {
                    bail!("client {name} answered request {id}, which it was not asked: {line}");
                }
            }
        }
        Ok(())
    }

    /// Lets a client that is started and has said hello go on.
    fn wake(&mut self, number: usize) {
        let slot = &mut self.slots[number];
        if slot.runs() && slot.op.is_none() {
            slot.due = Some(Instant::now());
        }
    }

    /// A client's stream has ended: its operation completes now, and its hold ends.
    fn ended(&mut self, number: usize) -> Result<()> {
        let died = || Some("the client's process died".to_string());
        if let Some(op) = self.slots[number].op.take() {
            self.record_end(number, &op, EventType::Info, Value::Null, died())?;
        }
        let asked: Vec<&'static str> = self.slots[number].control.drain().map(|(_, (f, _))| f).collect();
        for f in asked {
            self.record_control(number, f, EventType::Info, Value::Null, died())?;
        }
        let (name, incarnation) = (self.slots[number].name.clone(), self.slots[number].incarnation);
        self.recorder
            .record(Entry::lane(&name, "exit", json!({ "incarnation": incarnation })))?;
        self.hold_ended(number);
        self.script.died(number);
        self.wake_others();
        let clients = self.slots.len() as u64;
        let slot = &mut self.slots[number];
        slot.stdin = None;
        slot.greeted = false;
        slot.due = None;
        slot.process += clients;
        if !slot.killed {
            bail!("client {name} ended by itself.\n{}", self.cluster.log_tail(&name));
        }
        Ok(())
    }
}
