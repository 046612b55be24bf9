//! `stolen-znode`: the transaction logs show that a client deleted the znode by which another one held.
//!
//! The znode is a grant's, or that of a member's place in a round. It was deleted by a request in a session that
//! another client named, before the session that created it was closed, and its client held at that time: either it
//! confirmed the grant in a later transaction, or it had been asked for nothing that ends the hold before an answer
//! named a later transaction, and never denied that it holds. Where one of these is not shown the deletion is an
//! observation. So it is in recipes that let clients remove each other's znodes (the capability `helpers`). A deletion
//! that is an `unowned-release` is none of these.

use super::holder_znodes::HolderZnode;
use super::{holder_znodes, unowned_release};
use crate::analysis::clients::session;
use crate::analysis::transaction_log::{Deletion, deletions, named_zxids};
use crate::analysis::{Analysis, first_after, ops};
use crate::cause::{Cause, CauseZnode};
use crate::findings::{Finding, Findings};
use std::collections::HashMap;
use zooquake_history::EventType;
use zooquake_history::operation::control::f;

/// Looks for stolen znodes among those of grants.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    judge(run, &holder_znodes::grant_places(run), out);
}

/// Looks for stolen ones among the znodes of grants or of members.
pub fn judge(run: &Analysis<'_>, places: &[HolderZnode<'_>], out: &mut Findings) {
    let mut by_znode: HashMap<(&str, i64), Vec<&HolderZnode<'_>>> = HashMap::new();
    for place in places {
        by_znode.entry((place.path, place.czxid)).or_default().push(place);
    }
    let (later, denials, released) = (LaterAnswers::new(run), Denials::new(run), unowned_release::removed(run));
    let mut looked_at = 0;
    for deletion in deletions(run) {
        let Some(places) = by_znode.get(&(deletion.path, deletion.made.zxid)) else {
            continue;
        };
        looked_at += 1;
        let (by, creator) = (session(&deletion.txn.session), session(&deletion.made.session));
        let unowned = |node: &str| released.contains(&(node, deletion.made.zxid));
        let mut clients = by.and_then(|by| run.clients.named.get(&by)).into_iter().flatten();
        if by == creator || clients.any(|(node, _)| unowned(node)) {
            continue;
        }
        // Where its holder deletes the znode in the session that it names, whose znode it is is a matter of
        // `foreign-znode`.
        let others = places.iter().filter(|place| place.session.and_then(session) != by);
        let proofs = others.map(|place| (*place, proof(run, place, &deletion, (&later, &denials))));
        let best = proofs.reduce(|best, next| if best.1.is_ok() { best } else { next });
        best.into_iter()
            .for_each(|(place, proof)| add(run, place, &deletion, proof, out));
    }
    out.ran("stolen-znode", looked_at);
}

