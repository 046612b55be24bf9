//! EDN, the notation of Jepsen's histories: values, and histories as maps of operations.
//!
//! What is read: all of EDN (<https://github.com/edn-format/edn>), and of what Clojure prints beside it the symbolic
//! numbers `##Inf`, `##NaN`, maps of a namespace (`#:zk{:code -4}`), and metadata (`^{:line 3}`), which is dropped.
//! `reader` makes values of text (`numeral` those that are numbers), `json` goes to and fro between values and JSON,
//! and `history` between operations and events, and writes porcupine's key-value histories.

mod history;
mod json;
mod numeral;
mod reader;

pub(crate) use history::{error_text, from_error, from_kind, from_name, from_process, kind, name, operation, process};
pub use history::{parse_edn, to_edn, to_keyed};
pub use json::{from_json, to_json};
pub use reader::{EdnReader, parse};
use std::fmt;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Edn {
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// `17`
    Int(i64),
    /// `1.5`
    Float(f64),
    /// Any other number, as it is written: `17N`, `1.5M`, `1/3`, `##NaN`
    Number(String),
    /// `\a`, as it is written after the backslash
    Char(String),
    /// `"text"`
    Str(String),
    /// `:name`, without the colon
    Keyword(String),
    /// `name`
    Symbol(String),
    /// `(1 2)`
    List(Vec<Edn>),
    /// `[1 2]`
    Vector(Vec<Edn>),
    /// `{:a 1}`, in the order in which it is written
    Map(Vec<(Edn, Edn)>),
    /// `#{1 2}`, in the order in which it is written
    Set(Vec<Edn>),
    /// `#tag value`
    Tagged(String, Box<Edn>),
}

/// On one line.
impl fmt::Display for Edn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("nil"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Number(text) | Self::Symbol(text) => f.write_str(text),
            Self::Char(name) => write!(f, "\\{name}"),
            Self::Str(text) => string(f, text),
            Self::Keyword(name) => write!(f, ":{name}"),
            Self::List(values) => sequence(f, "(", values, ")"),
            Self::Vector(values) => sequence(f, "[", values, "]"),
            Self::Set(values) => sequence(f, "#{", values, "}"),
            Self::Map(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{key} {value}")?;
                }
                f.write_str("}")
            }
            Self::Tagged(tag, value) => write!(f, "#{tag} {value}"),
        }
    }
}

fn sequence(f: &mut fmt::Formatter<'_>, open: &str, values: &[Edn], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (at, value) in values.iter().enumerate() {
        let blank = if at == 0 { "" } else { " " };
        write!(f, "{blank}{value}")?;
    }
    f.write_str(close)
}

fn string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
