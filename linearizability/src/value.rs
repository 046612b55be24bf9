//! Values of operations.

use std::fmt;

/// A value that an operation was invoked with, or answered with: what EDN and JSON can express.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// `nil` in EDN, `null` in JSON.
    #[default]
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// Any other number, as it is written: `17N`, `1.5M`, `1/3`
    Number(Box<str>),
    /// A string.
    Text(Box<str>),
    /// A keyword, without the colon.
    Keyword(Box<str>),
    /// A symbol of EDN, with its namespace.
    Symbol(Box<str>),
    /// A character, as EDN writes it after the backslash.
    Char(Box<str>),
    /// `[1 2]`
    Vector(Box<[Value]>),
    /// `(1 2)`
    List(Box<[Value]>),
    /// `#{1 2}`, in any order.
    Set(Box<[Value]>),
    /// `{:a 1}`, in any order.
    Map(Box<[(Value, Value)]>),
    /// A tag without its `#`, and the value that it is of.
    Tagged(Box<(Box<str>, Value)>),
}

impl Value {
    /// Whether it is `nil`.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// The number, if it is a whole one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The number, if it is a whole one from 0 that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => u64::try_from(*number).ok(),
            Self::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// The word that a text or a keyword is, without colons before it.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Text(word) | Self::Keyword(word) => Some(word.trim_start_matches(':')),
            _ => None,
        }
    }

    /// The values of a vector or a list.
    pub fn sequence(&self) -> Option<&[Value]> {
        match self {
            Self::Vector(values) | Self::List(values) => Some(values),
            _ => None,
        }
    }

    /// The two values of a vector or a list of two.
    pub fn pair(&self) -> Option<[&Value; 2]> {
        match self.sequence()? {
            [first, second] => Some([first, second]),
            _ => None,
        }
    }

    /// The values of a set, a vector or a list; none are in nil.
    pub fn elements(&self) -> Option<&[Value]> {
        match self {
            Self::Set(values) => Some(values),
            Self::Nil => Some(&[]),
            other => other.sequence(),
        }
    }

    /// Whether it is a map.
    pub fn is_map(&self) -> bool {
        matches!(self, Self::Map(_))
    }

    /// The value under a keyword, if it is a map that has one.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.entry(|key| matches!(key, Self::Keyword(keyword) if **keyword == *name))
    }

    /// The value under the first key that is wanted, if it is a map.
    pub fn entry(&self, wanted: impl Fn(&Value) -> bool) -> Option<&Value> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(key, _)| wanted(key)).map(|(_, value)| value)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or_else(|_| Self::Number(number.to_string().into()), Self::Integer)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Option<u64>> for Value {
    fn from(number: Option<u64>) -> Self {
        number.map_or(Self::Nil, Self::from)
    }
}

/// A vector.
impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self::Vector(values.into_iter().collect())
    }
}

/// As EDN, on one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("nil"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Number(text) | Self::Symbol(text) => f.write_str(text),
            Self::Char(name) => write!(f, "\\{name}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Keyword(name) => write!(f, ":{name}"),
            Self::List(values) => sequence(f, ["(", ")"], values),
            Self::Vector(values) => sequence(f, ["[", "]"], values),
            Self::Set(values) => sequence(f, ["#{", "}"], values),
            Self::Map(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{key} {value}")?;
                }
                f.write_str("}")
            }
            Self::Tagged(tagged) => write!(f, "#{} {}", tagged.0, tagged.1),
        }
    }
}

fn sequence(f: &mut fmt::Formatter<'_>, [open, close]: [&str; 2], values: &[Value]) -> fmt::Result {
    f.write_str(open)?;
    for (at, value) in values.iter().enumerate() {
        let blank = if at == 0 { "" } else { " " };
        write!(f, "{blank}{value}")?;
    }
    f.write_str(close)
}
