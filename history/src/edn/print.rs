//! From values to text, on one line.

use super::Edn;
use std::fmt;

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
