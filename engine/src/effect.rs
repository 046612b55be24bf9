//! What goes into the engine and what comes out of it.

use serde_json::Value;
use std::time::Duration;
use zooquake_history::evidence::Reading;
use zooquake_history::plan::Window;
use zooquake_history::protocol::{ProcessOutput, Request};
use zooquake_history::{EventType, Node, Process, TreeReadings};

/// Something that has happened. Clients are numbered from 0.
#[derive(Debug)]
pub enum Input {
    /// The run begins: hosts and servers are up.
    Begin,
    /// Time has passed.
    Turn,
    /// Output of a client's process was read, or its end.
    Client {
        client: usize,
        /// The number of its process, from 1.
        incarnation: u64,
        output: ProcessOutput,
    },
    /// A client's process was started, or could not be, with the reason.
    Started {
        client: usize,
        /// The number of its process, from 1.
        incarnation: u64,
        started: Result<(), StartError>,
    },
    /// Whether a client's process has ended; answers [`Effect::Examine`].
    Examined {
        client: usize,
        /// The number of its process, from 1.
        incarnation: u64,
        /// Why the process cannot be reached, although it may live; `None` if it has ended.
        unreachable: Option<String>,
    },
    /// Other engines of containers than before do not answer now: these, in words.
    Engines(Vec<String>),
    /// The nemesis reports; it waits for an [`Effect::Answer`] with this token.
    Nemesis {
        /// Names the report.
        token: u64,
        report: NemesisReport,
    },
    /// The harness stood still; these are all its stalls, the last of which is recorded.
    Stalled(Stalls),
    /// The user wants the run to stop.
    Interrupted,
    /// Answers the [`Question`] that was asked.
    Answer(ShellAnswer),
}

/// Why a client's process was not started.
#[derive(Debug)]
pub struct StartError {
    pub why: String,
    /// Whether the process's node cannot be reached at the moment.
    pub unreachable: bool,
}

/// Something to be done, in the order in which it is given.
#[derive(Debug)]
pub enum Effect {
    /// Append an event to the history.
    Record(HistoryEntry),
    /// Bring the history to the disk.
    Sync,
    /// Send a request to a client.
    Send { client: usize, request: Request },
    /// Start a client's process; [`Input::Started`] answers.
    Start {
        client: usize,
        /// The number of its process, from 1.
        incarnation: u64,
    },
    /// Find out whether a client's process whose output has ended has ended itself; [`Input::Examined`] answers.
    Examine {
        client: usize,
        /// The number of its process, from 1.
        incarnation: u64,
    },
    /// A phase of the run has begun.
    Entered(&'static str),
    /// Let the nemesis begin with its schedule.
    Strike,
    /// Let the nemesis end: the operations are over.
    Over,
    /// Answer a report of the nemesis; `None` refuses what it asked.
    Answer {
        /// The token of the report.
        token: u64,
        answer: Option<NemesisAnswer>,
    },
    /// Print a line for the user.
    Say(String),
    /// Find the answer to a question.
    Ask(Question),
    /// A client breaks the protocol, ended by itself or cannot be started: the run fails, and proves nothing.
    Broken {
        client: usize,
        /// What the client did, in words.
        why: String,
    },
    /// The run on this ensemble is over.
    Done(Conclusion),
}

/// What a run on one ensemble has come to.
#[derive(Debug)]
pub enum Conclusion {
    /// Its end, with the readings of the tree, or the reason why it was not read.
    Audited(Result<TreeReadings, String>),
    /// The end of a scene.
    Played,
    /// The user stopped the run before its end.
    Interrupted,
}

/// A question about the cluster, which the shell answers. One is open at a time.
#[derive(Debug)]
pub enum Question {
    /// Which server leads, once it has led steadily and a silent session has expired under it; [`ShellAnswer::Steady`]
    /// answers.
    Steady,
    /// Whether the same server leads as before; [`ShellAnswer::Leads`] answers.
    Leader(Leader),
    /// Whether the process of a client runs; [`ShellAnswer::Running`] answers.
    Runs(usize),
    /// All znodes; [`ShellAnswer::Tree`] answers.
    Tree,
}

/// The shell's answer to a [`Question`], or the reason why there is none.
#[derive(Debug)]
pub enum ShellAnswer {
    /// Answers [`Question::Steady`].
    Steady(Result<Leader, String>),
    /// Answers [`Question::Leader`]: that it does, or why not.
    Leads(Result<(), String>),
    /// Answers [`Question::Runs`]: as what it was seen running, or why not.
    Running(Result<String, String>),
    /// Answers [`Question::Tree`].
    Tree(Result<Reading, String>),
}

/// The stalls of the harness that were recorded so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalls {
    pub count: usize,
    /// How long the last one was.
    pub last: Duration,
    /// How much time all of them took from deadlines.
    pub lost: Duration,
}

/// A server that leads, and since which epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leader {
    pub server: Node,
    pub epoch: i64,
}

/// A report of the nemesis, or a request.
#[derive(Debug)]
pub enum NemesisReport {
    /// Write an event; answered when it is written, and on disk if it is the begin of a window or of a step.
    Record(HistoryEntry),
    /// Answered when the window's trigger fires; refused if it does not in time.
    Arm(Box<Window>),
    /// A client's process is about to be killed on purpose; answered when its end is expected.
    Killing(Node),
    /// A killed client is to be started again; answered when its process has said hello.
    Restart(Node),
    /// Nothing more will come from the nemesis.
    Done,
}

/// An answer to the nemesis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NemesisAnswer {
    Done,
    /// The trigger has fired.
    Fired(TriggerFiring),
}

/// The state of the clients at which a trigger fired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TriggerFiring {
    /// The client whose state fired it.
    pub client: Option<Node>,
    /// The client that held.
    pub holder: Option<Node>,
}

/// What the engine appends to the history: an event but for its index and time, which the recorder adds.
#[derive(Debug)]
pub struct HistoryEntry {
    pub process: Process,
    pub kind: EventType,
    pub f: String,
    pub value: Value,
    pub error: Option<String>,
    /// The client, if the event is one of a client's.
    pub node: Option<Node>,
}

impl HistoryEntry {
    /// An event, of a named process that is no client's, which is no operation.
    pub fn named(name: &str, f: &str, value: Value) -> Self {
        Self {
            process: Process::Name(name.into()),
            kind: EventType::Info,
            f: f.to_string(),
            value,
            error: None,
            node: None,
        }
    }

    /// An event of a client's named process that is no operation.
    pub fn of_client(client: &Node, f: &str, value: Value) -> Self {
        Self {
            process: client.into(),
            node: Some(client.clone()),
            ..Self::named("", f, value)
        }
    }
}
