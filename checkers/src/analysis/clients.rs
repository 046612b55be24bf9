//! Clients: which there are, which sessions they had, when their processes died, what they declared that they cannot do
//! or report, what their notices announced, and what they confirmed.

use super::{Grants, Ops, RecordView, first_after, ops};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use zooquake_history::operation::control::{f, notice};
use zooquake_history::operation::membership::MEMBERS;
use zooquake_history::operation::{FieldSource, JsonNode, RequiredField, SESSION, membership, queue};
use zooquake_history::plan::Workload;
use zooquake_history::protocol::ClientLimit;
use zooquake_history::{Event, EventType, Node, Value};

/// The clients of a run.
#[derive(Debug, Default)]
pub struct NamedClients<'a> {
    /// Their names: those planned and those that appear in the history.
    pub names: BTreeSet<String>,
    /// By session: the client that owned it, and the first event that names both.
    pub sessions: BTreeMap<u64, SessionOwner<'a>>,
    /// By session: the clients that named it as their own, and the index of the first event in which each did so: in
    /// `hello`, in a `session` notice, in an answer to `quiesce`, in a grant, or in a registration.
    pub named: BTreeMap<u64, BTreeMap<&'a str, usize>>,
    /// By session and client: all events in which that client named it as its own.
    namings: HashMap<(u64, &'a str), Vec<usize>>,
    /// For each client where its processes began, in order.
    hellos: BTreeMap<&'a str, Vec<usize>>,
    /// For each client where its streams ended, in order.
    pub exits: BTreeMap<&'a str, Vec<usize>>,
    /// For each client its notices of sessions that it got, lost or found again, in order.
    notices: BTreeMap<&'a str, Vec<usize>>,
}

/// The client that owned a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionOwner<'a> {
    /// The client's name.
    pub node: &'a str,
    /// The first event that ties the session to it.
    pub event: usize,
}

/// A session's number; `None` for what is not written as one.
pub fn session(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).ok().filter(|&number| number != 0)
}

impl<'a> NamedClients<'a> {
    /// Reads the clients out of a record.
    pub fn new(record: &RecordView<'a>, ops: &Ops<'a>, grants: &Grants<'a>) -> Self {
        let mut clients = Self::default();
        clients
            .names
            .extend(record.plan.cluster.client_nodes().iter().map(Node::to_string));
        for op in ops.work.iter().chain(&ops.control) {
            if !clients.names.contains(op.node) {
                clients.names.insert(op.node.to_owned());
            }
        }
        let events = record.history.events.iter().enumerate();
        for (at, event, client) in events.filter_map(|(at, event)| Some((at, event, ops::named_client(event)?))) {
            if event.f == "session" {
                clients.notices.entry(client).or_default().push(at);
            }
            if event.f == "hello" && event.kind == EventType::Info {
                clients.hellos.entry(client).or_default().push(at);
            }
            match (event.f.as_str(), event.kind) {
                ("exit", EventType::Info) => clients.exits.entry(client).or_default().push(at),
                ("hello" | "session", EventType::Info) => clients.tie(event.session(), client, at),
                (f::QUIESCE, EventType::Ok) => {
                    for text in event.sessions().into_iter().flatten() {
                        clients.tie(text.as_str(), client, at);
                    }
                }
                _ => {}
            }
        }
        for op in ops.work.iter().filter(|op| op.f == membership::f::REGISTER) {
            let answer = op.end.map(|end| (end, &record.history.events[end]));
            if let Some((end, answer)) = answer.filter(|(_, answer)| answer.kind == EventType::Ok) {
                clients.tie(answer.session(), op.node, end);
            }
        }
        for grant in &grants.all {
            if let Some(read) = grant.read {
                clients.tie(grant.session, grant.node, read);
            }
        }
        clients
    }

