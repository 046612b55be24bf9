//! Histories of simulated objects: linearizable by construction, or with one violation planted in them.
//!
//! Clients run concurrently against one object, each with one operation in flight. An operation takes effect at one moment
//! between its invocation and its completion; one of unknown outcome before its `info`, at some later time, or never, and its
//! client goes on as a new process, as in Jepsen. The same options give the same history.
//!
//! The violation is certain by what is in the history, whatever the operations of unknown outcome did. A register has a value
//! that is written once, and a process reads it, then another one, then it again, while its write is in flight. A mutex is
//! granted and released within the hold of another process, whose release succeeds.

mod clients;
mod mutex;
mod register;

use crate::history::History;
use clients::Clients;
use mutex::Mutex;
use register::Register;
use std::fmt;
use std::str::FromStr;

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// A register that is read and written.
    Register,
    /// A register with compare-and-set as well.
    CasRegister,
    /// A mutex that is acquired and released by its holder. An acquire waits until nobody holds it.
    Mutex,
}

impl FromStr for Object {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "register" => Ok(Self::Register),
            "cas-register" => Ok(Self::CasRegister),
            "mutex" => Ok(Self::Mutex),
            _ => Err(format!(
                "there is no model `{name}` to generate; there are register, cas-register and mutex"
            )),
        }
    }
}

/// The values that are written to a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Each write writes another one.
    Unique,
    /// Each write draws one of so many. A planted violation writes one more, once.
    Of(u64),
}

impl FromStr for Values {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("unique", _) => Ok(Self::Unique),
            (_, Ok(count)) if count > 0 => Ok(Self::Of(count)),
            _ => Err(format!("`{text}` is neither `unique` nor a number from 1")),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unique => f.write_str("unique"),
            Self::Of(count) => count.fmt(f),
        }
    }
}

/// What a history is to be like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The object.
    pub object: Object,
    /// Operations, without those of a planted violation.
    pub ops: usize,
    /// Clients, so the most operations in flight beside those of unknown outcome; at least 1.
    pub clients: usize,
    /// The share of operations that end with unknown outcome, from 0 to 1.
    pub unknown: f64,
    /// What is written; of no meaning for a mutex.
    pub values: Values,
    /// Decides whatever is drawn.
    pub seed: u64,
    /// Whether a violation is planted, after about half of the operations.
    pub violation: bool,
}

/// The history, with bare values (`3`, `[3,4]`) as Jepsen writes them; a microsecond lies between its events.
///
/// # Errors
/// If the share is no share, there are no clients, or a violation is asked for with fewer than two clients or ten operations.
pub fn generate(options: &Options) -> Result<History, String> {
    if !(0.0..=1.0).contains(&options.unknown) {
        return Err(format!("{} is no share from 0 to 1", options.unknown));
    }
    if options.clients == 0 {
        return Err("a history needs a client at least".to_owned());
    }
    if options.violation && (options.clients < 2 || options.ops < 10) {
        return Err("a violation needs two clients and ten operations at least".to_owned());
    }
    Ok(match options.object {
        Object::Mutex => Clients::new(options, Mutex::new(options.clients)).run(),
        Object::Register | Object::CasRegister => Clients::new(options, Register::new(options)).run(),
    })
}
