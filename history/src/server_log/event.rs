//! The events of elections that the lines of a server's log record.
//!
//! The texts are those of ZooKeeper 3.8 and 3.9 (`FastLeaderElection`, `QuorumPeer`, `Leader`, `QuorumPeerMain`).

use super::line::LogLine;
use super::vote::LeaderVote;

/// What a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerRole {
    /// It looks for a leader.
    Looking,
    /// It follows one.
    Following,
    /// It won an election; whether it came to lead is another matter.
    Leading,
    /// It observes, and never votes.
    Observing,
}

/// One message of an election, as a server logs it when it arrives; a server's own broadcast arrives there too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notification {
    /// The id of its sender (`n.sid`).
    pub sid: i64,
    /// What the sender was (`n.state`).
    pub state: ServerRole,
    /// The sender's round, its logical clock (`n.round`).
    pub round: i64,
    /// The sender's vote (`n.leader`, `n.peerEpoch`, `n.zxid`).
    pub vote: LeaderVote,
}

/// An entry about elections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElectionEvent {
    /// The process has started and reads its configuration.
    Started,
    /// It has read its id.
    Named(i64),
    /// It begins to look for a leader, and proposes itself with its last logged zxid.
    Looks {
        /// Its id.
        sid: i64,
        /// Its last logged zxid.
        zxid: i64,
    },
    /// A message arrived.
    Notified(Notification),
    Became(ServerRole),
    /// A quorum has acknowledged it as leader; it leads in the epoch of this zxid.
    Established {
        /// The zxid that it begins with, `epoch << 32`.
        zxid: i64,
        /// The servers that have acknowledged it, itself among them.
        sids: Vec<i64>,
    },
}

/// The event that an entry records; `Ok(None)` if it is about something else.
///
/// # Errors
///
/// If an entry of an election is cut off, or of a version of ZooKeeper with other texts.
pub fn election_event(line: LogLine<'_>) -> Result<Option<ElectionEvent>, ()> {
    let text = line.text;
    let event = match line.class {
        "QuorumPeerConfig" if text.starts_with("Reading configuration from") => ElectionEvent::Started,
        "QuorumPeerMain" => match text.strip_prefix("Starting quorum peer, myid=") {
            Some(sid) => ElectionEvent::Named(sid.parse().map_err(drop)?),
            None => return Ok(None),
        },
        "QuorumPeer" => match state(text) {
            Some(state) => ElectionEvent::Became(state),
            None => return Ok(None),
        },
        "FastLeaderElection" if text.starts_with("New election") => looks(text).ok_or(())?,
        "FastLeaderElection" if text.starts_with("Notification: ") => {
            ElectionEvent::Notified(notification(text).ok_or(())?)
        }
        "Leader" if text.starts_with("Have quorum of supporters") => established(text).ok_or(())?,
        _ => return Ok(None),
    };
    Ok(Some(event))
}

/// `New election. My id = 3, proposed zxid=0x10000009d`
fn looks(text: &str) -> Option<ElectionEvent> {
    let sid = field(text, "My id = ")?.parse().ok()?;
    let zxid = hex(field(text, "proposed zxid=")?)?;
    Some(ElectionEvent::Looks { sid, zxid })
}

/// `Notification: my state:LOOKING; n.sid:3, n.state:LOOKING, n.leader:3, n.round:0x1, n.peerEpoch:0x0, n.zxid:0x0,
/// message format version:0x2, n.config version:0x0`
fn notification(text: &str) -> Option<Notification> {
    let number = |name| field(text, name)?.parse().ok();
    // The last field: without it the line is cut off, and a number before it may be too.
    hex(field(text, "n.config version:")?)?;
    Some(Notification {
        sid: number("n.sid:")?,
        state: state(field(text, "n.state:")?)?,
        round: hex(field(text, "n.round:")?)?,
        vote: LeaderVote {
            epoch: hex(field(text, "n.peerEpoch:")?)?,
            zxid: hex(field(text, "n.zxid:")?)?,
            leader: number("n.leader:")?,
        },
    })
}

/// `Have quorum of supporters, sids: [[1, 3]]; starting up and setting last processed zxid: 0x300000000`; with two
/// lists while the members of the ensemble are being changed.
fn established(text: &str) -> Option<ElectionEvent> {
    let zxid = hex(field(text, "last processed zxid: ")?)?;
    let (_, sids) = text.split_once("sids: [")?;
    let (sids, _) = sids.split_once(';')?;
    let numbers = sids
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty());
    let mut sids: Vec<i64> = numbers.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    sids.sort_unstable();
    sids.dedup();
    Some(ElectionEvent::Established { zxid, sids })
}

fn state(word: &str) -> Option<ServerRole> {
    Some(match word {
        "LOOKING" => ServerRole::Looking,
        "FOLLOWING" => ServerRole::Following,
        "LEADING" => ServerRole::Leading,
        "OBSERVING" => ServerRole::Observing,
        _ => return None,
    })
}

/// What follows `name`, up to the next comma or semicolon.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(name)?;
    rest.split([',', ';']).next().map(str::trim)
}

/// A number as Java prints a `long` in hexadecimal, with two's complement below zero.
fn hex(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok().map(u64::cast_signed)
}
