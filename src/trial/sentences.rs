//! The sentences of `docs/protocol.md` that a client is held against; the one about the fields on which checks rest is
//! tried here, by the same table as the checkers have.

use super::conversation::{Talk, TimedLine};
use super::{Finding, SentenceResult, SentenceVerdict, Trial};
use serde::Serialize;
use serde_json::Value;
use zooquake_history::operation::{FieldSource, RequiredField, barrier, membership, queue};
use zooquake_history::protocol::{Message, Outcome};

/// A sentence of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sentence {
    pub name: &'static str,
    /// Its words.
    pub says: &'static str,
}

macro_rules! sentences {
    ($($id:ident, $name:literal, $says:literal;)*) => {
        $(pub const $id: Sentence = Sentence { name: $name, says: $says };)*

        /// All of them, in the order in which they are shown.
        pub const SENTENCES: &[Sentence] = &[$($id),*];
    };
}

sentences! {
    HELLO, "hello", "the first line is `hello`, at once, and names protocol 1";
    PING, "ping", "`ping` is answered `{}` at once";
    UNKNOWN, "unknown-operation", "an operation that is not known is answered `fail`, with an error";
    NONSENSE, "nonsense", "a value that makes no sense is answered `fail`, with an error";
    MALFORMED, "malformed", "a line that is not a request is answered `fail` if its id can be read; the client lives on";
    OPERATES, "operates", "an operation that can succeed is answered `ok` with its value";
    SESSION, "session", "a notice reports a session that is connected";
    CONFIRM, "confirm", "`confirm` reports whether the client holds, by its own state, with the zxid of a write of its \
        scratch znode";
    QUIESCE, "quiesce", "`quiesce` names the open sessions, and all of the client's znodes that are there, and no others";
    BUSY, "busy", "a second operation is answered `fail` with `busy` while one is pending";
    BESIDE, "beside", "`ping`, `confirm` and `quiesce` are answered beside a pending operation";
    EPHEMERAL, "ephemeral", "the znode of a grant, of a place in a barrier, or of a member, is ephemeral, and below a parent in \
        `contenders`";
    WORKS, "works", "a request for work is answered after `work_ms`, and the answer repeats what was asked";
    TOKEN, "token", "a grant and its writes carry a token where the recipe is `fenced`, and none where it is not";
    NOT_HELD, "not-held", "a request under a grant that is not held is answered `fail` with `not-held`";
    TIMEOUT, "timeout", "a request is answered by its `timeout_ms`";
    NOTHING_LEFT, "nothing-left", "`fail` is answered only if nothing of the operation is left";
    WAITING, "quiesce-waiting", "`quiesce` names the waiting znode while an acquire is pending";
    RELEASE, "release", "a release removes the grant's znode and reports it";
    HAND_OVER, "hand-over", "a client that waits is answered when it is its turn";
    WOKEN, "hand-over-after-cut", "a client whose connection was cut while it waited is answered all the same when it is its turn, or before";
    TAKING, "taking", "an item is named in `taking` before it is taken";
    MEMBER, "member", "a member's `register` is answered `fail` with `registered already`, another client's `update` and `deregister` with `not-registered`";
    VIEW, "view", "`view` states what the recipe shows of the group and the own entry, with the zxid of a write of its scratch znode";
    SHOWN, "view-shown", "a view that is answered was reported in a notice `view` before, and the numbers of these count up";
    FOLLOWS, "view-follows", "an entry, its new value and its end are soon in the other client's view";
    CUT_OFF, "confirm-cut-off", "`confirm`, and `view` of a group, is answered `info` while its write cannot succeed";
    AWAY, "session-away", "a notice reports a session that is disconnected or expired";
    OVER, "session-over", "a grant is not confirmed any more when its session is over";
    RECOVERS, "recovers", "the client works again when the servers are back";
    KILLED, "killed", "after SIGKILL a second incarnation works";
    END_OF_STDIN, "end-of-stdin", "the end of stdin ends the process at once; it releases nothing and closes no session";
    FIELDS, "fields", "answers `ok` and notices have the fields that checks rest on, but for those that `hello` declares in `cannot`";
    AUDITED, "audited", "what the clients make to contend is below a parent in `contenders`, where what is left at the end is looked for";
    STAYS_UP, "stays-up", "a process ends by itself only when its session is over";
    WHOLE_LINES, "whole-lines", "each line on stdout is one message; each request has exactly one reply";
}

fn declared(cannot: &str) -> String {
    format!("the client declares in `hello` that it cannot: `{cannot}`")
}

