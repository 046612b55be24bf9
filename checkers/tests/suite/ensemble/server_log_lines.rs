//! Logs as servers write them, line by line.

use crate::script::event;
use zooquake_checkers::ensemble::{EnsembleElections, Suspicion, WallClock};
use zooquake_history::server_log::ServerLog;
use zooquake_history::{EventType, Node, ServerSample};

/// The wall clock at the beginning of the run: 2026-01-02 03:00:00 UTC, in milliseconds since 1970.
pub const BEGUN_MS: i64 = 1_767_322_800_000;

/// Writes the log of one server.
#[derive(Debug, Clone, Default)]
pub struct ServerLogWriter {
    pub sid: i64,
    /// Whether it writes as the official image does.
    pub official: bool,
    pub text: String,
}

impl ServerLogWriter {
    pub fn new(sid: i64, official: bool) -> Self {
        Self {
            sid,
            official,
            text: String::new(),
        }
    }

    /// Goes on with a log in its place.
    pub fn add(&mut self, entries: impl FnOnce(Self) -> Self) {
        *self = entries(std::mem::take(self));
    }

    /// An entry at a moment, in milliseconds since the run began.
    pub fn line(mut self, ms: i64, class: &str, text: &str) -> Self {
        let (hour, minute, second) = (3 + ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        let at = format!("2026-01-02 {hour:02}:{minute:02}:{second:02},{:03}", ms % 1000);
        let thread = format!("QuorumPeer[myid={}](plain=0.0.0.0:2181)(secure=disabled)", self.sid);
        let line = if self.official {
            format!(
                "{at} [myid:{}] - INFO  [{thread}:o.a.z.s.q.{class}@77] - {text}\n",
                self.sid
            )
        } else {
            format!("{at} [{thread}] INFO org.apache.zookeeper.server.quorum.{class} - {text}\n")
        };
        self.text += &line;
        self
    }

    /// The process starts.
    pub fn starts(self, ms: i64) -> Self {
        let sid = self.sid;
        self.line(ms, "QuorumPeerConfig", "Reading configuration from: /conf/zoo.cfg")
            .line(ms, "QuorumPeerMain", &format!("Starting quorum peer, myid={sid}"))
    }

    /// It begins to look for a leader.
    pub fn looks(self, ms: i64, zxid: i64) -> Self {
        let sid = self.sid;
        self.line(ms, "QuorumPeer", "LOOKING").line(
            ms,
            "FastLeaderElection",
            &format!("New election. My id = {sid}, proposed zxid=0x{zxid:x}"),
        )
    }

    /// A message arrives: of whom, what the sender is, its round, its vote as `(epoch, zxid, leader)`.
    pub fn hears(self, ms: i64, sid: i64, state: &str, round: i64, vote: (i64, i64, i64)) -> Self {
        let (epoch, zxid, leader) = vote;
        let text = format!(
            "Notification: my state:LOOKING; n.sid:{sid}, n.state:{state}, n.leader:{leader}, n.round:0x{round:x}, \
             n.peerEpoch:0x{epoch:x}, n.zxid:0x{zxid:x}, message format version:0x2, n.config version:0x0"
        );
        self.line(ms, "FastLeaderElection", &text)
    }

    /// It casts a vote, which arrives at itself.
    pub fn casts(self, ms: i64, round: i64, vote: (i64, i64, i64)) -> Self {
        let sid = self.sid;
        self.hears(ms, sid, "LOOKING", round, vote)
    }

    /// It becomes `LEADING`, `FOLLOWING`, ….
    pub fn becomes(self, ms: i64, state: &str) -> Self {
        self.line(ms, "QuorumPeer", state)
    }

    /// A quorum acknowledges it as leader in an epoch.
    pub fn leads(self, ms: i64, epoch: i64, sids: &str) -> Self {
        let text = format!(
            "Have quorum of supporters, sids: [[{sids}]]; starting up and setting last processed zxid: 0x{:x}",
            epoch << 32
        );
        self.line(ms, "Leader", &text)
    }

    /// What is read of it.
    pub fn log(&self) -> ServerLog {
        ServerLog::read(&Node::server(self.sid as usize).to_string(), self.text.as_bytes())
    }
}

/// What is found in logs and answers, by the clock by which the logs above are written.
pub fn judge(logs: &[ServerLog], samples: &[ServerSample]) -> Vec<Suspicion> {
    let now = serde_json::json!({ "unix_us": BEGUN_MS * 1000 });
    let clock = &WallClock::from_events(&[event(0, 0, "run", None, EventType::Info, "clock", now)]);
    EnsembleElections { logs, samples, clock }.judge().0
}

/// Wants these words in what was found.
#[track_caller]
pub fn tells(found: &Suspicion, words: &str) {
    assert!(found.why.contains(words), "{}", found.why);
}

/// The kinds of what is found.
pub fn kinds(logs: &[ServerLog], samples: &[ServerSample]) -> Vec<&'static str> {
    judge(logs, samples).iter().map(|suspicion| suspicion.kind).collect()
}

/// An answer of a server, at milliseconds since the run began.
pub fn sample(ms: u64, server: &str, mode: &str, zxid: i64) -> ServerSample {
    ServerSample {
        time: ms * 1_000_000,
        server: server.to_owned(),
        mode: mode.to_owned(),
        epoch: zxid >> 32,
        zxid,
        ..ServerSample::default()
    }
}
