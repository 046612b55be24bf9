//! The sentences of `docs/protocol.md` that a client is held against.

use serde::Serialize;

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
