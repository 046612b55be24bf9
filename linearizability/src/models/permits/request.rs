//! What requests for permits, and their releases, name: how many, in which mode, for which client. The value is a
//! number
//! or a mode, or a map with it in the field `permits` or `mode`, beside which the client may stand in the field
//! `client`.

use crate::call::{Call, InputError, Remark};
use crate::equality::canonical;
use crate::value::Value;
use std::collections::{HashMap, HashSet};

/// Fields that name whose permits they are, or what they rest on, and never how many.
const BESIDE: [&str; 16] = [
    "client", "czxid", "fence", "holder", "id", "lease", "name", "node", "owner", "path", "process", "session",
    "thread", "token", "uid", "uuid",
];

/// In which mode a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantMode {
    Shared,
    Exclusive,
}

/// How many permits an operation is of: one if it names no number.
///
/// # Errors
/// Its value is something else than a number, or a map that has one, or nothing but names; or its answer names another
/// number than it was sent for.
pub fn permits(call: &Call<'_>) -> Result<u64, InputError> {
    let asked = number(call, &call.asked)?.unwrap_or(1);
    match &call.answered {
        answered @ Value::Map(_) if number(call, answered)?.is_some_and(|answered| answered != asked) => {
            Err(InputError::Unexpected {
                what: format!(
                    "the {} of event {} was sent for {asked} of the permits and not answered so",
                    call.f, call.invoke
                ),
                found: answered.clone(),
            })
        }
        _ => Ok(asked),
    }
}

/// The number that a value names, if it names one.
fn number(call: &Call<'_>, value: &Value) -> Result<Option<u64>, InputError> {
    let named = match value {
        Value::Nil => return Ok(None),
        Value::Map(entries) => match named(value, "permits") {
            None if entries
                .iter()
                .all(|(key, _)| key.word().is_some_and(|key| BESIDE.contains(&key))) =>
            {
                return Ok(None);
            }
            named => named,
        },
        value => Some(value),
    };
    match named.and_then(Value::as_u64) {
        Some(permits) if permits > 0 => Ok(Some(permits)),
        _ => Err(InputError::Unexpected {
            what: format!("the {} of event {} has no number of permits", call.f, call.invoke),
            found: value.clone(),
        }),
    }
}

/// The mode that an operation is in, if it names one.
pub fn mode(call: &Call<'_>) -> Option<GrantMode> {
    grant_mode(&call.asked)
}

/// The mode that a value of an operation names.
pub fn grant_mode(value: &Value) -> Option<GrantMode> {
    match named(value, "mode").unwrap_or(value).word() {
        Some("read" | "shared") => Some(GrantMode::Shared),
        Some("write" | "exclusive") => Some(GrantMode::Exclusive),
        _ => None,
    }
}

/// Whether an operation was sent without a mode, and not with what is none.
pub fn names_no_mode(call: &Call<'_>) -> bool {
    call.asked.is_nil() || call.asked.is_map() && named(&call.asked, "mode").is_none()
}

/// Whether a value of an `acquire` shows that more than one may be granted at once: it is a number of permits, or a
/// mode, also behind a key.
pub fn shows_permits(value: &Value) -> bool {
    let value = match value.pair() {
        Some([_, value]) => value,
        None => value,
    };
    value.as_u64().is_some() || named(value, "permits").is_some() || grant_mode(value).is_some()
}

/// The client that an operation names, as a text that is the same for equal ones.
pub fn client(call: &Call<'_>) -> Option<String> {
    let client = [&call.asked, &call.answered]
        .into_iter()
        .find_map(|value| named(value, "client"));
    client.filter(|client| !client.is_nil()).and_then(canonical)
}

/// The value under a name, a keyword or a text, if it is a map that has one.
fn named<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.entry(|key| key.word() == Some(name))
}

/// The error that the value of an operation is not what it should be.
pub fn unexpected(call: &Call<'_>, lack: &str) -> InputError {
    InputError::Unexpected {
        what: format!("the {} of event {} {lack}", call.f, call.invoke),
        found: call.asked.clone(),
    }
}

/// The clients that operations name.
pub struct NamedClients<'a> {
    /// Those that several processes name: which of their holds a release ends is not known.
    shared: HashSet<String>,
    /// The first operation of one of these, and the first one of it by another process.
    first: Option<[&'a Call<'a>; 2]>,
}

impl<'a> NamedClients<'a> {
    /// Those of these operations.
    pub fn new(calls: &[&'a Call<'a>]) -> Self {
        let mut first_of: HashMap<String, &Call<'_>> = HashMap::new();
        let (mut shared, mut first) = (HashSet::new(), None);
        for &call in calls {
            let Some(client) = client(call) else { continue };
            let before = *first_of.entry(client.clone()).or_insert(call);
            if before.process != call.process {
                first.get_or_insert([before, call]);
                shared.insert(client);
            }
        }
        Self { shared, first }
    }

    /// Whether several processes name this one.
    pub fn is_shared(&self, client: Option<&String>) -> bool {
        client.is_some_and(|client| self.shared.contains(client))
    }

    /// What is to be said of those that several processes name.
    pub fn remark(&self) -> Option<Remark<'a>> {
        let [first, other] = self.first?;
        Some(Remark::ClientShared { first, other })
    }
}
