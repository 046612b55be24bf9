//! The shell around the engine: feeds it with client lines, the nemesis's reports and the time, and carries out its
//! effects.

use super::cluster::RunCluster;
use super::progress::Progress;
use super::readiness::answer;
use super::recorder::Recorder;
use super::stage::{self, Stage};
use super::watchdog::Clocks;
use crate::faults::nemesis::{EngineLink, Nemesis, NemesisMessage, NemesisSchedule};
use anyhow::{Context, Result, bail};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{FutureExt, future};
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use zooquake_backend::Stdin;
use zooquake_engine::{Conclusion, Effect, Engine, Input, NemesisAnswer, ShellAnswer, Stalls, StartError};
use zooquake_history::{
    Node,
    evidence::Reading,
    plan::{Plan, Timing},
};

/// What passes between tasks and the shell.
enum ShellMessage {
    Input(Input),
    /// The process of a client with this incarnation was started.
    Stdin(usize, u64, Result<Stdin, StartError>),
    Nemesis(NemesisMessage),
}

/// Drives a run on one ensemble.
pub struct Shell<'a> {
    place: RunCluster,
    engine: Engine,
    recorder: &'a mut Recorder,
    progress: &'a mut Progress,
    stage: &'a Stage,
    interrupt: watch::Receiver<bool>,
    timing: Timing,
    schedule: NemesisSchedule,
    /// One queue, so that everything has one order.
    inputs: mpsc::UnboundedReceiver<ShellMessage>,
    sender: mpsc::UnboundedSender<ShellMessage>,
    /// Questions of the engine that are being answered.
    questions: FuturesUnordered<BoxFuture<'static, Input>>,
    /// The ways to the clients' processes.
    clients: Vec<Option<Stdin>>,
    /// Reports of the nemesis that wait for their answer, by token.
    reports: HashMap<u64, oneshot::Sender<NemesisAnswer>>,
    next_token: u64,
    over: watch::Sender<bool>,
    stalls: Stalls,
    /// The engines of containers that did not answer in the last turn.
    lost_engines: Vec<String>,
    /// When the run was begun, to compute how long it took until everything was up.
    begun: Duration,
    conclusion: Option<Conclusion>,
}

