//! Groups as they are drawn: who was a member when, and what each client showed of that.

use super::Lanes;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::analysis::{Analysis, GroupView};
use zooquake_history::operation::membership::{MEMBER, VALUE, f};
use zooquake_history::{Event, EventType};

/// Most members that are drawn.
const MEMBERS: usize = 12;

/// A span of time in nanoseconds since the run began.
pub type Span = (u64, u64);

/// A group over time.
#[derive(Debug, Default)]
pub struct DrawnGroup {
    /// The names of its members, in order.
    pub members: Vec<String>,
    /// Of each member the spans in which it was one, by its own client's answers: from the answer to its `register` to
    /// the invocation of its `deregister`, the end of its session or its process, or its next `register`.
    pub truth: Vec<Vec<Span>>,
    /// What each row's client showed.
    pub watchers: Vec<DrawnWatcher>,
}

/// What one client showed of a group.
#[derive(Debug, Default)]
pub struct DrawnWatcher {
    /// The row of the client.
    pub lane: usize,
    /// Of each member the spans in which it was shown.
    pub shown: Vec<Vec<Span>>,
    /// Of each member the spans in which the view differs from the truth: it was one and was not shown, it was shown
    /// with an older value than the one that was written last, or it was shown after it had ceased to be one.
    pub late: Vec<Vec<Span>>,
    /// The spans in which the client showed nothing, since it was not connected.
    pub blank: Vec<Span>,
}

/// A member over time, by its own client's events.
struct MemberTimeline<'m> {
    name: &'m str,
    /// The spans in which it was one.
    spans: Vec<Span>,
    /// The moments at which a value of it was acknowledged, in order.
    values: Vec<(u64, i64)>,
}

impl DrawnGroup {
    /// Reads the group out of a run; it has no members if the run's family is none of groups.
    pub fn new(analysis: &Analysis<'_>, lanes: &Lanes, end: u64) -> Self {
        let events = analysis.events;
        let names: BTreeSet<&str> = events.iter().filter_map(|event| event.get(MEMBER)).collect();
        let members: Vec<String> = names.into_iter().take(MEMBERS).map(str::to_owned).collect();
        if members.is_empty() {
            return Self::default();
        }
        let timeline = |(name, values)| MemberTimeline {
            name,
            spans: membership(analysis, name, end),
            values,
        };
        let named = members.iter().map(String::as_str);
        let timelines: Vec<MemberTimeline<'_>> = named.zip(values(analysis, &members)).map(timeline).collect();
        let mut by_client: BTreeMap<&str, Vec<GroupView<'_>>> = BTreeMap::new();
        for view in GroupView::all(events).into_iter().filter(|view| view.notice) {
            by_client.entry(view.node).or_default().push(view);
        }
        let watcher = |(node, views): (&&str, &Vec<GroupView<'_>>)| {
            let lane = lanes.names.iter().position(|name| name == node)?;
            Some(watcher(lane, views, analysis, &timelines, end))
        };
        let watchers = by_client.iter().filter_map(watcher).collect();
        let truth = timelines.into_iter().map(|timeline| timeline.spans).collect();
        Self {
            members,
            truth,
            watchers,
        }
    }
}

/// Of each member the moments at which a value of it was acknowledged, in order.
fn values(analysis: &Analysis<'_>, members: &[String]) -> Vec<Vec<(u64, i64)>> {
    let mut all = vec![Vec::new(); members.len()];
    let mut current: BTreeMap<&str, usize> = BTreeMap::new();
    for op in &analysis.ops.work {
        let (Some(sent), Some(end)) = (op.invoke, op.end) else {
            continue;
        };
        let (asked, answer) = (&analysis.events[sent], &analysis.events[end]);
        if let Some(at) = asked
            .get(MEMBER)
            .and_then(|name| members.iter().position(|member| member == name))
        {
            current.insert(op.node, at);
        }
        let written = asked.get(VALUE).filter(|_| answer.kind == EventType::Ok);
        if let (Some(value), Some(&member)) = (written, current.get(op.node)) {
            all[member].push((answer.time, value));
        }
    }
    all
}

/// The spans in which a member was one, by its own client's events.
fn membership(analysis: &Analysis<'_>, member: &str, end: u64) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut open: Option<(u64, &str)> = None;
    let named = |event: &Event| event.get(MEMBER) == Some(member);
    for event in analysis.events {
        let Some(node) = event.node.as_deref() else { continue };
        let over = |event: &Event| matches!(event.state(), Some("expired" | "closed")) || event.f == "exit";
        if let Some((from, of)) = open
            && of == node
            && ((event.f == f::DEREGISTER && event.kind == EventType::Invoke) || over(event) || named(event))
        {
            spans.push((from, event.time));
            open = None;
        }
        let registered = event.f == f::REGISTER && event.kind == EventType::Ok;
        if registered
            && analysis
                .ops
                .request(event)
                .is_some_and(|at| named(&analysis.events[at]))
        {
            open = Some((event.time, node));
        }
    }
    spans.extend(open.map(|(from, _)| (from, end)));
    spans
}

fn watcher(
    lane: usize,
    views: &[GroupView<'_>],
    analysis: &Analysis<'_>,
    members: &[MemberTimeline<'_>],
    end: u64,
) -> DrawnWatcher {
    let mut drawn = DrawnWatcher {
        lane,
        shown: vec![Vec::new(); members.len()],
        late: vec![Vec::new(); members.len()],
        blank: Vec::new(),
    };
    for (at, view) in views.iter().enumerate() {
        let from = analysis.time(view.at);
        let until = views.get(at + 1).map_or(end, |next| analysis.time(next.at));
        if view.members.is_none() {
            drawn.blank.push((from, until));
            continue;
        }
        for (place, member) in members.iter().enumerate() {
            let mut entries = view.members().iter();
            let entry = entries.find(|entry| entry.member == Some(member.name));
            drawn.shown[place].extend(entry.map(|_| (from, until)));
            drawn.late[place].extend(match entry {
                None => member.missing((from, until)),
                Some(entry) => {
                    let mut late = member.gone((from, until));
                    late.extend(member.outdated((from, until), entry.value));
                    late.sort_unstable();
                    late
                }
            });
        }
    }
    drawn
}

impl MemberTimeline<'_> {
    /// The parts of a view's span in which the member is one, if the view does not show it.
    fn missing(&self, (from, until): Span) -> Vec<Span> {
        let overlaps = self.spans.iter().map(|&(begin, end)| (begin.max(from), end.min(until)));
        overlaps.filter(|(begin, end)| begin < end).collect()
    }

    /// The parts of a view's span in which the member had ceased to be one, and was not one again.
    fn gone(&self, (from, until): Span) -> Vec<Span> {
        let again = self.spans.iter().skip(1).map(|&(begin, _)| begin).chain([u64::MAX]);
        let gaps = self.spans.iter().zip(again);
        let gaps = gaps.map(|(&(_, end), begin)| (end.max(from), begin.min(until)));
        gaps.filter(|(begin, end)| begin < end).collect()
    }

    /// The part of a view's span after a later value than the one that it shows was acknowledged.
    fn outdated(&self, (from, until): Span, value: Option<i64>) -> Option<Span> {
        let place = self.values.iter().position(|(_, written)| Some(*written) == value)?;
        let (written, _) = self.values.get(place + 1)?;
        let begin = (*written).max(from);
        (begin < until).then_some((begin, until))
    }
}
