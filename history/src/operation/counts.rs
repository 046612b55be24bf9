//! Numbers of requests and of what was heard.

use std::iter::Sum;
use std::ops::{Add, Sub};

use super::{FieldType, JsonNode};
use serde::{Deserialize, Serialize};

/// Numbers of requests sent, by kind, and of watch events delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Creations.
    pub create: u64,
    /// Deletions.
    pub delete: u64,
    /// Reads of data.
    pub get: u64,
    /// Writes of data.
    pub set: u64,
    /// Reads of stats.
    pub exists: u64,
    /// Reads of lists of children.
    pub children: u64,
    /// Transactions.
    pub multi: u64,
    pub sync: u64,
    /// Events of watches on znodes. That a session is over is none.
    pub events: u64,
    /// Requests of which nothing is known yet: neither answered nor given up.
    pub pending: u64,
}

impl Counts {
    /// Requests that one server answers alone.
    pub fn reads(&self) -> u64 {
        self.get.saturating_add(self.exists).saturating_add(self.children)
    }

    /// Requests that the ensemble agrees on.
    pub fn writes(&self) -> u64 {
        let writes = [self.create, self.delete, self.set, self.multi];
        writes.into_iter().fold(0, u64::saturating_add)
    }

    /// All requests.
    pub fn requests(&self) -> u64 {
        self.reads().saturating_add(self.writes()).saturating_add(self.sync)
    }

    /// Both, number by number.
    fn zip(self, other: Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            create: join(self.create, other.create),
            delete: join(self.delete, other.delete),
            get: join(self.get, other.get),
            set: join(self.set, other.set),
            exists: join(self.exists, other.exists),
            children: join(self.children, other.children),
            multi: join(self.multi, other.multi),
            sync: join(self.sync, other.sync),
            events: join(self.events, other.events),
            pending: join(self.pending, other.pending),
        }
    }
}

/// Each number is 0 that is missing or none.
impl FieldType for Counts {
    type Read<'a, V: JsonNode + 'a> = Self;

    fn read<V: JsonNode>(value: &V) -> Option<Self> {
        let count = |kind: &str| value.named(kind).and_then(V::count).unwrap_or(0);
        value.is_object().then(|| Self {
            create: count("create"),
            delete: count("delete"),
            get: count("get"),
            set: count("set"),
            exists: count("exists"),
            children: count("children"),
            multi: count("multi"),
            sync: count("sync"),
            events: count("events"),
            pending: count("pending"),
        })
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }
}

impl Sub for Counts {
    type Output = Self;

    /// What has been added since `other`.
    fn sub(self, other: Self) -> Self {
        self.zip(other, u64::saturating_sub)
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
