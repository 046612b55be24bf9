//! Of the register: reads, writes, and compare-and-set.

use super::Told;
use zooquake_history::Event;
use zooquake_history::EventType::{Fail, Info, Invoke, Ok};
use zooquake_history::operation::register::{FROM, TO, VALUE};

/// What the event says of the register.
pub fn tell(told: Told<'_>) -> Option<String> {
    let swap = || format!("from {} to {}", told.field(FROM), told.field(TO));
    Some(match told.what() {
        ("read", Invoke) => "asks for the value".into(),
        ("read", Ok) => format!("reads {}{}", told.field(VALUE), served(told)),
        ("read", Fail | Info) => "reads nothing".into(),
        ("write", Invoke) => format!("writes {}", told.field(VALUE)),
        ("write", Ok) => format!("has written {}{}", told.field(VALUE), served(told)),
        ("write", Fail | Info) => told.failed(&format!("written {}", told.field(VALUE)))?,
        ("cas", Invoke) => format!("compares and sets {}", swap()),
        ("cas", Ok) => format!("has compared and set {}{}", swap(), served(told)),
        ("cas", Fail) => format!("does not set {}", swap()),
        ("cas", Info) => format!("may or may not have set {}", swap()),
        _ => return None,
    })
}

/// `, mzxid 0x100000007, by n2`: which transaction, and which server said so.
pub(super) fn served(told: Told<'_>) -> String {
    let mzxid = told.of(Event::mzxid).map(|zxid| format!(", mzxid {zxid:#x}"));
    let server = told
        .of(Event::server)
        .map(|s| format!(", by {}", crate::text::clip(s, 24)));
    mzxid.unwrap_or_default() + &server.unwrap_or_default()
}
