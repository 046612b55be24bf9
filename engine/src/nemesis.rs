//! The nemesis as the engine sees it. The engine alone writes the history, and triggers are those of its clients'
//! states.

use super::clients::Clients;
use super::context::RunContext;
use super::effect::Effect;
use super::history_entry::HistoryEntry;
use super::nemesis_messages::{NemesisAnswer, NemesisReport, TriggerFiring};
use super::trigger::{ArmedTrigger, TriggerState};
use std::collections::BTreeSet;
use std::time::Duration;
use zooquake_history::operation::nemesis::{DETAIL, PHASE, VERIFIED, WINDOW};

/// The nemesis as the engine sees it: its windows and its trigger.
#[derive(Debug)]
pub struct Nemesis {
    /// Whether nothing more will come.
    pub done: bool,
    armed: Option<ArmedTrigger>,
    /// Windows that have begun and were not seen to be healed, by number.
    pub unhealed: BTreeSet<i64>,
    /// The number of windows or steps that have begun.
    pub faults: usize,
}

impl Nemesis {
    /// A nemesis that was not let begin.
    pub fn new() -> Self {
        Self {
            done: true,
            armed: None,
            unhealed: BTreeSet::new(),
            faults: 0,
        }
    }

    /// Lets the nemesis begin with its schedule.
    pub fn strike(&mut self, run: &mut RunContext) {
        self.done = false;
        run.emit(Effect::Strike);
    }

    /// Takes a report, which this token names.
    pub fn report(&mut self, run: &mut RunContext, clients: &mut Clients, token: u64, report: NemesisReport) {
        match report {
            NemesisReport::Record(entry) => {
                self.record(run, clients, entry);
                run.answer_nemesis(token, Some(NemesisAnswer::Done));
            }
            NemesisReport::Arm(window) => {
                self.disarm(run);
                self.armed = Some(ArmedTrigger::new(&window, run.ops_began, run.now, token));
            }
            NemesisReport::Killing(client) => clients.kill(run, &client, token),
            NemesisReport::Restart(client) => clients.restart_killed(run, &client, token),
            NemesisReport::Done => {
                self.done = true;
                run.answer_nemesis(token, Some(NemesisAnswer::Done));
            }
        }
    }

    fn record(&mut self, run: &mut RunContext, clients: &mut Clients, entry: HistoryEntry) {
        let (phase, window) = (PHASE.read_from(&entry.value), WINDOW.read_from(&entry.value));
        let begins = phase == Some("begin");
        let healed = phase == Some("off") && VERIFIED.read_from(&entry.value) == Some(true);
        self.unhealed.extend(window.filter(|_| begins));
        let over = healed || phase == Some("skipped");
        if over {
            self.unhealed.retain(|unhealed| window != Some(*unhealed));
        }
        if healed {
            clients.owe_confirms(run);
        }
        self.faults += usize::from(begins);
        if let Some(detail) = DETAIL.read_from(&entry.value).filter(|_| phase == Some("done")) {
            run.say(format!("  {}: {detail}", entry.f));
        }
        run.record(entry);
        if begins {
            run.emit(Effect::Sync);
        }
        if over && !self.is_window_on() {
            clients.forgive_deaths(run);
        }
    }

    /// Fires the trigger that is armed, if its moment has come, or gives it up.
    pub fn poll(&mut self, run: &mut RunContext, clients: &Clients) {
        let Some(armed) = self.armed.take() else { return };
        let token = armed.token;
        match armed.poll(clients, run.now) {
            TriggerState::Waits(armed) => self.armed = Some(armed),
            TriggerState::Fires(client) => {
                let holder = clients.holder().map(str::to_string);
                let firing = TriggerFiring { client, holder };
                run.answer_nemesis(token, Some(NemesisAnswer::Fired(firing)));
            }
            TriggerState::Expires => run.answer_nemesis(token, None),
        }
    }

    /// The moment at which the trigger that is armed has to be looked at, if nothing happens before.
    pub fn due(&self, clients: &Clients) -> Option<Duration> {
        self.armed.as_ref().map(|armed| armed.due(clients))
    }

    /// Arms nothing any more: a window that still waits for its trigger is given up.
    pub fn disarm(&mut self, run: &mut RunContext) {
        if let Some(armed) = self.armed.take() {
            run.answer_nemesis(armed.token, None);
        }
    }

    /// Whether a window has begun and was not seen to be healed.
    pub fn is_window_on(&self) -> bool {
        !self.unhealed.is_empty()
    }
}
