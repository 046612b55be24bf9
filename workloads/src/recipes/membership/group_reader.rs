//! Reads a group in one session, and watches it: lists the members, reads the data of each, and reads again what an
//! event is about.
//!
//! Requests of a session are answered in the order in which they are sent, and no read shows less than one before it.
//! A reader sends one after the other and takes each answer before it sends the next one, so that no view takes back
//! what an earlier one of its session showed.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use zooquake_history::operation::membership::{GroupView, MemberEntry};

use super::{MEMBERS, path, value};
use crate::recipes::bug::Bug;
use crate::recipes::{Env, Notice};
use crate::zk::{Error, Reply, SessionState, SharedValue, Stat, Watch, Zk, session_hex};

/// How long to wait before all is read again after a read that failed on a connection that is there.
const RETRY: Duration = Duration::from_millis(20);

/// What a reader does in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingOrder {
    /// Whether the list is watched by the very read that is shown; if not, by a later one, whose answer is ignored.
    pub list_watched: bool,
    /// The same of the data of each member.
    pub data_watched: bool,
    /// Whether nothing is shown while the connection is lost, and all is read again when it is back. If not, what the
    /// client library does about its watches has to do.
    pub reads_anew: bool,
}

/// A read has failed, or the connection was lost before its answer.
struct ReadInterruption;

type Read<T> = Result<T, ReadInterruption>;

/// What a reader has received.
enum ReaderMessage {
    /// The session has another state.
    Link,
    /// The list has changed.
    List,
    /// The znode of this member has changed.
    Member(String),
}

/// The reader of a group in one session.
pub struct GroupReader {
    env: Env,
    zk: Arc<dyn Zk>,
    group: ShownGroup,
    order: ReadingOrder,
    /// What was read last of each member that is in the list.
    entries: BTreeMap<String, MemberEntry>,
    list: Option<Watch>,
    watches: BTreeMap<String, Watch>,
    /// Whether all was read since the session began, or since `reads_anew` asked for it.
    whole: bool,
}

impl GroupReader {
    /// A reader that has read nothing yet.
    pub fn new(env: &Env, zk: Arc<dyn Zk>, group: ShownGroup, order: ReadingOrder) -> Self {
        Self {
            env: env.clone(),
            zk,
            group,
            order,
            entries: BTreeMap::new(),
            list: None,
            watches: BTreeMap::new(),
            whole: false,
        }
    }

    /// Shows the group until the session is over.
    pub async fn run(mut self) {
        self.hide();
        loop {
            let state = self.zk.state();
            if state.is_over() {
                return self.hide();
            }
            if state != SessionState::Connected && self.order.reads_anew {
                self.whole = false;
                self.hide();
            }
            if state == SessionState::Connected && !self.whole && self.list(true).await.is_err() {
                self.retry().await;
                continue;
            }
            let read = match self.hear(state).await {
                None => Ok(()),
                Some(ReaderMessage::Link) => {
                    self.whole &= !self.order.reads_anew;
                    Ok(())
                }
                // All will be read.
                Some(_) if !self.whole => Ok(()),
                Some(ReaderMessage::List) => self.list(false).await,
                Some(ReaderMessage::Member(member)) => self.read_again(member).await,
            };
            if read.is_err() {
                self.whole = false;
                self.retry().await;
            }
        }
    }

    async fn retry(&mut self) {
        if self.zk.state() == SessionState::Connected {
            self.env.host.sleep(RETRY).await;
        }
    }

    /// The next event; `None` if a question was answered instead.
    async fn hear(&mut self, seen: SessionState) -> Option<ReaderMessage> {
        let group = self.group.clone();
        let mut changed = self.zk.changed(seen);
        group
            .event_or_question(|context| {
                if changed.poll_unpin(context).is_ready() {
                    return Poll::Ready(ReaderMessage::Link);
                }
                self.poll_watches(context)
            })
            .await
    }

