//! Texts under keys, as porcupine's key-value model has them: `get`, `put` and `append`, and beside these `cas`. Each
//! begins empty.
//!
//! What a text may still become matters only if some get found it. So a state is where the text stands among the texts
//! that were found: appending to it takes O(l log n) for n texts of length l, and a text that begins none of them is
//! like any other such. Keys are separated before ([`keys`](crate::keys)): each is searched by itself (Horn and
//! Kroening 2015).

use crate::call::{Call, CallOutcome, InputError, Reading};
use crate::equality::compared;
use crate::judgement::{StateNames, decide};
use crate::model::{BrokenClaim, Model, unordered};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;

const UNORDERED: BrokenClaim = unordered("no order of the operations on the text fits");

/// The text under a key, which is empty at first. A get of unknown outcome, and a cas that failed, prove nothing.
pub static TEXTS: ModelEntry = ModelEntry {
    names: &["kv"],
    summary: "get, put, append and cas of texts under keys",
    operations: &["get", "put", "append", "cas"],
    size: ModelSize::Fixed,
    begins: Some("each key has the empty text at first"),
    // What is added, only its reads show; what is got alone may be of anything.
    fits: |operations| {
        let changed = operations.any(&["put", "append"]) || operations.any(&["get"]) && operations.any(&["cas"]);
        match changed && !operations.any(&["add"]) {
            true => ModelFit::Possible,
            false => ModelFit::Not,
        }
    },
    simulations: &[],
    judge: |model, calls, _, _, inquiry| {
        let mut accesses = Vec::new();
        let (mut texts, mut found) = (Vec::new(), Vec::new());
        for &call in calls {
            let access = match call.f {
                "get" if call.outcome == CallOutcome::Ok => TextAccess::Get(text(call, &call.answered)?),
                "get" => continue,
                "put" => TextAccess::Put(text(call, &call.asked)?),
                "append" => TextAccess::Append(text(call, &call.asked)?),
                "cas" => {
                    let [from, to] = compared(call)?;
                    TextAccess::Cas(text(call, from)?, text(call, to)?)
                }
                _ => return Err(model.unable(call)),
            };
            let (left, seen) = match access {
                TextAccess::Get(text) => (None, Some(text)),
                TextAccess::Put(text) | TextAccess::Append(text) => (Some(text), None),
                TextAccess::Cas(from, to) => (Some(to), Some(from)),
            };
            texts.extend(left.map(str::to_owned));
            found.extend(seen.map(str::to_owned));
            accesses.push((call, access));
        }
        let model = Kv::new(texts, found);
        let mut reading: Reading<'_, KvOp> = Reading::new();
        for (call, access) in accesses {
            let input = match access {
                TextAccess::Get(text) => model.get(text),
                TextAccess::Put(text) => model.put(text),
                TextAccess::Append(text) => model.append(text),
                TextAccess::Cas(from, to) => model.cas(from, to),
            };
            reading.add(call, input);
        }
        let words = |place: &TextPlace, names: &StateNames<'_, '_>| match model.text(*place) {
            Some(text) => (names.text)(&Value::from(text)),
            None => "a text that no get found".to_owned(),
        };
        Ok(decide(UNORDERED, &model, reading, &words, inquiry))
    },
};

/// An operation on the text under a key, as it was written down.
#[derive(Clone, Copy)]
enum TextAccess<'a> {
    Get(&'a str),
    Put(&'a str),
    Append(&'a str),
    Cas(&'a str, &'a str),
}

/// The text that a value of an operation is.
///
/// # Errors
/// It is none.
fn text<'c>(call: &Call<'_>, value: &'c Value) -> Result<&'c str, InputError> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(InputError::Unexpected {
            what: format!("the {} of event {} has no text", call.f, call.invoke),
            found: value.clone(),
        }),
    }
}

/// The texts of the operations of one key, and the places of those that were found.
#[derive(Debug, Clone)]
pub struct Kv {
    /// What was put, appended or swapped in; ascending, each once.
    texts: Vec<String>,
    /// What gets and swaps found, and the empty text; ascending, each once.
    found: Vec<String>,
}

/// An operation on the text of one key, with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KvOp {
    /// It was the text of this place.
    Get(TextPlace),
    /// It became the text of this number.
    Put(u32),
    /// The text of this number was put at its end.
    Append(u32),
    /// It was the text of this place, and became that of this number.
    Cas(TextPlace, u32),
}

