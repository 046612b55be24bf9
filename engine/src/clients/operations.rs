//! Operations of the recipe: which client is given which, and what their answers mean for the resource and for holds.

use super::Clients;
use super::worker::Worker;
use crate::context::RunContext;
use crate::generator::{Assignment, GeneratorMoment, GeneratorPhase, OperationRequest};
use crate::operation::{Completion, OpKind, PendingOp};
use crate::refusals::{EndedAttempt, RefusalChain};
use std::time::Duration;
use zooquake_history::EventType;
use zooquake_history::operation::grant::{ACCEPTED, MODE, TOKEN, VALUE};
use zooquake_history::plan::{Plan, Resource};

impl Clients {
    /// Asks the client for its next operation, if it has one.
    pub(super) fn assign(&mut self, run: &mut RunContext, number: usize) {
        let phase = match (self.phase, self.has_done_its_own(&run.plan, number)) {
            // It only ends what it has begun.
            (GeneratorPhase::Load, true) => GeneratorPhase::Drain,
            (phase, _) => phase,
        };
        let next = self.generator.next(number, GeneratorMoment { phase, now: run.now });
        self.workers[number].awaits = matches!(next, Assignment::Await(_));
        match next {
            Assignment::Ask(request) if self.withholds(run, number, request.f) => {}
            Assignment::Ask(request) => self.ask(run, number, request),
            Assignment::Wait(time) | Assignment::Await(time) => self.workers[number].due = Some(run.now + time),
            Assignment::Nothing => {}
        }
    }

    /// Asks the client for this operation.
    pub fn ask(&mut self, run: &mut RunContext, number: usize, request: OperationRequest) {
        let kind = OpKind::in_family(&run.plan.workload.family, request.f);
        if kind == OpKind::Acquire {
            self.holds
                .ask(number, MODE.read_from(&request.value).unwrap_or_default());
        }
        let op = PendingOp {
            id: self.request_id(),
            f: request.f,
            kind,
            grant: request.grant,
            work_ms: request.work_ms,
            since: run.now,
            free_at: self.holds.free_time(number),
        };
        self.workers[number].send(run, op, request.value, request.timeout_ms);
        if kind == OpKind::Release {
            // The hold ends here for the history, whatever becomes of the release.
            self.end_hold(run, number);
        }
    }

    pub(super) fn request_id(&mut self) -> u64 {
        self.last_request += 1;
        self.last_request
    }

    /// Whether this operation gives back what the client has still to confirm. It is asked for again when that is done,
    /// and one that could not confirm is asked to work meanwhile.
    fn withholds(&mut self, run: &mut RunContext, number: usize, f: &str) -> bool {
        if OpKind::in_family(&run.plan.workload.family, f) != OpKind::Release {
            return false;
        }
        let Some(until) = self.holds.withhold(run, number) else {
            return false;
        };
        self.workers[number].due = Some(until);
        let work = self.holds.must_work(number).then(|| self.generator.work(number));
        if let Some(work) = work.flatten() {
            self.holds.works(number);
            self.ask(run, number, work);
        }
        true
    }

    /// Looks at every idle client again, if what one may do depends on others.
    pub(super) fn wake_others(&mut self, run: &RunContext) {
        if !self.generator.coordinates() {
            return;
        }
        for worker in self.workers.iter_mut().filter(|worker| worker.is_idle()) {
            worker.due = worker.due.filter(|_| !worker.awaits).or(Some(run.now));
        }
    }

    /// A hold has ended for the history.
    pub(super) fn end_hold(&mut self, run: &RunContext, number: usize) {
        if self.holds.end(number) {
            self.workers[number].due = Some(run.now);
        }
    }

