//! EDN, the notation of Jepsen's histories: values, and histories as maps of operations.
//!
//! What is read: all of EDN (<https://github.com/edn-format/edn>) and the symbolic numbers `##Inf`, `##NaN` of Clojure, but
//! no metadata. `reader` makes values of text (`numeral` those that are numbers), `print` text of values, `json` goes to and fro between values and JSON, and
//! `history` between operations and events, and writes porcupine's key-value histories.

mod history;
mod json;
mod numeral;
mod print;
mod reader;

pub(crate) use history::{error_text, from_error, from_kind, from_name, from_process, kind, name, number};
pub use history::{parse_edn, to_edn, to_keyed};
pub use json::{from_json, to_json};
pub use reader::{Reader, parse};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Edn {
    /// `nil`
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