/// That a client deleted the znode while another held by it: the witness, and in words how. Else in words what is not
/// shown.
fn proof(
    run: &Analysis<'_>,
    place: &HolderZnode<'_>,
    deletion: &Deletion<'_>,
    (later, denials): (&LaterAnswers, &Denials<'_>),
) -> Result<(Vec<usize>, String), String> {
    let by = session(&deletion.txn.session).and_then(|by| run.clients.named.get(&by));
    let Some((thief, &tie)) = by.and_then(|all| all.iter().min_by_key(|(_, tie)| **tie)) else {
        return Err("No client named the session that deleted it".to_owned());
    };
    if by.is_some_and(|all| all.contains_key(place.node)) {
        return Err(format!("{} itself named the session that deleted it", place.node));
    }
    if run.record.plan.workload.capabilities().helpers {
        return Err("The recipe lets clients remove each other's znodes".to_owned());
    }
    let zxid = deletion.txn.zxid;
    let named = format!("That is a session of {thief}, named at {}.", run.at(tie));
    let confirms = |&&read: &&usize| run.events[read].zxid().is_some_and(|confirmed| confirmed > zxid);
    if let Some(&read) = place.confirms.iter().find(confirms) {
        let words = format!(
            "{named} {} confirmed later that it held: its answer at {} names a later transaction.",
            place.node,
            run.at(read)
        );
        return Ok((witness(run, deletion, [place.read, tie, read]), words));
    }
    if denials.any(run, place) {
        return Err(format!("{} may have held no more by then", place.node));
    }
    let end = place.end.unwrap_or(usize::MAX);
    match later.first(zxid).filter(|&at| at < end && !place.end_unknown) {
        Some(at) => {
            let words = format!(
                "{named} An answer at {} names a later transaction; {} had been asked for nothing by then that ends its hold, and never \
                 denied it.",
                run.at(at),
                place.node
            );
            Ok((witness(run, deletion, [place.read, tie, at]), words))
        }
        None => Err(format!("{} may have given it back by then", place.node)),
    }
}

/// Of the answer that names the znode, the event that ties the deleting session to a client, and the answer that names
/// a later transaction: those that are not needed beside the others are left out.
fn witness(run: &Analysis<'_>, deletion: &Deletion<'_>, [read, tie, later]: [usize; 3]) -> Vec<usize> {
    let names_later = |at: usize| {
        let named = named_zxids(&run.events[at]);
        run.events[at].kind == EventType::Ok && named.iter().any(|&zxid| zxid > deletion.txn.zxid)
    };
    if names_later(read) || names_later(tie) {
        vec![read, tie]
    } else if ties(run, later, deletion) {
        vec![read, later]
    } else {
        vec![read, tie, later]
    }
}

/// Whether an answer itself ties the deleting session to a client.
fn ties(run: &Analysis<'_>, at: usize, deletion: &Deletion<'_>) -> bool {
    let (event, by) = (&run.events[at], session(&deletion.txn.session));
    let mut listed = event
        .sessions()
        .into_iter()
        .flatten()
        .filter_map(|text| session(text.as_str()?));
    let own = event.f == run.names.ops.takes && event.session().and_then(session) == by;
    own || event.f == f::QUIESCE && listed.any(|session| Some(session) == by)
}

fn add(
    run: &Analysis<'_>,
    place: &HolderZnode<'_>,
    deletion: &Deletion<'_>,
    proof: Result<(Vec<usize>, String), String>,
    out: &mut Findings,
) {
    let advisory = proof.is_err();
    let (witness, shown) = proof.unwrap_or_else(|lack| {
        let words = format!("{lack}, so this is an observation and no violation.");
        (vec![place.read], words)
    });
    let why = format!(
        "{} was read at {} and rests on {}. The transaction log shows that the session {}, which is not the one that created this znode \
         ({}), deleted it in transaction 0x{:x}, before the creator's session was closed. {shown}",
        place.words,
        run.at(place.read),
        place.path,
        deletion.txn.session,
        deletion.made.session,
        deletion.txn.zxid,
    );
    let whose = run.clients.owner_words(&deletion.txn.session);
    let cause = Cause {
        proven: true,
        znode: Some(CauseZnode::new(deletion.path, deletion.made.zxid)),
        transaction: Some(deletion.txn.zxid),
        session: Some(deletion.txn.session.clone()),
        events: vec![place.read],
        sentence: format!(
            "The session {}{whose} deleted the znode of another one, {}, in transaction 0x{:x}.",
            deletion.txn.session, deletion.path, deletion.txn.zxid
        ),
        ..Cause::default()
    };
    let found = Finding::new("stolen-znode", "ownership", witness, why);
    out.add(run, found.advisory(advisory).caused(Some(cause)));
}

/// The answers that name a later transaction than all before them: each event, and the latest transaction that it
/// names.
struct LaterAnswers(Vec<(usize, i64)>);

impl LaterAnswers {
    fn new(run: &Analysis<'_>) -> Self {
        let mut all: Vec<(usize, i64)> = Vec::new();
        let answers = run.events.iter().enumerate();
        for (at, event) in answers.filter(|(_, event)| event.kind == EventType::Ok) {
            let named = named_zxids(event).into_iter().max();
            all.extend(
                named
                    .filter(|&zxid| all.last().is_none_or(|&(_, last)| zxid > last))
                    .map(|zxid| (at, zxid)),
            );
        }
        Self(all)
    }

    /// The first answer that names a later transaction than this one, which was made before that answer was read.
    fn first(&self, zxid: i64) -> Option<usize> {
        let next = self.0.partition_point(|&(_, named)| named <= zxid);
        self.0.get(next).map(|&(at, _)| at)
    }
}

/// What a denial is about: the name of a grant, or a session of a client.
#[derive(PartialEq, Eq, Hash)]
enum DenialSubject<'a> {
    Grant(&'a str),
    Session(u64),
    /// Whatever the client holds.
    Anything,
}

/// Where clients denied that they hold: `lost`, `not-held`, `"holds":false` (of a `confirm` where it was sent), a
/// `session` notice `expired` or `closed`.
#[derive(Default)]
struct Denials<'a> {
    of: HashMap<(&'a str, DenialSubject<'a>), Vec<usize>>,
    /// By the request that ends a hold: where its client answered it.
    answered: HashMap<usize, usize>,
}

