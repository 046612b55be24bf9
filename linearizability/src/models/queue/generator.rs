//! A simulated queue.

use crate::generate::{Completion, DrawnValues, GeneratedClients, Options, SimulatedObject};
use crate::value::Value;
use fastrand::Rng;

/// Of so many deliveries of a queue that delivers at least once one leaves its item in the queue.
const AGAIN: usize = 11;

/// The order and the number of deliveries that a queue promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueOrder {
    /// First in, first out.
    Fifo,
    /// No order, and each item comes out once.
    None,
    /// No order; an item may come out again, and one drain at the end takes out all.
    Drained,
}

/// The queue, empty at first.
#[derive(Debug)]
pub struct QueueObject {
    order: QueueOrder,
    items: Vec<u64>,
    values: DrawnValues,
}

/// An operation on the queue, as a client invokes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueCall {
    /// This is put in.
    Enqueue(u64),
    /// Something is taken out: of an unordered queue what stands at this place, counted around.
    Dequeue(usize),
    /// All is taken out.
    Drain,
}

impl QueueObject {
    /// An empty one.
    pub fn new(order: QueueOrder, options: &Options) -> Self {
        Self {
            order,
            items: Vec::new(),
            values: DrawnValues::new(options.values),
        }
    }
}

impl SimulatedObject for QueueObject {
    type Op = QueueCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> QueueCall {
        match (rng.bool(), self.order) {
            (true, QueueOrder::Fifo) => QueueCall::Dequeue(0),
            (true, _) => QueueCall::Dequeue(rng.usize(..)),
            (false, _) => QueueCall::Enqueue(self.values.draw(rng)),
        }
    }

    fn request(op: &QueueCall) -> (&'static str, Value) {
        match *op {
            QueueCall::Enqueue(item) => ("enqueue", Value::from(item)),
            QueueCall::Dequeue(_) => ("dequeue", Value::Nil),
            QueueCall::Drain => ("drain", Value::Nil),
        }
    }

    fn apply(&mut self, _: usize, op: &QueueCall) -> Option<Completion> {
        Some(match *op {
            QueueCall::Enqueue(item) => {
                self.items.push(item);
                Completion::Ok(Value::from(item))
            }
            QueueCall::Dequeue(_) if self.items.is_empty() => Completion::Fail("empty"),
            QueueCall::Dequeue(place) => {
                let (at, again) = (place % self.items.len(), place % AGAIN == 0);
                let item = match self.order {
                    QueueOrder::Drained if again => self.items[at],
                    _ => self.items.remove(at),
                };
                Completion::Ok(Value::from(item))
            }
            QueueCall::Drain => Completion::Ok(std::mem::take(&mut self.items).into_iter().map(Value::from).collect()),
        })
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, _: bool) -> bool {
        let object = &mut clients.object;
        let (one, other) = (object.values.unique(), object.values.unique());
        // The items that are put in, and those that come out.
        let (into, out) = match object.order {
            QueueOrder::Fifo => (vec![one, other], vec![other, one]),
            QueueOrder::None => (vec![one], vec![one, one]),
            QueueOrder::Drained => (vec![], vec![one]),
        };
        for item in into {
            clients.at_once(client, &QueueCall::Enqueue(item), &Completion::Ok(Value::from(item)));
        }
        for item in out {
            clients.at_once(client, &QueueCall::Dequeue(0), &Completion::Ok(Value::from(item)));
        }
        true
    }

    fn close(clients: &mut GeneratedClients<Self>) {
        if clients.object.order == QueueOrder::Drained {
            clients.try_at_once(0, &QueueCall::Drain);
        }
    }
}
