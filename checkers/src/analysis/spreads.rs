//! How long a change of a group takes to reach those who watch it.

use super::max_tree::MaxTree;
use super::{Analysis, GroupMember, GroupView, Latency, Op};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::operation::membership::{VALUE, f};

/// What one client's notices showed of one path.
#[derive(Default)]
struct ShownPath {
    /// Where it showed another state of the znode than in the notice before, with that.
    states: Vec<(usize, i64, Option<i64>)>,
    /// The transactions that last wrote these states.
    writes: MaxTree,
    /// Where each value was shown first.
    values: HashMap<i64, usize>,
}

impl ShownPath {
    fn add(&mut self, at: usize, member: &GroupMember<'_>) {
        if let Some(value) = member.value {
            self.values.entry(value).or_insert(at);
        }
        let Some(mzxid) = member.mzxid else { return };
        if self.states.last().is_none_or(|&(_, last, _)| last != mzxid) {
            self.states.push((at, mzxid, member.czxid));
        }
    }

    /// The first event after a request at which the znode stands in the view with what that wrote, or with something
    /// later; another znode at the path, created later, is none.
    fn first(&self, sent: usize, mzxid: Option<i64>, value: Option<i64>) -> Option<usize> {
        let written = mzxid.and_then(|mzxid| {
            let from = self.states.partition_point(|&(at, ..)| at <= sent);
            let &(at, _, czxid) = self.states.get(self.writes.first(from, u64::try_from(mzxid).ok()?)?)?;
            Some(at).filter(|_| czxid.is_none_or(|czxid| czxid <= mzxid))
        });
        let valued = value.and_then(|value| self.values.get(&value)).copied();
        written.into_iter().chain(valued.filter(|&at| at > sent)).min()
    }
}

impl<'a> Analysis<'a> {
    /// From the answer `ok` to a `register` or an `update` to the first notice of each other client that shows it; 0 if
    /// that came before the answer.
    pub(super) fn spreads(&self) -> Vec<Latency<'a>> {
        let mut shown: BTreeMap<&'a str, HashMap<&'a str, ShownPath>> = BTreeMap::new();
        for view in GroupView::all(self.events).iter().filter(|view| view.notice) {
            let paths = shown.entry(view.node).or_default();
            for member in view.members() {
                paths.entry(member.path).or_default().add(view.at, member);
            }
        }
        for path in shown.values_mut().flat_map(HashMap::values_mut) {
            let write = |&(_, mzxid, _): &(usize, i64, Option<i64>)| u64::try_from(mzxid).unwrap_or(0);
            path.writes = MaxTree::new(path.states.iter().map(write).collect());
        }
        let changes = self.answered(&[f::REGISTER, f::UPDATE]);
        let spread = |(op, end): (&Op<'a>, usize)| {
            let answer = &self.events[end];
            let sent = op.sent()?;
            let value = self.events[sent].get(VALUE);
            let mzxid = answer.mzxid().or(answer.czxid());
            let path = answer.path()?;
            let others = shown.iter().filter(|(node, _)| **node != op.node);
            let each = others.filter_map(|(node, paths)| {
                let at = paths.get(path)?.first(sent, mzxid, value)?;
                self.latency(node, end, at.max(end))
            });
            Some(each.collect::<Vec<_>>())
        };
        changes.filter_map(spread).flatten().collect()
    }
}