/// A text, by what gets found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextPlace {
    /// The first so many bytes of the first found text that begins with them.
    Begins(u32, u32),
    /// No text that was found begins with it.
    Nowhere,
}

impl Kv {
    /// A model for a key under which `texts` were put, appended or swapped in, and `found` were found, or swapped out.
    pub fn new(mut texts: Vec<String>, mut found: Vec<String>) -> Self {
        found.push(String::new());
        for list in [&mut texts, &mut found] {
            list.sort_unstable();
            list.dedup();
        }
        Self { texts, found }
    }

    /// The operation that found a text; of one that was not given to [`new`](Self::new) one that is never possible.
    pub fn get(&self, text: &str) -> KvOp {
        KvOp::Get(self.extended(0, 0, text))
    }

    /// The operation that puts a text.
    ///
    /// # Panics
    /// If it was not given to [`new`](Self::new).
    pub fn put(&self, text: &str) -> KvOp {
        KvOp::Put(self.number(text))
    }

    /// The operation that appends a text.
    ///
    /// # Panics
    /// If it was not given to [`new`](Self::new).
    pub fn append(&self, text: &str) -> KvOp {
        KvOp::Append(self.number(text))
    }

    /// The operation that found a text, of which [`get`](Self::get) states what it may be, and put another one.
    ///
    /// # Panics
    /// If the other one was not given to [`new`](Self::new).
    pub fn cas(&self, from: &str, to: &str) -> KvOp {
        KvOp::Cas(self.extended(0, 0, from), self.number(to))
    }

    /// The text at a place; `None` if no text that was found begins with it.
    pub fn text(&self, place: TextPlace) -> Option<&str> {
        match place {
            TextPlace::Begins(first, length) => self.found.get(first as usize)?.get(..length as usize),
            TextPlace::Nowhere => None,
        }
    }

    fn number(&self, text: &str) -> u32 {
        let number = self.texts.binary_search_by(|other| other.as_str().cmp(text));
        number.expect("the model knows all texts that are put, appended or swapped in") as u32
    }

    /// The place of the text of this number.
    fn whole(&self, text: u32) -> TextPlace {
        self.extended(0, 0, &self.texts[text as usize])
    }

    /// The place of the first `length` bytes of a found text with `more` after them.
    fn extended(&self, first: u32, length: u32, more: &str) -> TextPlace {
        let (from, length) = (first as usize, length as usize);
        let begin = &self.found[from].as_bytes()[..length];
        let more = more.as_bytes();
        // Those with the same beginning follow each other.
        let below = |text: &String| text.as_bytes().strip_prefix(begin).is_some_and(|rest| rest < more);
        let place = from + self.found[from..].partition_point(below);
        let rest = self
            .found
            .get(place)
            .and_then(|text| text.as_bytes().strip_prefix(begin));
        match rest {
            Some(rest) if rest.starts_with(more) => TextPlace::Begins(place as u32, (length + more.len()) as u32),
            _ => TextPlace::Nowhere,
        }
    }
}

impl Model for Kv {
    type State = TextPlace;
    type Input = KvOp;

    fn initial(&self) -> TextPlace {
        TextPlace::Begins(0, 0)
    }

    fn step(&self, state: &TextPlace, input: &KvOp) -> Option<TextPlace> {
        match (input, state) {
            (KvOp::Get(TextPlace::Nowhere), _) => None,
            (KvOp::Get(found), _) => (found == state).then_some(*state),
            (KvOp::Cas(TextPlace::Nowhere, _), _) => None,
            (KvOp::Cas(found, text), _) => (found == state).then(|| self.whole(*text)),
            (KvOp::Put(text), _) => Some(self.whole(*text)),
            (KvOp::Append(_), TextPlace::Nowhere) => Some(TextPlace::Nowhere),
            (KvOp::Append(text), TextPlace::Begins(first, length)) => {
                Some(self.extended(*first, *length, &self.texts[*text as usize]))
            }
        }
    }

    fn is_read(&self, input: &KvOp) -> bool {
        matches!(input, KvOp::Get(_))
    }

    fn after(&self, input: &KvOp) -> Option<TextPlace> {
        match input {
            KvOp::Get(found) => Some(*found),
            KvOp::Put(text) | KvOp::Cas(_, text) => Some(self.whole(*text)),
            KvOp::Append(_) => None,
        }
    }
}
