//! The views of a group that clients' recipes showed: in `view` notices, and in answers to the control request `view`.
//!
//! A view is what its recipe gave to its application. When the reads were made that it rests on is not in the history:
//! before the view was recorded, and in the session that it names.

use super::ops::{self, is_view_notice};
use std::collections::HashMap;
use zooquake_history::operation::{
    CZXID, JsonNode, MZXID, PATH, SESSION,
    control::f,
    membership::{MEMBER, MEMBERS, N, VALUE, VIEW},
};
use zooquake_history::{Event, EventType, Value};

/// A view of the group, as one event shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupView<'a> {
    /// The event: a notice, or an answer.
    pub at: usize,
    /// The client.
    pub node: &'a str,
    /// Which of its client's processes showed it: how many of them had begun or ended before.
    pub process: usize,
    /// Whether it is in a notice, which is recorded in the order in which the process wrote it.
    pub notice: bool,
    /// Its number within the process.
    pub n: Option<u64>,
    /// The session that it was read in.
    pub session: Option<u64>,
    /// The members whose paths can be read; `None` if the recipe had nothing that it may show.
    pub members: Option<Vec<GroupMember<'a>>>,
    /// The values of the members that are named without a path, each `None` if it cannot be read.
    pub placeless: Vec<Option<i64>>,
    /// Whether `members` and `placeless` are not all that the view shows: some part of it cannot be read, or it shows a
    /// path twice.
    pub unread: bool,
    /// Whether `members` are all that the view shows.
    pub whole: bool,
}

/// An entry of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupMember<'a> {
    /// The path of its znode.
    pub path: &'a str,
    /// The transaction that created that; `None` if it is not given.
    pub czxid: Option<i64>,
    /// The transaction that last wrote it; `None` if it is not given.
    pub mzxid: Option<i64>,
    pub value: Option<i64>,
    /// Its name.
    pub member: Option<&'a str>,
}

impl<'a> GroupView<'a> {
    /// All views of a history, in the order of their events.
    pub fn all(events: &'a [Event]) -> Vec<Self> {
        let mut processes: HashMap<&str, usize> = HashMap::new();
        let mut all = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let Some(node) = ops::named_client(event) else { continue };
            if event.kind == EventType::Info && matches!(event.f.as_str(), "hello" | "exit") {
                *processes.entry(node).or_default() += 1;
            }
            let notice = is_view_notice(event);
            let value = match (notice, event.f.as_str(), event.kind) {
                (true, ..) => Some(&event.value),
                (_, f::VIEW, EventType::Ok) => event.get(VIEW),
                _ => None,
            };
            let process = processes.get(node).copied().unwrap_or(0);
            all.extend(value.map(|value| Self::read((at, node, process, notice), value)));
        }
        all
    }

    fn read((at, node, process, notice): (usize, &'a str, usize, bool), value: &'a Value) -> Self {
        let mut placeless = Vec::new();
        let (members, unread) = match MEMBERS.read_from(value) {
            Some(none) if none.is_null() => (None, false),
            Some(list) => {
                let entries = list.list().unwrap_or_default();
                let mut members: Vec<GroupMember<'a>> = entries.iter().filter_map(GroupMember::read).collect();
                let named = entries.iter().filter(|entry| is_placeless(entry));
                placeless.extend(named.map(|entry| VALUE.read_from(entry)));
                let read = members.len() + placeless.len() == entries.len() && list.list().is_some();
                members.sort_unstable();
                let once = members.windows(2).all(|two| two[0].path != two[1].path);
                (Some(members), !(read && once))
            }
            None => (Some(Vec::new()), true),
        };
        Self {
            at,
            node,
            process,
            notice,
            n: N.read_from(value).and_then(|n| u64::try_from(n).ok()),
            session: SESSION.read_from(value).and_then(super::clients::session),
            members,
            whole: !unread && placeless.is_empty(),
            placeless,
            unread,
        }
    }

    /// The members; none of a view that shows nothing.
    pub fn members(&self) -> &[GroupMember<'a>] {
        self.members.as_deref().unwrap_or_default()
    }

    /// The entry of a path.
    pub fn member(&self, path: &str) -> Option<&GroupMember<'a>> {
        let members = self.members();
        let at = members.partition_point(|member| member.path < path);
        members.get(at).filter(|member| member.path == path)
    }

    /// Whether both show the same, read in the same session.
    pub fn same_content(&self, other: &Self) -> bool {
        let content = |view: &Self| (view.session, view.unread, view.members.clone(), view.placeless.clone());
        content(self) == content(other)
    }

    /// Whether both certainly show different things, or were read in different sessions. What one of them does not give
    /// is no difference.
    pub fn contradicts(&self, other: &Self) -> bool {
        if differ(self.session, other.session) {
            return true;
        }
        if self.unread || other.unread {
            return false;
        }
        let (Some(members), Some(others)) = (&self.members, &other.members) else {
            return self.members.is_some() != other.members.is_some();
        };
        match self.placeless.is_empty() && other.placeless.is_empty() {
            true => {
                let pairs = || members.iter().zip(others);
                members.len() != others.len() || pairs().any(|(member, other)| member.contradicts(other))
            }
            false => differ(self.values(), other.values()) || self.count() != other.count(),
        }
    }

    /// How many members it shows.
    fn count(&self) -> usize {
        self.members().len() + self.placeless.len()
    }

    /// The values of all its members, ascending; `None` if some cannot be read.
    fn values(&self) -> Option<Vec<i64>> {
        let placed = self.members().iter().map(|member| member.value);
        let all = placed.chain(self.placeless.iter().copied());
        let mut values: Vec<i64> = all.collect::<Option<_>>()?;
        values.sort_unstable();
        Some(values)
    }
}

/// Whether two that are both given are different.
fn differ<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// Whether an entry has a name, and no path.
fn is_placeless(entry: &Value) -> bool {
    PATH.any().read_from(entry).is_none_or(Value::is_null) && MEMBER.read_from(entry).is_some()
}

impl<'a> GroupMember<'a> {
    /// Reads an entry; `None` if it has no path, or is written earlier than it was created.
    fn read(value: &'a Value) -> Option<Self> {
        let (czxid, mzxid) = (CZXID.read_from(value), MZXID.read_from(value));
        let fits = czxid.zip(mzxid).is_none_or(|(czxid, mzxid)| czxid <= mzxid);
        Some(Self {
            path: PATH.read_from(value).filter(|_| fits)?,
            czxid,
            mzxid,
            value: VALUE.read_from(value),
            member: MEMBER.read_from(value),
        })
    }

    /// Whether both certainly are not one entry.
    fn contradicts(&self, other: &Self) -> bool {
        self.path != other.path
            || differ(self.czxid, other.czxid)
            || differ(self.mzxid, other.mzxid)
            || differ(self.value, other.value)
            || differ(self.member, other.member)
    }

    /// `/members/m1 (czxid 0x5)`, for texts.
    pub(crate) fn words(&self) -> String {
        match self.czxid {
            Some(czxid) => format!("{} (czxid 0x{czxid:x})", self.path),
            None => self.path.to_owned(),
        }
    }
}
