//! Paths of a model as scripts of networks.

use super::actor::{ProtocolActor, node};
use super::bounds::BoundedProtocol;
use super::digest::DigestKey;
use super::judging::ProtocolModel;
use stateright::actor::{Actor, ActorModelAction, Command, Id, Out};
use std::borrow::Cow;
use std::collections::HashMap;
use zooquake_network::script::NodeStep;
use zooquake_network::tracing::TraceItem;
use zooquake_workloads::consensus::protocol::Node;

/// An action of the model of a protocol.
pub type ProtocolAction<P> = ActorModelAction<
    <ProtocolActor<P> as Actor>::Msg,
    <ProtocolActor<P> as Actor>::Timer,
    <ProtocolActor<P> as Actor>::Random,
>;

/// The actor's state, as Stateright has it.
type StateOf<P> = <ProtocolActor<P> as Actor>::State;

/// What was sent on one link, in order.
type LinkMessages<P> = Vec<LinkMessage<<ProtocolActor<P> as Actor>::Msg>>;

/// A message that was sent, and whether it has arrived or was lost.
struct LinkMessage<M> {
    message: M,
    gone: bool,
}

/// Follows a path from the initial state, and keeps what was sent on each link.
struct PathFollower<'a, P: BoundedProtocol> {
    model: &'a ProtocolModel<P>,
    states: Vec<StateOf<P>>,
    disks: Vec<Option<<ProtocolActor<P> as Actor>::Storage>>,
    links: HashMap<(Id, Id), LinkMessages<P>>,
    items: Vec<TraceItem>,
}

/// What happens on a path, as a network has it: the requests first, as a node is asked when it first runs. Of equal
/// messages on a link that have not arrived the one that was sent first does.
pub fn items<P: BoundedProtocol>(
    model: &ProtocolModel<P>,
    actions: impl IntoIterator<Item = ProtocolAction<P>>,
) -> Vec<TraceItem> {
    let mut follower = PathFollower::begin(model);
    actions.into_iter().for_each(|action| follower.follow(action));
    follower.items
}

impl<'a, P: BoundedProtocol> PathFollower<'a, P> {
    fn begin(model: &'a ProtocolModel<P>) -> Self {
        let mut follower = Self {
            model,
            states: Vec::new(),
            disks: vec![None; model.actors.len()],
            links: HashMap::new(),
            items: Vec::new(),
        };
        for (index, actor) in model.actors.iter().enumerate() {
            let mut out = Out::new();
            let state = actor.on_start(Id::from(index), &None, &mut out);
            follower.states.push(state);
            follower.keep(Id::from(index), out);
            if let Some(value) = actor.request {
                let node = index as Node;
                follower.items.push(TraceItem::Step(NodeStep::Request { node, value }));
            }
        }
        follower
    }

    fn follow(&mut self, action: ProtocolAction<P>) {
        match action {
            ActorModelAction::Deliver { src, dst, msg } => {
                let nth = self.take_out((src, dst), &msg);
                let (from, to) = (node(src), node(dst));
                self.items.push(TraceItem::Step(NodeStep::Deliver { from, to, nth }));
                self.step(dst, |actor, state, out| actor.on_msg(dst, state, src, msg, out));
            }
            ActorModelAction::Drop(envelope) => {
                self.take_out((envelope.src, envelope.dst), &envelope.msg);
            }
            ActorModelAction::Timeout(id, timer) => {
                let (node, name) = (node(id), format!("{:?}", timer.value()));
                self.items.push(TraceItem::Step(NodeStep::Timer { node, timer: name }));
                self.step(id, |actor, state, out| actor.on_timeout(id, state, &timer, out));
            }
            ActorModelAction::Crash(id) => self.items.push(TraceItem::Kill(node(id))),
            ActorModelAction::Recover(id) => {
                self.items.push(TraceItem::Start(node(id)));
                let index = usize::from(id);
                let mut out = Out::new();
                self.states[index] = self.model.actors[index].on_start(id, &self.disks[index], &mut out);
                self.keep(id, out);
            }
            ActorModelAction::SelectRandom { .. } => {}
        }
    }

    fn step(
        &mut self,
        id: Id,
        step: impl FnOnce(&ProtocolActor<P>, &mut Cow<'_, StateOf<P>>, &mut Out<ProtocolActor<P>>),
    ) {
        let index = usize::from(id);
        let mut out = Out::new();
        let mut state = Cow::Borrowed(&self.states[index]);
        step(&self.model.actors[index], &mut state, &mut out);
        if let Cow::Owned(state) = state {
            self.states[index] = state;
        }
        self.keep(id, out);
    }

    fn keep(&mut self, from: Id, out: Out<ProtocolActor<P>>) {
        for command in out {
            match command {
                Command::Send(to, message) => {
                    let sent = LinkMessage { message, gone: false };
                    self.links.entry((from, to)).or_default().push(sent);
                }
                Command::Save(disk) => self.disks[usize::from(from)] = Some(disk),
                _ => {}
            }
        }
    }

    /// The number on its link, from 1, of the first such message that is not gone, or else of the first one.
    fn take_out(&mut self, link: (Id, Id), message: &DigestKey<P::Message>) -> u32 {
        let sent = self.links.entry(link).or_default();
        let equal = |sent: &LinkMessage<_>| sent.message == *message;
        let waiting = sent.iter().position(|sent| equal(sent) && !sent.gone);
        let at = waiting
            .or_else(|| sent.iter().position(equal))
            .expect("a path delivers what was sent");
        sent[at].gone = true;
        at as u32 + 1
    }
}
