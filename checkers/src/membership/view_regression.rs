//! `view-regression`: what a client showed of a group went back in time. One report for each path of a session.
//!
//! Judged are the views of one process that were read in one session, in the order of their numbers. It is certain in
//! every execution that fits the record, since it follows from the zxids that the views give, and from nothing else:
//!
//! - *An older znode, or an older value.* The transactions are one order, and a path has one znode at a time. A znode
//!   with a lower czxid had been deleted before the one with the higher czxid was created; data with a lower mzxid had
//!   been overwritten before those with the higher mzxid. ZooKeeper shows a session nothing older than it has shown it,
//!   so the recipe showed the result of an older read after that of a newer one.
//! - *A member that was away.* A czxid is given to one znode once. Either the znode stood when a view between two that
//!   show it left it out, so that this view rests on a read older than that for the first; or it was gone by then, and
//!   the second view that shows it rests on a read older than that for the one between. A view that shows nothing
//!   (`null`) leaves nothing out.
//!
//! Views of different sessions are not compared: a new session may be served by a server that lags. Not judged are
//! numbers that a process used for different views, or in an order other than that of its notices: whichever of two
//! such views is the later one is not certain, which is a reason against `valid`; but none where they differ in nothing
//! but what one of them does not give.

use crate::analysis::{Analysis, GroupMember, GroupView};
use crate::findings::{Finding, Findings};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The views of one process that have numbers, by these.
type ByNumber<'r, 'a> = BTreeMap<u64, &'r GroupView<'a>>;

/// Looks for views that went back.
pub fn check(run: &Analysis<'_>, views: &[GroupView<'_>], out: &mut Findings) {
    let mut processes: BTreeMap<(&str, usize), Vec<&GroupView<'_>>> = BTreeMap::new();
    for view in views {
        processes.entry((view.node, view.process)).or_default().push(view);
    }
    let (mut odd, mut looked_at) = (Vec::new(), 0);
    for shown in processes.values() {
        let mut sessions: BTreeMap<u64, Vec<&GroupView<'_>>> = BTreeMap::new();
        for view in numbered(shown, &mut odd).into_values() {
            if let Some(session) = view.session {
                sessions.entry(session).or_default().push(view);
                looked_at += 1;
            }
        }
        for views in sessions.values() {
            session(run, views, out);
        }
    }
    odd.sort_unstable();
    out.doubt("the order of views is not certain", &odd);
    out.ran("view-regression", looked_at);
}

/// The views of a process in the order of their numbers, without those whose numbers contradict each other, which are
/// noted in `odd`.
fn numbered<'r, 'a>(shown: &[&'r GroupView<'a>], odd: &mut Vec<(usize, String)>) -> ByNumber<'r, 'a> {
    let (mut all, mut doubtful) = (ByNumber::new(), BTreeSet::new());
    let mut last = None;
    for view in shown {
        let Some(n) = view.n else { continue };
        let first = *all.entry(n).or_insert(view);
        let late = view.notice && last > Some(n);
        last = last.max(Some(n).filter(|_| view.notice));
        let same = first.same_content(view);
        if same && !late {
            continue;
        }
        doubtful.insert(n);
        let what = match (first.contradicts(view), late) {
            (true, _) => "other members than another view of that number",
            (false, true) => "a lower number than a notice before it",
            // What one of them lacks is named elsewhere.
            (false, false) => continue,
        };
        odd.push((view.at, format!("view {n} of {}, which has {what}", view.node)));
    }
    all.retain(|n, _| !doubtful.contains(n));
    all
}

/// What was shown of a path, and where.
#[derive(Clone, Copy)]
struct ShownState<'r, 'a> {
    view: &'r GroupView<'a>,
    member: &'r GroupMember<'a>,
}