    /// The operation of a client was answered.
    pub(super) fn complete(&mut self, run: &mut RunContext, number: usize, reply: Completion) {
        let Some(op) = self.workers[number].op.take() else {
            return;
        };
        self.completed += 1;
        let answered = reply.is_ok();
        let end = self.use_resource(&run.plan, &op, reply);
        let clients = self.workers.len() as u64;
        let worker = &mut self.workers[number];
        worker.record_completion(run, &op, end.kind, end.value.clone(), end.error.clone());
        if end.kind == EventType::Info {
            worker.logical_process += clients;
        }
        op.measure(&end, run.now, &mut self.answered);
        // A write that the resource refused was one of a client that believes to hold.
        let works = matches!(op.kind, OpKind::Read | OpKind::Write);
        let not_held = works && end.kind == EventType::Fail && !answered;
        if op.kind == OpKind::Acquire && end.is_ok() {
            self.holds.grant(number, &op.grant, self.last_request);
        } else if not_held && self.holds.is_holder_of(number, &op.grant) {
            self.end_hold(run, number);
        }
        let (phase, now) = (self.phase, run.now);
        let pause = self.generator.ended(number, &op, &end, GeneratorMoment { phase, now });
        let attempt = EndedAttempt {
            op: &op,
            mode: self.holds.mode(number),
            now,
            free: self.holds.free_times(),
        };
        let worker = &mut self.workers[number];
        worker.failing = phase == GeneratorPhase::Final && !end.is_ok();
        let last = worker.refusals.take().filter(|_| worker.failing);
        worker.refusals = worker.failing.then(|| RefusalChain::after(last, attempt)).flatten();
        worker.answered = end.is_ok().then_some((op.f, now));
        worker.last = Some(end);
        worker.due = Some(now + pause);
        self.wake_others(run);
    }

    /// What becomes of an operation at the resource, if that is outside of ZooKeeper.
    fn use_resource(&mut self, plan: &Plan, op: &PendingOp, mut end: Completion) -> Completion {
        if plan.workload.resource != Resource::External || !end.is_ok() {
            return end;
        }
        match op.kind {
            OpKind::Read => VALUE.put(&mut end.value, self.resource.read().clone()),
            OpKind::Write => {
                let written = VALUE.read_from(&end.value).cloned().unwrap_or_default();
                // One that nobody promised is none: the resource checks no tokens then.
                let token = TOKEN.read_from(&end.value).filter(|_| plan.workload.fenced);
                let verdict = self.resource.write(token, written);
                ACCEPTED.put(&mut end.value, verdict.is_ok());
                if let Err(refused) = verdict {
                    (end.kind, end.error) = (EventType::Fail, Some(refused));
                }
            }
            OpKind::Acquire | OpKind::Release | OpKind::Meet | OpKind::Single => {}
        }
        end
    }

    /// Whether a client was asked for as many operations as its plan has.
    fn has_done_its_own(&self, plan: &Plan, number: usize) -> bool {
        let planned = plan.clients.get(number).and_then(|client| client.ops);
        planned.is_some_and(|planned| self.workers[number].asked_ops() >= planned)
    }

    /// Whether every client has done what its plan has for it, and waits for nothing.
    pub fn all_have_done_their_own(&self, plan: &Plan) -> bool {
        let rests = |worker: &Worker| {
            self.has_done_its_own(plan, worker.number)
                && worker.is_idle()
                && worker.due.is_none()
                && !self.holds.is_holder(worker.number)
        };
        self.workers.iter().all(rests)
    }

    /// The run counts as recovered: what was sent before counts from now.
    pub fn recover(&mut self) {
        self.restart_free_time();
        self.generator.recovered(&self.answered);
    }

    /// The greatest bound of liveness that an operation which did not finish has, by those that were answered up to
    /// now.
    pub fn bound(&self) -> Duration {
        self.answered.greatest_bound()
    }

    /// Begins the last operations.
    pub fn begin_last_ops(&mut self) {
        for worker in &mut self.workers {
            worker.failing = false;
            worker.refusals = None;
            worker.quiesced = true;
        }
    }

    /// Whether each client has finished its last operation.
    pub fn all_have_finished(&self) -> bool {
        (0..self.workers.len()).all(|number| self.generator.finished(number))
    }
}