    fn poll_watches(&mut self, context: &mut Context<'_>) -> Poll<ReaderMessage> {
        if self
            .list
            .as_mut()
            .is_some_and(|watch| watch.poll_unpin(context).is_ready())
        {
            self.list = None;
            return Poll::Ready(ReaderMessage::List);
        }
        let mut watches = self.watches.iter_mut();
        let fired = watches.find_map(|(member, watch)| watch.poll_unpin(context).is_ready().then(|| member.clone()));
        let Some(member) = fired else { return Poll::Pending };
        self.watches.remove(&member);
        Poll::Ready(ReaderMessage::Member(member))
    }

    /// What a read answers, unless the connection is lost before it.
    async fn answer<T>(&mut self, reply: Reply<T>) -> Read<Result<T, Error>> {
        match select(reply, self.zk.changed(SessionState::Connected)).await {
            Either::Left((Err(Error::Unknown(_)), _)) | Either::Right(_) => Err(ReadInterruption),
            Either::Left((answered, _)) => Ok(answered),
        }
    }

    /// Lists the members, reads those that are new, or `all` of them, and shows what there is.
    async fn list(&mut self, all: bool) -> Read<()> {
        let names = self.names().await?;
        // The planted G1 and G3 read all again after each event of the list; G3 puts that over what it has read
        // meanwhile.
        let late = self.env.has(Bug::ReadsOverEvents);
        let all = all || late || self.env.has(Bug::ListWatchedLate);
        self.watches.retain(|member, _| names.contains(member));
        let mut entries = self.kept(&names, all);
        for member in names {
            if late && self.whole {
                self.read_fired().await?;
            }
            let entry = if all || !self.watches.contains_key(&member) {
                self.read(&member).await?
            } else {
                self.entries.get(&member).cloned()
            };
            entries.extend(entry.map(|entry| (member, entry)));
        }
        self.entries = entries;
        self.whole = true;
        self.show();
        self.watch_after().await
    }

    /// The entries that a new list leaves as they are. The planted G9 keeps members that are gone while nobody comes.
    fn kept(&self, names: &[String], all: bool) -> BTreeMap<String, MemberEntry> {
        let comes = names.iter().any(|member| !self.entries.contains_key(member));
        match self.env.has(Bug::GoneMembersKept) && !all && !comes {
            true => self.entries.clone(),
            false => BTreeMap::new(),
        }
    }

    async fn names(&mut self) -> Read<Vec<String>> {
        if !self.order.list_watched {
            let listed = self.answer(self.zk.children(MEMBERS)).await?;
            return listed.map_err(|_| ReadInterruption);
        }
        let listed = self.answer(self.zk.children_and_watch(MEMBERS)).await?;
        let (names, watch) = listed.map_err(|_| ReadInterruption)?;
        self.list = Some(watch);
        Ok(names)
    }

    /// Reads the data of the members whose events have come by now, and shows them.
    async fn read_fired(&mut self) -> Read<()> {
        let watches = self.watches.iter_mut();
        let fired = watches.filter_map(|(member, watch)| watch.now_or_never().map(|_| member.clone()));
        for member in fired.collect::<Vec<_>>() {
            self.watches.remove(&member);
            self.read_again(member).await?;
        }
        Ok(())
    }

    /// Reads a member after an event of its znode, and shows it.
    async fn read_again(&mut self, member: String) -> Read<()> {
        match self.read(&member).await? {
            Some(entry) => drop(self.entries.insert(member, entry)),
            None if self.env.has(Bug::GoneMembersKept) => {}
            None => drop(self.entries.remove(&member)),
        }
        self.show();
        self.watch_after().await
    }