impl<'a> Shell<'a> {
    /// The shell of a plan's run on a cluster that is up, where this is to be done.
    ///
    /// # Errors
    /// If the plan's family has no generator.
    pub fn new(
        place: RunCluster,
        (plan, schedule): (&Plan, NemesisSchedule),
        (recorder, progress, stage): (&'a mut Recorder, &'a mut Progress, &'a Stage),
        interrupt: watch::Receiver<bool>,
        begun: Duration,
    ) -> Result<Self> {
        let (sender, inputs) = mpsc::unbounded_channel();
        // Half a session timeout is less than any recipe can notice.
        recorder.watch(Duration::from_millis(plan.cluster.timing.session_ms / 2));
        Ok(Self {
            place,
            engine: Engine::new(plan.clone())?,
            stalls: recorder.stalls(),
            lost_engines: Vec::new(),
            recorder,
            progress,
            stage,
            interrupt,
            timing: plan.cluster.timing,
            schedule,
            inputs,
            sender,
            questions: FuturesUnordered::new(),
            clients: vec![None; plan.cluster.clients],
            reports: HashMap::new(),
            next_token: 0,
            over: watch::channel(false).0,
            begun,
            conclusion: None,
        })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// If a client breaks the protocol or ends by itself, or the history cannot be written.
    pub async fn run(&mut self) -> Result<Conclusion> {
        let now = self.turn()?.monotonic;
        self.step(now, Input::Begin)?;
        if *self.interrupt.borrow() {
            self.step(now, Input::Interrupted)?;
        }
        loop {
            if let Some(conclusion) = self.conclusion.take() {
                self.recorder.leave();
                return Ok(conclusion);
            }
            let now = self.turn()?;
            // The loop turns again and again, so that a stall is measured that closely.
            let rest = self.place.clock.rest();
            let left = self.engine.due().map(|due| due.saturating_sub(now.monotonic));
            let rest = left.map_or(rest, |left| left.min(rest));
            self.recorder.rests(now, rest);
            let happened = tokio::select! {
                biased;
                happened = self.inputs.recv() => happened.context("the queue of a run never closes")?,
                Some(input) = self.questions.next() => ShellMessage::Input(input),
                () = self.place.clock.sleep(rest) => ShellMessage::Input(Input::Turn),
                Ok(()) = self.interrupt.changed() => ShellMessage::Input(Input::Interrupted),
            };
            let now = self.turn()?.monotonic;
            let input = self.input(happened);
            self.step(now, input)?;
            let engine = &self.engine;
            self.progress.tick(|| engine.status(now));
        }
    }

    /// Begins a turn of the loop: a stall, or the loss of an engine of containers, is known before anything that is
    /// read after it. Returns the moment of the turn.
    fn turn(&mut self) -> Result<Clocks> {
        let now = self.recorder.turns()?;
        if self.recorder.stalls() != self.stalls {
            self.stalls = self.recorder.stalls();
            self.step(now.monotonic, Input::Stalled(self.stalls))?;
        }
        let lost = self.place.cluster.lost_engines();
        if lost != self.lost_engines {
            self.lost_engines.clone_from(&lost);
            self.step(now.monotonic, Input::Engines(lost))?;
        }
        Ok(now)
    }

    fn input(&mut self, happened: ShellMessage) -> Input {
        match happened {
            ShellMessage::Input(Input::Answer(ShellAnswer::Tree(Ok(reading)))) => {
                let end_index = self.recorder.len();
                Input::Answer(ShellAnswer::Tree(Ok(Reading { end_index, ..reading })))
            }
            ShellMessage::Input(input) => input,
            ShellMessage::Stdin(client, incarnation, stdin) => Input::Started {
                client,
                incarnation,
                started: stdin.map(|stdin| self.clients[client] = Some(stdin)),
            },
            ShellMessage::Nemesis((report, answer)) => {
                self.next_token += 1;
                self.reports.insert(self.next_token, answer);
                Input::Nemesis {
                    token: self.next_token,
                    report,
                }
            }
        }
    }

    fn step(&mut self, now: Duration, input: Input) -> Result<()> {
        let effects = self.engine.step(now, input);
        effects.into_iter().try_for_each(|effect| self.carry_out(effect))
    }

    fn carry_out(&mut self, effect: Effect) -> Result<()> {
        match effect {
            Effect::Record(entry) => drop(self.recorder.record(entry)?),
            Effect::Sync => self.recorder.sync()?,
            Effect::Send { client, request } => {
                if let Some(stdin) = &self.clients[client] {
                    stdin.request(request)?;
                }
            }
            Effect::Start { client, incarnation } => {
                let node = Node::client(client + 1);
                self.progress
                    .detail(|| format!("starting process {incarnation} of client {node}"));
                self.start(client, incarnation);
            }
            Effect::Entered(phase) => {
                self.place.cluster.entered(phase);
                self.stage.enter(stage::of_phase(phase));
                let took = (self.place.clock.now() - self.begun).as_secs_f64();
                match phase {
                    "ops" => self.progress.say(&format!("everything is up after {took:.1} s")),
                    _ => self.progress.detail(|| format!("phase {phase} after {took:.1} s")),
                }
            }
            Effect::Strike => self.strike(),
            Effect::Over => drop(self.over.send_replace(true)),
            Effect::Answer { token, answer } => {
                let waiting = self.reports.remove(&token);
                if let (Some(waiting), Some(answer)) = (waiting, answer) {
                    // The nemesis waits for this, unless it has ended.
                    let _ = waiting.send(answer);
                }
            }
            Effect::Say(text) => self.progress.say(&text),
            Effect::Broken { client, why } => {
                bail!("{why}\n{}", self.place.cluster.log_tail(&Node::client(client + 1)));
            }
            Effect::Done(conclusion) => self.conclusion = Some(conclusion),
            Effect::Ask(question) => {
                let answered = answer(question, self.place.clone(), self.timing, self.recorder.len());
                self.questions.push(answered.map(Input::Answer).boxed());
            }
            Effect::Examine { client, incarnation } => {
                let cluster = self.place.cluster.clone();
                let examined = async move {
                    Input::Examined {
                        client,
                        incarnation,
                        unreachable: cluster.unreachable(&Node::client(client + 1)).await,
                    }
                };
                self.questions.push(examined.boxed());
            }
        }
        Ok(())
    }

    /// Starts a client's process.
    fn start(&mut self, client: usize, incarnation: u64) {
        self.clients[client] = None;
        let (cluster, sender) = (self.place.cluster.clone(), self.sender.clone());
        let starting = async move {
            let outputs = sender.clone();
            let on_output = move |output| {
                // The receiver is gone once the run has ended.
                let _ = outputs.send(ShellMessage::Input(Input::Client {
                    client,
                    incarnation,
                    output,
                }));
            };
            let node = Node::client(client + 1);
            let stdin = match cluster.start_client(&node, incarnation, Box::new(on_output)).await {
                Ok(stdin) => Ok(stdin),
                Err(error) => Err(StartError {
                    why: format!("{error:#}"),
                    unreachable: cluster.unreachable(&node).await.is_some(),
                }),
            };
            let _ = sender.send(ShellMessage::Stdin(client, incarnation, stdin));
        };
        self.place.clock.spawn(starting.boxed());
    }

    /// Lets the nemesis begin.
    fn strike(&mut self) {
        let (reports, mut told) = mpsc::unbounded_channel();
        let nemesis = Nemesis {
            cluster: self.place.cluster.clone(),
            clock: self.place.clock.clone(),
            link: EngineLink::new(reports),
            over: self.over.subscribe(),
        };
        let sender = self.sender.clone();
        let passing = async move {
            while let Some(told) = told.recv().await {
                if sender.send(ShellMessage::Nemesis(told)).is_err() {
                    return;
                }
            }
        };
        let both = future::join(nemesis.run(self.schedule.clone()), passing);
        self.place.clock.spawn(both.map(|_| ()).boxed());
    }
}
