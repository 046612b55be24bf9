//! What a client shows its application of a group: one view after the other, numbered within the process.

use std::future::poll_fn;
use std::task::Poll;

use zooquake_history::operation::membership::{GroupView, MemberEntry};

use crate::recipes::{Env, Notice};
use crate::zk::{SharedValue, session_hex};

/// The views of one process. Clones share them.
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
    pub(super) async fn event_or_question<T>(
        &self,
        mut event: impl FnMut(&mut std::task::Context<'_>) -> Poll<T>,
    ) -> Option<T> {
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