impl<'a> Denials<'a> {
    fn new(run: &Analysis<'a>) -> Self {
        let mut denials = Self::default();
        for (at, event) in run.events.iter().enumerate() {
            let (node, name) = (ops::node(event), event.grant());
            let about = |name: Option<&'a str>| name.map_or(DenialSubject::Anything, DenialSubject::Grant);
            let denied = match (event.f.as_str(), event.kind) {
                ("lost", EventType::Info) => about(name),
                ("session", EventType::Info) if matches!(event.state(), Some("expired" | "closed")) => event
                    .session()
                    .and_then(session)
                    .map_or(DenialSubject::Anything, DenialSubject::Session),
                _ if ops::is_not_held(event) => {
                    let op = run.ops.completes[at].map(|op| &run.ops.work[op]);
                    about(name.or(op.and_then(|op| op.sent()).and_then(|sent| run.events[sent].grant())))
                }
                _ => continue,
            };
            denials.of.entry((node, denied)).or_default().push(at);
        }
        for op in run.ops.control.iter().filter(|op| op.f == f::CONFIRM) {
            if let Some(read) = op.end.filter(|&end| run.events[end].holds() == Some(false)) {
                let at = op.sent().unwrap_or(read);
                denials
                    .of
                    .entry((op.node, DenialSubject::Anything))
                    .or_default()
                    .push(at);
            }
        }
        denials.of.values_mut().for_each(|all| all.sort_unstable());
        let answers = run.ops.work.iter().filter_map(|op| Some((op.sent()?, op.end?)));
        denials.answered = answers
            .filter(|&(_, read)| matches!(run.events[read].kind, EventType::Ok | EventType::Fail))
            .collect();
        denials
    }

    /// Whether a client may have held no more when it was asked to end its hold: it denied it, or its process ended,
    /// before it answered that, or the history ends before such an answer. What it wrote after that answer is of no
    /// account.
    fn any(&self, run: &Analysis<'_>, place: &HolderZnode<'_>) -> bool {
        let answered = place.end.and_then(|end| self.answered.get(&end)).copied();
        let until = answered.unwrap_or(usize::MAX);
        let within = |all: &Vec<usize>| first_after(all, place.read).is_some_and(|at| at <= until);
        let session = place.session.and_then(session).map(DenialSubject::Session);
        let about = [
            Some(DenialSubject::Anything),
            place.grant.map(DenialSubject::Grant),
            session,
        ];
        let denied = about
            .into_iter()
            .flatten()
            .any(|about| self.of.get(&(place.node, about)).is_some_and(within));
        let exited = run.clients.exits.get(place.node).is_some_and(within);
        denied || exited || answered.is_none() && !run.record.whole
    }
}
