//! A simulated queue.

use crate::Value;
use crate::generate::clients::{Clients, Completion, Simulated};
use crate::generate::{DrawnValues, Options};
use fastrand::Rng;

/// Of so many deliveries of a queue that delivers at least once one leaves its item in the queue.
const AGAIN: usize = 11;

/// What a queue promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// First in, first out.
    Fifo,
    /// No order, and each item comes out once.
    None,
    /// No order; an item may come out again, and one drain at the end takes out all.
    Drained,
}

/// The queue, empty at first.
#[derive(Debug)]
pub struct Queue {
    order: Order,
    items: Vec<u64>,
    values: DrawnValues,
}

/// An operation on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// This is put in.
    Enqueue(u64),
    /// Something is taken out: of an unordered queue what stands at this place, counted around.
    Dequeue(usize),
    /// All is taken out.
    Drain,
}

impl Queue {
    /// An empty one.
    pub fn new(order: Order, options: &Options) -> Self {
        Self {
            order,
            items: Vec::new(),
            values: DrawnValues::new(options.values),
        }
    }
}

impl Simulated for Queue {
    type Op = Request;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> Request {
        match (rng.bool(), self.order) {
            (true, Order::Fifo) => Request::Dequeue(0),
            (true, _) => Request::Dequeue(rng.usize(..)),
            (false, _) => Request::Enqueue(self.values.draw(rng)),
        }
    }

    fn request(op: &Request) -> (&'static str, Value) {
        match *op {
            Request::Enqueue(item) => ("enqueue", Value::from(item)),
            Request::Dequeue(_) => ("dequeue", Value::Nil),
            Request::Drain => ("drain", Value::Nil),
        }
    }

    fn apply(&mut self, _: usize, op: &Request) -> Option<Completion> {
        Some(match *op {
            Request::Enqueue(item) => {
                self.items.push(item);
                Completion::Ok(Value::from(item))
            }
            Request::Dequeue(_) if self.items.is_empty() => Completion::Fail("empty"),
            Request::Dequeue(place) => {
                let (at, again) = (place % self.items.len(), place % AGAIN == 0);
                let item = match self.order {
                    Order::Drained if again => self.items[at],
                    _ => self.items.remove(at),
                };
                Completion::Ok(Value::from(item))
            }
            Request::Drain => Completion::Ok(std::mem::take(&mut self.items).into_iter().map(Value::from).collect()),
        })
    }

    fn plant_by(clients: &mut Clients<Self>, client: usize, _: bool) -> bool {
        let object = &mut clients.object;
        let (one, other) = (object.values.unique(), object.values.unique());
        // The items that are put in, and those that come out.
        let (into, out) = match object.order {
            Order::Fifo => (vec![one, other], vec![other, one]),
            Order::None => (vec![one], vec![one, one]),
            Order::Drained => (vec![], vec![one]),
        };
        for item in into {
            clients.at_once(client, &Request::Enqueue(item), &Completion::Ok(Value::from(item)));
        }
        for item in out {
            clients.at_once(client, &Request::Dequeue(0), &Completion::Ok(Value::from(item)));
        }
        true
    }

    fn close(clients: &mut Clients<Self>) {
        if clients.object.order == Order::Drained {
            clients.try_at_once(0, &Request::Drain);
        }
    }
}
