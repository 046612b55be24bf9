//! Texts that come again and again in a history: names of operations, clients, grants, sessions, paths.

use crate::schema::schema_like;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Borrow;
use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A text that does not change. Equal ones made soon after each other share their memory, so that a copy costs 16
/// bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<str>);

/// How many texts are kept for the next equal one, each in the place that its hash names.
const KEPT: usize = 4096;

/// The longest text that is kept, in bytes.
const LONGEST: usize = 64;

thread_local! {
    static RECENT: RefCell<Vec<Option<Text>>> = RefCell::new(vec![None; KEPT]);
}

impl Text {
    /// The text as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        if text.len() > LONGEST {
            return Self(text.into());
        }
        RECENT.with_borrow_mut(|recent| {
            let kept = &mut recent[hash(text.as_bytes())];
            match kept {
                Some(same) if same.as_str() == text => same.clone(),
                _ => kept.insert(Self(text.into())).clone(),
            }
        })
    }
}

/// A place in the table of recent texts.
fn hash(text: &[u8]) -> usize {
    // FNV-1a, in words of eight bytes; what falls together costs a copy, and nothing else.
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    let (words, rest) = text.as_chunks::<8>();
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        step(hash, u64::from_le_bytes(*word))
    });
    let hash = rest.iter().fold(hash, |hash, byte| step(hash, u64::from(*byte)));
    (hash ^ hash >> 32) as usize % KEPT
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.as_str().to_owned()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// What a text is compared with, from both sides.
macro_rules! compared {
    ($($type:ty),*) => {
        $(
            impl PartialEq<$type> for Text {
                fn eq(&self, other: &$type) -> bool {
                    let other: &str = other;
                    self.as_str() == other
                }
            }

            impl PartialEq<Text> for $type {
                fn eq(&self, other: &Text) -> bool {
                    other == self
                }
            }
        )*
    };
}

compared!(str, &str, String);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self)
    }
}

schema_like!(Text, str);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reads;

        impl Visitor<'_> for Reads {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(text.into())
            }
        }

        from.deserialize_str(Reads)
    }
}