    /// Reads a member; `None` if it is gone, or has no value.
    async fn read(&mut self, member: &str) -> Read<Option<MemberEntry>> {
        let path = path(member);
        let read = if self.order.data_watched {
            let read = self.answer(self.zk.get_and_watch(&path)).await?;
            read.map(|(data, stat, watch)| (data, stat, Some(watch)))
        } else {
            let read = self.answer(self.zk.get(&path)).await?;
            read.map(|(data, stat)| (data, stat, None))
        };
        let (data, stat, watch) = match read {
            Ok(read) => read,
            Err(error) => {
                self.watches.remove(member);
                return if error == Error::NoNode {
                    Ok(None)
                } else {
                    Err(ReadInterruption)
                };
            }
        };
        self.watches.extend(watch.map(|watch| (member.to_string(), watch)));
        let Some(value) = value(&data) else {
            crate::stderr::say(&format!("{path} holds no value"));
            return Ok(None);
        };
        let Stat { czxid, mzxid, .. } = stat;
        Ok(Some(MemberEntry {
            member: member.to_string(),
            path,
            czxid: Some(czxid),
            mzxid: Some(mzxid),
            value,
        }))
    }

    /// Sets the watches that the reads before have not set, and ignores what the reads say that set them.
    async fn watch_after(&mut self) -> Read<()> {
        if !self.order.list_watched && self.list.is_none() {
            let watched = self.answer(self.zk.children_and_watch(MEMBERS)).await?;
            let (_, watch) = watched.map_err(|_| ReadInterruption)?;
            self.list = Some(watch);
        }
        // The planted G8 watches no data.
        if self.order.data_watched || self.env.has(Bug::DataUnwatched) {
            return Ok(());
        }
        let members: Vec<String> = self.entries.keys().cloned().collect();
        for member in members {
            if self.watches.contains_key(&member) {
                continue;
            }
            if let Ok((.., watch)) = self.answer(self.zk.get_and_watch(&path(&member))).await? {
                self.watches.insert(member, watch);
            }
        }
        Ok(())
    }

    fn show(&self) {
        let members = self.entries.values().cloned().collect();
        self.group.show(self.zk.session(), Some(members));
    }

    fn hide(&self) {
        self.group.show(self.zk.session(), None);
    }
}

/// What a client shows its application of a group: one view after the other, numbered within the process. Clones share
/// them.
#[derive(Clone)]
pub struct ShownGroup {
    env: Env,
    state: SharedValue<ShownState>,
}

#[derive(Default)]
struct ShownState {
    /// The view that is shown; `None` before the first session.
    view: Option<GroupView>,
    /// Views that were shown before it.
    shown: u64,
    /// How often it was asked for what is shown once all events are worked off.
    asked: u64,
    /// How many of these questions may be answered.
    answered: u64,
}

impl ShownGroup {
    /// Nothing is shown yet.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            state: SharedValue::default(),
        }
    }

    /// Shows these members, as they were read in this session; `None` where it has nothing that it may show.
    /// There is a notice of it, unless that is what is shown already.
    pub fn show(&self, session: i64, members: Option<Vec<MemberEntry>>) {
        self.state.update(|state| {
            let view = GroupView {
                n: state.shown,
                session: session_hex(session),
                members,
            };
            let before = state.view.as_ref();
            if before.is_some_and(|before| (&before.session, &before.members) == (&view.session, &view.members)) {
                return;
            }
            state.shown += 1;
            state.view = Some(view.clone());
            // Within the lock, so that no answer names a view before the notice of it.
            (self.env.notify)(Notice::View(view));
        });
    }

    /// What is shown once the reader of the group has worked off the events that came before this call.
    pub async fn worked_off(&self) -> GroupView {
        let question = self.state.update(|state| {
            state.asked += 1;
            state.asked
        });
        self.state
            .until(|state| state.view.clone().filter(|_| state.answered >= question))
            .await
    }

    /// Waits until `event` finds one, or, if there is none, for a question of [`ShownGroup::worked_off`], which it then
    /// allows to be answered: questions are counted before `event` looks, so that the events of before a question are
    /// found before it.
    async fn event_or_question<T>(&self, mut event: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Option<T> {
        let asked = self
            .state
            .until(|state| (state.asked > state.answered).then_some(state.asked));
        let mut asked = std::pin::pin!(asked);
        poll_fn(|context| {
            let question = asked.as_mut().poll(context);
            if let Poll::Ready(event) = event(context) {
                return Poll::Ready(Some(event));
            }
            question.map(|question| {
                self.state.update(|state| state.answered = question);
                None
            })
        })
        .await
    }
}