impl ShownState<'_, '_> {
    /// What of a state is older than this one's, in words; `None` if nothing is for certain.
    fn older(&self, next: &GroupMember<'_>) -> Option<&'static str> {
        let lower = |next: Option<i64>, shown: Option<i64>| next.zip(shown).is_some_and(|(next, shown)| next < shown);
        let higher = lower(self.member.czxid, next.czxid);
        if lower(next.czxid, self.member.czxid) {
            Some("an older znode of that path")
        } else if !higher && lower(next.mzxid, self.member.mzxid) {
            Some("an older value of it")
        } else {
            None
        }
    }
}

/// The views of one session that have been gone through.
#[derive(Default)]
struct SessionViews<'r, 'a> {
    /// The newest state that was shown of each path.
    newest: HashMap<&'a str, ShownState<'r, 'a>>,
    /// By znode where it was shown last, in the last view that leaves out what it does not show.
    there: HashMap<(&'a str, i64), usize>,
    /// By znode where it was shown, and where it was left out after that.
    away: HashMap<(&'a str, i64), (usize, usize)>,
    /// The paths that were reported.
    reported: HashSet<&'a str>,
}

fn session(run: &Analysis<'_>, views: &[&GroupView<'_>], out: &mut Findings) {
    let mut shown = SessionViews::default();
    // What cannot be read as a whole shows, and leaves out, nothing for certain.
    for &view in views.iter().filter(|view| view.members.is_some() && view.whole) {
        for member in view.members() {
            shown.follow(run, ShownState { view, member }, out);
        }
        shown.leave_out(view);
    }
}

impl<'r, 'a> SessionViews<'r, 'a> {
    /// Compares what a view shows of a path with what was shown before.
    fn follow(&mut self, run: &Analysis<'_>, next: ShownState<'r, 'a>, out: &mut Findings) {
        let path = next.member.path;
        let before = self.newest.get(path).copied();
        let older = before.and_then(|before| Some((before, before.older(next.member)?)));
        let away = next.member.czxid.and_then(|czxid| self.away.get(&(path, czxid)));
        let found = match (older, away) {
            (Some((before, what)), _) => Some(older_words(run, before, next, what)),
            (None, Some(&away)) => Some(away_words(run, away, next)),
            (None, None) => None,
        };
        if let Some((witness, why)) = found.filter(|_| self.reported.insert(path)) {
            out.add(
                run,
                Finding::new("view-regression", "views do not go back", witness, why),
            );
        }
        let newer = |before: ShownState<'_, '_>| {
            let czxids = before.member.czxid.zip(next.member.czxid);
            let later = czxids.is_some_and(|(before, next)| before < next);
            later || before.member.mzxid <= next.member.mzxid
        };
        if older.is_none() && before.is_none_or(newer) {
            self.newest.insert(path, next);
        }
    }

    /// Notes which znodes a view no longer shows.
    fn leave_out(&mut self, view: &'r GroupView<'a>) {
        let mut here: HashMap<(&'a str, i64), usize> = HashMap::new();
        for member in view.members() {
            here.extend(member.czxid.map(|czxid| ((member.path, czxid), view.at)));
        }
        for (znode, shown) in std::mem::take(&mut self.there) {
            let (path, czxid) = znode;
            // What a view shows without a czxid may be that znode.
            let unknown = view.member(path).is_some_and(|member| member.czxid.is_none());
            match (here.contains_key(&(path, czxid)), unknown) {
                (true, _) => {}
                (false, true) => drop(here.insert(znode, shown)),
                (false, false) => drop(self.away.insert(znode, (shown, view.at))),
            }
        }
        self.there = here;
    }
}

fn older_words(
    run: &Analysis<'_>,
    before: ShownState<'_, '_>,
    next: ShownState<'_, '_>,
    what: &str,
) -> (Vec<usize>, String) {
    let why = format!(
        "{} showed the member {} in its view {} at {}. In its view {} at {}, which it had read in the same session, it showed \
         {what}: {}. The view had gone back in time.",
        before.view.node,
        state_words(before.member),
        before.view.n.unwrap_or_default(),
        run.at(before.view.at),
        next.view.n.unwrap_or_default(),
        run.at(next.view.at),
        state_words(next.member),
    );
    (vec![before.view.at, next.view.at], why)
}

fn away_words(run: &Analysis<'_>, (shown, left): (usize, usize), next: ShownState<'_, '_>) -> (Vec<usize>, String) {
    let why = format!(
        "{} showed the member {} at {}, left it out of the view at {}, and showed it again in its view {} at {}, all read in one \
         session. A znode with that czxid is created once: it stood while it was left out, or was gone when it was shown again. \
         A view had gone back in time.",
        next.view.node,
        state_words(next.member),
        run.at(shown),
        run.at(left),
        next.view.n.unwrap_or_default(),
        run.at(next.view.at),
    );
    (vec![shown, left, next.view.at], why)
}

/// `/members/m1 (czxid 0x5, mzxid 0x7)`.
fn state_words(member: &GroupMember<'_>) -> String {
    let zxid = |name: &str, zxid: Option<i64>| zxid.map(|zxid| format!("{name} 0x{zxid:x}"));
    let told = [zxid("czxid", member.czxid), zxid("mzxid", member.mzxid)];
    let told: Vec<String> = told.into_iter().flatten().collect();
    format!("{} ({})", member.path, told.join(", "))
}
