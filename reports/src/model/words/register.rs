//! Of the register: reads, writes, and compare-and-set.

use super::EventContext;
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::register::{FROM, TO, VALUE};

/// The predicate of the register's event.
pub fn predicate(context: EventContext<'_>) -> Option<String> {
    let swap = || format!("from {} to {}", context.field(FROM), context.field(TO));
    Some(match context.what() {
        ("read", Invoke) => "asks for the value".into(),
        ("read", Ok) => format!("reads {}{}", context.field(VALUE), served(context)),
        ("read", Fail | Info) => "reads nothing".into(),
        ("write", Invoke) => format!("writes {}", context.field(VALUE)),
        ("write", Ok) => format!("has written {}{}", context.field(VALUE), served(context)),
        ("write", Fail | Info) => context.failed(&format!("written {}", context.field(VALUE)))?,
        ("cas", Invoke) => format!("compares and sets {}", swap()),
        ("cas", Ok) => format!("has compared and set {}{}", swap(), served(context)),
        ("cas", Fail) => format!("does not set {}", swap()),
        ("cas", Info) => format!("may or may not have set {}", swap()),
        _ => return None,
    })
}

/// `, mzxid 0x100000007, by n2`: which transaction, and which server replied.
pub(super) fn served(context: EventContext<'_>) -> String {
    let mzxid = context.read(Event::mzxid).map(|zxid| format!(", mzxid {zxid:#x}"));
    let server = context
        .read(Event::server)
        .map(|s| format!(", by {}", crate::text::clip(s, 24)));
    mzxid.unwrap_or_default() + &server.unwrap_or_default()
}