impl Trial {
    /// Why nothing was seen of a sentence.
    pub(super) fn why_not_tried(&self, sentence: Sentence) -> String {
        let (name, family) = (self.plan.workload.name(), self.family.spec);
        let broken = |sentence: &Sentence| {
            let broken = |finding: &&Finding| finding.outcome == SentenceVerdict::Broken;
            let mut broken = self.findings.iter().filter(broken);
            broken.any(|finding| finding.sentence == *sentence)
        };
        let of_barrier = family.name == barrier::FAMILY.name;
        let of_group = family.name == membership::FAMILY.name;
        let waits_for_turn = family.grants && self.waits_for_one();
        match sentence {
            _ if self.incarnations == [1, 1] && broken(&HELLO) => {
                "a client whose first line is another one is asked nothing".to_string()
            }
            BESIDE | WAITING if !self.can("beside") => declared("beside"),
            TAKING if !self.can("taking") => declared("taking"),
            NONSENSE if self.family.nonsense.is_none() => format!("no operation of a {} takes a value", family.name),
            TAKING if family.name != queue::FAMILY.name => format!("{name} hands out no items"),
            MEMBER | VIEW | SHOWN | FOLLOWS if !of_group => format!("{name} has no members"),
            SESSION | WORKS | TOKEN | NOT_HELD | RELEASE | OVER | WAITING if !family.grants => {
                format!("{name} grants nothing that a client holds")
            }
            EPHEMERAL if !(family.grants || of_barrier || of_group) => {
                format!("{name} has no grants, places or members")
            }
            EPHEMERAL if of_barrier => format!("{name} has no places"),
            BUSY | BESIDE if !family.grants => {
                format!("no operation of {name} stays pending until it is asked for more")
            }
            TIMEOUT | WAITING | HAND_OVER | WOKEN if !waits_for_turn => {
                format!("no client of {name} waits while one other holds")
            }
            NOTHING_LEFT => "no operation that waited was answered `fail`".to_string(),
            AUDITED if !self.is_audited() => format!("at the end of a run nothing of {name} is looked for"),
            _ => match SENTENCES.iter().find(|earlier| broken(earlier)) {
                Some(earlier) => format!("`{}` is broken, and it could not be asked after that", earlier.name),
                None => "what it is about did not come to pass: the client may end with its session".to_string(),
            },
        }
    }

    /// The fields that a client is asked for and has not declared that it cannot give.
    fn asked_fields(&self) -> impl Iterator<Item = &'static RequiredField> {
        let all = self.family.spec.required(&self.plan.workload);
        all.filter(|field| field.cannot.is_none_or(|cannot| self.can(cannot.name())))
    }

    /// That an answer `ok` has the fields that checks rest on; but for those that need not be in each.
    pub(super) fn has_fields(&self, f: &str, value: &Value) -> Result<(), String> {
        let all = self.asked_fields().filter(|field| !field.once && is_of(field, f));
        all.filter(|field| !field.is_given(value))
            .try_for_each(|field| Err(lacks(field, &format!("`{f}` was answered {value}"))))
    }

    /// Holds all that both clients answered and reported against the table.
    pub(super) fn fields(&mut self) {
        let talks: Vec<&Talk> = self.former.iter().chain(&self.clients).collect();
        let lines: Vec<(Option<&str>, TimedLine)> = talks.iter().flat_map(|talk| talk.with_operations()).collect();
        let (mut looked_at, mut seen) = (0, None);
        for field in self.asked_fields() {
            let given = lines
                .iter()
                .filter_map(|(f, heard)| Some((value_of(field, *f, heard)?, heard)));
            let given: Vec<(bool, &TimedLine)> = given.map(|(value, heard)| (field.is_given(value), heard)).collect();
            looked_at += given.len();
            let excused = field.once && given.iter().any(|(is_given, _)| *is_given);
            let first = given.iter().find(|(is_given, _)| !is_given && !excused);
            seen = seen.or(first.map(|(_, heard)| lacks(field, &heard.line)));
        }
        let seen: SentenceResult = match seen {
            Some(lack) => Err(lack),
            None => Ok(format!("{looked_at} were looked at")),
        };
        self.note(FIELDS, seen);
    }
}

/// Whether an answer `ok` to an operation is to have a field.
fn is_of(field: &RequiredField, f: &str) -> bool {
    matches!(field.of, FieldSource::Answer(of) if of.contains(&f))
}

/// The value of a line that is to have a field: an answer `ok` to the operation `f`, or a notice. An answer without any
/// value breaks the sentence of its operation.
fn value_of<'a>(field: &RequiredField, f: Option<&str>, heard: &'a TimedLine) -> Option<&'a Value> {
    match heard.message.as_ref()? {
        Message::Reply {
            outcome: Outcome::Ok,
            value,
            ..
        } => Some(value).filter(|value| !value.is_null() && f.is_some_and(|f| is_of(field, f))),
        Message::Notice { notice, value } => {
            Some(value).filter(|_| matches!(field.of, FieldSource::Notice(name) if name == notice))
        }
        _ => None,
    }
}

fn lacks(field: &RequiredField, said: &str) -> String {
    let declare = field
        .cannot
        .map(|cannot| format!("; `hello` does not declare \"cannot\":[\"{}\"]", cannot.name()))
        .unwrap_or_default();
    format!(
        "{said}, without `{}`, on which `{}` rests{declare}",
        field.name(),
        field.check
    )
}