    /// Who owned the session that is written so; `None` if no client named it.
    pub fn owner(&self, text: &str) -> Option<SessionOwner<'a>> {
        self.sessions.get(&session(text)?).copied()
    }

    /// ` of c2`, the client that owned the session that is written so; empty if no client named it.
    pub(crate) fn owner_words(&self, text: &str) -> String {
        let owner = self.owner(text);
        owner.map(|owner| format!(" of {}", owner.node)).unwrap_or_default()
    }

    /// Where a client first named a session as its own.
    pub fn first_named(&self, node: &str, session: u64) -> Option<usize> {
        self.named.get(&session)?.get(node).copied()
    }

    /// Where the process of a client began that lived at an event; `None` if that is not in the history.
    pub fn process_began(&self, node: &str, at: usize) -> Option<usize> {
        let hellos = self.hellos.get(node)?;
        hellos[..hellos.partition_point(|&hello| hello < at)].last().copied()
    }

    /// The first event before another one in which a process other than the client's present one, which began at
    /// `began`, named a session as its own. `None` also if this process named it itself by then.
    pub fn named_by_another(&self, session: u64, (node, began): (&str, usize), before: usize) -> Option<usize> {
        let own = self.namings.get(&(session, node)).map_or(&[][..], Vec::as_slice);
        if own.iter().any(|at| (began..before).contains(at)) {
            return None;
        }
        let first = self.named.get(&session)?.values().copied().min()?;
        (first < before).then_some(first)
    }

    /// The sessions that a client named as its own within a span of events.
    pub fn sessions_of(&self, node: &str, within: Range<usize>) -> impl Iterator<Item = u64> {
        let own = self.namings.iter().filter(move |((_, of), _)| *of == node);
        own.filter(move |(_, all)| all.iter().any(|at| within.contains(at)))
            .map(|(&(session, _), _)| session)
    }

    /// Where the streams of a client ended, in order.
    pub(crate) fn exits_of(&self, node: &str) -> &[usize] {
        self.exits.get(node).map_or(&[], Vec::as_slice)
    }

    /// Whether a stream of the client ended between two events.
    pub fn died(&self, node: &str, from: usize, to: usize) -> bool {
        first_after(self.exits_of(node), from).is_some_and(|at| at < to)
    }

    /// Whether a client had one session, in one process, from the event `from` to the event `to`: what it reads then
    /// shows all that it was shown or had written before. A session that was lost and found again is taken for another
    /// one.
    pub fn one_session(&self, node: &str, from: usize, to: usize) -> bool {
        let notices = self.notices.get(node).map_or(&[][..], Vec::as_slice);
        let next = notices.partition_point(|&at| at < from);
        notices.get(next).is_none_or(|&at| at > to) && !self.died(node, from, to)
    }

    /// The first notice after an event in which a client reports that a session of its is not connected, or over.
    pub(crate) fn lost_connection(&self, events: &[Event], node: &str, after: usize) -> Option<usize> {
        let notices = self.notices.get(node)?;
        let mut later = notices[notices.partition_point(|&at| at <= after)..].iter().copied();
        later.find(|&at| matches!(events[at].state(), Some("disconnected" | "expired")))
    }

    /// The clients that began without a session, by their `hello`, never named one, reported none as connected, and
    /// never answered `ok` to an operation of the recipe. Those that declared that they cannot name a session are no
    /// such clients.
    pub(crate) fn sessionless(&self, events: &[Event], ops: &Ops<'a>) -> BTreeSet<&'a str> {
        let lacks = |&hello: &usize| {
            let mut cannot = events[hello].cannot().into_iter().flatten();
            events[hello]
                .get(SESSION.any())
                .is_some_and(|session| session.is_null())
                && cannot.all(|word| word != ClientLimit::Session.name())
        };
        let began = self.hellos.iter().filter(|(_, hellos)| hellos.iter().all(lacks));
        let mut lone: BTreeSet<&str> = began.map(|(client, _)| *client).collect();
        for owners in self.named.values() {
            lone.retain(|client| !owners.contains_key(client));
        }
        let connected = |client: &str| {
            let notices = self.notices.get(client).map_or(&[][..], Vec::as_slice);
            notices.iter().any(|&at| events[at].state() == Some("connected"))
        };
        lone.retain(|client| !connected(client));
        let answered = ops
            .work
            .iter()
            .filter(|op| op.end.is_some_and(|end| events[end].kind == EventType::Ok));
        for op in answered {
            lone.remove(op.node);
        }
        lone
    }

    fn tie(&mut self, text: Option<&str>, node: &'a str, event: usize) {
        let Some(number) = text.and_then(session) else { return };
        let owner = self.sessions.entry(number).or_insert(SessionOwner { node, event });
        if event < owner.event {
            *owner = SessionOwner { node, event };
        }
        self.namings.entry((number, node)).or_default().push(event);
        let named = self.named.entry(number).or_default().entry(node);
        named.and_modify(|first| *first = event.min(*first)).or_insert(event);
    }
}

/// What each client declared in the `hello` of one of its processes: a program that cannot report something never can.
#[derive(Debug, Default)]
pub struct ClientLimits<'a> {
    declared: BTreeSet<(&'a str, ClientLimit)>,
    nameless: NamelessClients<'a>,
}

/// The clients of a user's own recipe that do not name the items of a queue that they take.
#[derive(Debug, Default)]
enum NamelessClients<'a> {
    #[default]
    None,
    /// Those that were answered with an item which they had not named.
    Some(BTreeSet<&'a str>),
    /// All: not one of the run ever named an item.
    All,
}

impl<'a> ClientLimits<'a> {
    pub(crate) fn new(events: &'a [Event], ops: &Ops<'a>, workload: &Workload) -> Self {
        let words = events
            .iter()
            .filter(|event| event.f == "hello" && event.kind == EventType::Info)
            .filter_map(|event| Some((ops::named_client(event)?, event.cannot()?)));
        let each = words.flat_map(|(node, words)| {
            let known = words.iter().filter_map(|word| ClientLimit::from_word(word.as_str()?));
            known.map(move |cannot| (node, cannot))
        });
        let own = workload.recipe.is_some() && workload.family == queue::FAMILY.name;
        Self {
            declared: each.collect(),
            nameless: if own {
                NamelessClients::new(events, ops)
            } else {
                NamelessClients::None
            },
        }
    }

