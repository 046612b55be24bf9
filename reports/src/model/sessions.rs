//! Sessions as they are drawn: the checkers', each in a row of its client, with words.

use super::Lanes;
use crate::text;
use zooquake_checkers::analysis::{Analysis, SessionEnd, SessionSpan};

/// The most sessions drawn of one client.
const MOST: usize = 500;

/// The sessions of one client over time.
#[derive(Debug)]
pub struct SessionLane {
    /// The row of its client.
    pub lane: usize,
    /// The client's name, clipped.
    pub client: String,
    /// Its sessions, by their beginnings.
    pub sessions: Vec<DrawnSession>,
}

#[derive(Debug)]
pub struct DrawnSession {
    /// When it was opened.
    pub from: u64,
    /// When its end is first shown; `None` if it lasts.
    pub until: Option<u64>,
    /// What ended it.
    pub end: Option<SessionEnd>,
    /// When its client was not connected.
    pub away: Vec<(u64, u64)>,
    /// When it was first seen at another server.
    pub moves: Vec<u64>,
    /// All of that in words.
    pub words: String,
}

/// What occurs among sessions, for a legend.
#[derive(Debug)]
pub struct SessionMarks {
    pub away: bool,
    pub expired: bool,
    pub closed: bool,
    pub ended: bool,
    pub moved: bool,
}

/// A row for each client with a session, in the order of the clients' rows; none where the record has no sessions.
pub fn drawn(analysis: &Analysis<'_>, lanes: &Lanes, run_end: u64) -> Vec<SessionLane> {
    let all = SessionSpan::all(analysis);
    let lane = |(lane, client): (usize, &String)| {
        let of = all.iter().filter(|span| span.node == client).take(MOST);
        let sessions: Vec<DrawnSession> = of.map(|span| DrawnSession::new(span, run_end)).collect();
        (!sessions.is_empty()).then(|| SessionLane {
            lane,
            client: text::clip(client, 8),
            sessions,
        })
    };
    lanes.names.iter().enumerate().filter_map(lane).collect()
}

impl DrawnSession {
    fn new(span: &SessionSpan<'_>, run_end: u64) -> Self {
        let until = span.end.map(|(_, at)| at);
        let last = until.unwrap_or(run_end);
        let away = span.away.iter().map(|&(from, until)| (from, until.unwrap_or(last)));
        Self {
            from: span.from,
            until,
            end: span.end.map(|(end, _)| end),
            away: away.filter(|(from, until)| from < until).collect(),
            moves: span.moves.iter().map(|(at, _)| *at).collect(),
            words: words(span),
        }
    }
}

/// `c1: session 0x1001, opened by 0.500 s, moved to n2 by 3.000 s, expired by the ensemble by 9.200 s`.
fn words(span: &SessionSpan<'_>) -> String {
    let moved = |(at, server): &(u64, &str)| format!(", moved to {} by {}", text::clip(server, 16), text::moment(*at));
    let moves: String = span.moves.iter().take(4).map(moved).collect();
    let end = match span.end {
        Some((SessionEnd::Closed, at)) => format!(", closed by {}", text::moment(at)),
        Some((SessionEnd::Expired, at)) => format!(", expired by the ensemble by {}", text::moment(at)),
        Some((SessionEnd::Either, at)) => format!(", closed or expired by {}", text::moment(at)),
        None => String::new(),
    };
    format!(
        "{}: session {:#x}, opened by {}{moves}{end}",
        text::clip(span.node, 24),
        span.session,
        text::moment(span.from)
    )
}

impl SessionMarks {
    /// What is to be seen in the rows.
    pub fn new(lanes: &[SessionLane]) -> Self {
        let sessions = || lanes.iter().flat_map(|lane| &lane.sessions);
        let ends = |end: SessionEnd| sessions().any(|session| session.end == Some(end));
        Self {
            away: sessions().any(|session| !session.away.is_empty()),
            expired: ends(SessionEnd::Expired),
            closed: ends(SessionEnd::Closed),
            ended: ends(SessionEnd::Either),
            moved: sessions().any(|session| !session.moves.is_empty()),
        }
    }
}
