//! A server's log, read into the lives of its process and what it did in each when it looked for a leader.

mod event;
mod line;
mod vote;

use event::ElectionEvent;
pub use event::{Notification, ServerRole};
use line::LineRead;
pub use vote::{LeaderVote, VoteRule};

/// The entries of one server's log about elections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerLog {
    /// `n1`, ….
    pub server: String,
    /// The lives of its process, in order.
    pub lives: Vec<ServerLife>,
    /// Where the log is cut off or cannot be read, in words.
    pub cuts: Vec<String>,
}

/// From a start of the process to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerLife {
    /// The server's id, once it is known.
    pub sid: Option<i64>,
    /// Whether all of it can be read, from its start on. Only then is it known what came before what.
    pub whole: bool,
    /// Each time it looked for a leader, in order.
    pub looks: Vec<LeaderSearch>,
}

/// One search for a leader (`lookForLeader`), and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeaderSearch {
    /// The server's id.
    pub sid: i64,
    /// When it began, in milliseconds since 1970 on the host's wall clock, which all servers share.
    pub began_ms: i64,
    /// Its own last logged zxid, which it proposed itself with; the lowest number there is for an observer.
    pub zxid: i64,
    /// The messages that arrived until it ended, its own among them, in order.
    pub seen: Vec<(i64, Notification)>,
    /// When it ended and what the server then became; `None` if it never ended.
    pub end: Option<(i64, ServerRole)>,
    /// What it came to lead, if it won and a quorum acknowledged it.
    pub established: Option<EstablishedLeader>,
}

/// A leader that a quorum has acknowledged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EstablishedLeader {
    /// The epoch it leads in.
    pub epoch: i64,
    /// When, in milliseconds since 1970.
    pub ms: i64,
    /// The ids of the servers that had acknowledged it by then.
    pub sids: Vec<i64>,
}

/// A vote as a server cast it: its broadcast, as it arrived at itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CastVote {
    /// When, in milliseconds since 1970.
    pub ms: i64,
    /// The round it was cast in.
    pub round: i64,
    /// The leader that the server voted for, with that one's epoch and zxid.
    pub vote: LeaderVote,
}

impl ServerLog {
    /// Reads the log of a server. Nothing in it is trusted; what cannot be read is named in [`ServerLog::cuts`].
    pub fn read(server: &str, bytes: &[u8]) -> Self {
        let mut log = Self {
            server: server.to_owned(),
            ..Self::default()
        };
        if bytes.is_empty() {
            log.cut("it is empty".to_owned());
        }
        let text = String::from_utf8_lossy(bytes);
        for (at, line) in text.split_inclusive('\n').enumerate() {
            let number = at + 1;
            let Some(line) = line.strip_suffix('\n') else {
                log.cut(format!("line {number}, the last, has no end"));
                break;
            };
            let (ms, event) = match line::read(line.trim_end_matches('\r')) {
                LineRead::Other => continue,
                LineRead::Torn => {
                    log.cut(format!(
                        "line {number} begins like an entry and does not go on like one"
                    ));
                    continue;
                }
                LineRead::Entry(entry) => (entry.ms, event::election_event(entry)),
            };
            match event {
                Ok(Some(event)) => log.take(ms, event, number),
                Ok(None) if log.lives.is_empty() => log.begin(number),
                Ok(None) => {}
                Err(()) => log.cut(format!("line {number} is about an election and cannot be read")),
            }
        }
        log
    }

    /// The server's id, by the first entry that contains one.
    pub fn sid(&self) -> Option<i64> {
        self.lives.iter().find_map(|life| life.sid)
    }

    /// Every look, with the life it belongs to.
    pub fn looks(&self) -> impl Iterator<Item = (&ServerLife, &LeaderSearch)> {
        self.lives
            .iter()
            .flat_map(|life| life.looks.iter().map(move |look| (life, look)))
    }

    fn cut(&mut self, why: String) {
        self.cuts.push(why);
        if let Some(life) = self.lives.last_mut() {
            life.whole = false;
        }
    }

    /// The log does not begin with a start of the process.
    fn begin(&mut self, number: usize) {
        self.lives.push(ServerLife::default());
        self.cut(format!(
            "it begins at line {number} in the middle of a life of the process"
        ));
    }

    fn take(&mut self, ms: i64, event: ElectionEvent, number: usize) {
        if event == ElectionEvent::Started {
            self.lives.push(ServerLife {
                whole: true,
                ..ServerLife::default()
            });
            return;
        }
        if self.lives.is_empty() {
            self.begin(number);
        }
        if matches!(event, ElectionEvent::Named(_)) && self.lives.last().is_some_and(|life| life.sid.is_some()) {
            self.lives.push(ServerLife::default());
            self.cut(format!(
                "the process starts at line {number}, and its first entries are missing"
            ));
        }
        let Some(life) = self.lives.last_mut() else { return };
        match event {
            ElectionEvent::Started => {}
            ElectionEvent::Named(sid) => life.sid = Some(sid),
            ElectionEvent::Looks { sid, zxid } => {
                life.sid = Some(sid);
                life.looks.push(LeaderSearch {
                    sid,
                    zxid,
                    began_ms: ms,
                    ..LeaderSearch::default()
                });
            }
            ElectionEvent::Notified(notification) => {
                if let Some(look) = life.looks.last_mut().filter(|look| look.end.is_none()) {
                    look.seen.push((ms, notification));
                }
            }
            ElectionEvent::Became(ServerRole::Looking) => {}
            ElectionEvent::Became(state) => {
                if let Some(look) = life.looks.last_mut().filter(|look| look.end.is_none()) {
                    look.end = Some((ms, state));
                }
            }
            ElectionEvent::Established { zxid, sids } => {
                let led = |look: &&mut LeaderSearch| matches!(look.end, Some((_, ServerRole::Leading)));
                if let Some(look) = life.looks.last_mut().filter(led) {
                    let epoch = zxid >> 32;
                    look.established = Some(EstablishedLeader { epoch, ms, sids });
                }
            }
        }
    }
}

impl LeaderSearch {
    /// The votes it cast, in order. The first is for itself; what stands before that was still on its way from an
    /// earlier look. An observer casts none.
    pub fn casts(&self) -> impl Iterator<Item = CastVote> + '_ {
        let own = |(ms, message): &(i64, Notification)| {
            (message.sid == self.sid && message.state == ServerRole::Looking).then_some(CastVote {
                ms: *ms,
                round: message.round,
                vote: message.vote,
            })
        };
        self.seen
            .iter()
            .filter_map(own)
            .skip_while(|cast| cast.vote.leader != self.sid)
    }
}