    /// Whether a client declared it.
    pub fn cannot(&self, node: &str, what: ClientLimit) -> bool {
        self.declared.contains(&(node, what))
    }

    /// Whether some client declared it.
    pub fn any(&self, what: ClientLimit) -> bool {
        self.declared.iter().any(|&(_, cannot)| cannot == what)
    }

    /// Whether a client does not name the items that it takes, so that a dequeue of it whose end is unknown may have
    /// taken any: it declared that, or was answered with one that it had not named, or no client of the run, which all
    /// are one program, ever named one. The latter two are of users' own recipes.
    pub fn is_nameless(&self, node: &str) -> bool {
        let seen = match &self.nameless {
            NamelessClients::None => false,
            NamelessClients::Some(nodes) => nodes.contains(node),
            NamelessClients::All => true,
        };
        seen || self.cannot(node, ClientLimit::Taking)
    }
}

impl<'a> NamelessClients<'a> {
    fn new(events: &'a [Event], ops: &Ops<'a>) -> Self {
        let named = |event: &Event| event.f == notice::TAKING && ops::named_client(event).is_some();
        if !events.iter().any(named) {
            return Self::All;
        }
        let answers = announced_answers(events, ops, &queue::TAKING).into_iter();
        Self::Some(answers.filter(|&(.., named)| !named).map(|(node, ..)| node).collect())
    }
}

/// The answers with a number in a field that a notice is to have announced: the client of each, its event, and whether
/// a notice of the same process had. Of a view that shows nothing none is needed. None of a field of another kind.
pub fn announced_answers<'a>(events: &'a [Event], ops: &Ops<'a>, field: &RequiredField) -> Vec<(&'a str, usize, bool)> {
    let FieldSource::Announced { f, notice, within } = field.of else {
        return Vec::new();
    };
    let all = ops.work.iter().chain(&ops.control).filter(|op| op.f == f);
    let asked: HashMap<usize, (&str, Option<usize>)> = all
        .filter_map(|op| Some((op.end?, (op.node, op.invoke))))
        .filter(|(end, _)| events[*end].kind == EventType::Ok && !ops.disputed.contains(end))
        .collect();
    let [path @ .., name] = field.path else {
        return Vec::new();
    };
    // By client where its process announced each number last.
    let mut announced: HashMap<&str, HashMap<i64, usize>> = HashMap::new();
    let mut answers = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if let Some(client) = ops::named_client(event).filter(|_| event.kind == EventType::Info) {
            let number = event.value.named(name).and_then(Value::as_i64);
            match event.f.as_str() {
                "hello" | "exit" => drop(announced.remove(client)),
                f if f == notice => {
                    let own = announced.entry(client).or_default();
                    own.extend(number.map(|number| (number, at)));
                }
                _ => {}
            }
        }
        let Some(&(node, sent)) = asked.get(&at) else { continue };
        let inner = path.iter().try_fold(&event.value, |value, name| value.named(name));
        let Some(inner) = inner.filter(|inner| !MEMBERS.read_from(*inner).is_some_and(Value::is_null)) else {
            continue;
        };
        // Of an answer whose request is missing it is not known what came after that.
        let Some(since) = sent.filter(|_| within).or((!within).then_some(0)) else {
            continue;
        };
        if let Some(number) = inner.named(name).and_then(Value::as_i64) {
            let last = announced.get(node).and_then(|own| own.get(&number));
            answers.push((node, at, last.is_some_and(|&last| last >= since)));
        }
    }
    answers
}

/// The `confirm` requests that were answered `ok`, by client.
#[derive(Debug, Default)]
pub struct Confirms<'a> {
    /// Of each where it was answered and where it was sent, in the order of the answers.
    by_client: HashMap<&'a str, Vec<(usize, usize)>>,
}

impl<'a> Confirms<'a> {
    pub fn new(events: &[Event], ops: &Ops<'a>) -> Self {
        let mut by_client: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for op in ops.control.iter().filter(|op| op.f == f::CONFIRM) {
            if let (Some(asked), Some(end)) = (op.sent(), op.end)
                && events[end].kind == EventType::Ok
            {
                by_client.entry(op.node).or_default().push((end, asked));
            }
        }
        by_client.values_mut().for_each(|all| all.sort_unstable());
        Self { by_client }
    }

    /// Where the last `confirm` of a client was sent and answered before the client was `sent` a request. `None` if
    /// there is none, or if the client may have had another session by the event `read`: what it reads in one session
    /// shows all that had been acknowledged before its `confirm` was sent.
    pub fn before(&self, clients: &NamedClients<'_>, node: &str, sent: usize, read: usize) -> Option<(usize, usize)> {
        let all = self.by_client.get(node)?;
        let (confirmed, asked) = all[all.partition_point(|&(confirmed, _)| confirmed < sent).checked_sub(1)?];
        clients.one_session(node, asked, read).then_some((asked, confirmed))
    }
}
