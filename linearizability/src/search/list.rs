//! The events of a history as a doubly linked list, from which operations are lifted and into which they are put back.

/// From when to when an operation was in flight, as [`Op`](crate::Op) has it. What needs no more of an operation is
/// compiled once for all models.
#[derive(Debug, Clone, Copy)]
pub struct FlightSpan {
    pub invoke: usize,
    pub complete: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListEntry {
    /// An operation is invoked.
    Call(usize),
    /// An operation is completed.
    Return(usize),
    /// There are no more events.
    End,
}

/// The list. Node 0 is both its head and its end.
#[derive(Debug)]
pub struct List {
    entries: Vec<ListEntry>,
    next: Vec<usize>,
    previous: Vec<usize>,
    /// The nodes of each operation: of its call and of its return.
    nodes: Vec<(usize, usize)>,
}

impl List {
    /// A list of those of the operations that have a completion.
    pub fn new(ops: &[FlightSpan]) -> Self {
        let mut nodes = vec![(0, 0); ops.len()];
        let mut events: Vec<(usize, ListEntry)> = Vec::new();
        for (number, op) in ops.iter().enumerate() {
            if let Some(complete) = op.complete {
                events.extend([
                    (op.invoke, ListEntry::Call(number)),
                    (complete, ListEntry::Return(number)),
                ]);
            }
        }
        events.sort_unstable_by_key(|&(position, _)| position);
        let mut entries = vec![ListEntry::End];
        for (node, (_, entry)) in (1..).zip(events) {
            match entry {
                ListEntry::Call(op) => nodes[op].0 = node,
                ListEntry::Return(op) => nodes[op].1 = node,
                ListEntry::End => {}
            }
            entries.push(entry);
        }
        let size = entries.len();
        Self {
            entries,
            next: (1..=size).map(|node| node % size).collect(),
            previous: (0..size).map(|node| (node + size - 1) % size).collect(),
            nodes,
        }
    }

    /// The node before the first.
    pub fn head(&self) -> usize {
        0
    }

    pub fn after(&self, node: usize) -> usize {
        self.next[node]
    }

    /// The node after the call of an operation that is in the list.
    pub fn after_call(&self, op: usize) -> usize {
        self.next[self.nodes[op].0]
    }

    /// What stands at a node.
    pub fn entry(&self, node: usize) -> ListEntry {
        self.entries[node]
    }

    /// Takes an operation out.
    pub fn lift(&mut self, op: usize) {
        let (call, end) = self.nodes[op];
        self.unlink(call);
        self.unlink(end);
    }

    /// Puts an operation back, the last one that was taken out first.
    pub fn unlift(&mut self, op: usize) {
        let (call, end) = self.nodes[op];
        self.link(end);
        self.link(call);
    }

    fn unlink(&mut self, node: usize) {
        let (previous, next) = (self.previous[node], self.next[node]);
        self.next[previous] = next;
        self.previous[next] = previous;
    }

    fn link(&mut self, node: usize) {
        let (previous, next) = (self.previous[node], self.next[node]);
        self.next[previous] = node;
        self.previous[next] = node;
    }
}

/// The number of each operation among those with a completion, by that, or among the others, by invocation; and the
/// others.
pub fn numbered(ops: &[FlightSpan]) -> (Vec<usize>, Vec<usize>) {
    let mut numbers = vec![0; ops.len()];
    let (mut done, mut opens): (Vec<_>, Vec<_>) = (0..ops.len()).partition(|&op| ops[op].complete.is_some());
    done.sort_unstable_by_key(|&op| ops[op].complete);
    opens.sort_unstable_by_key(|&op| ops[op].invoke);
    for order in [&done, &opens] {
        order.iter().enumerate().for_each(|(number, &op)| numbers[op] = number);
    }
    (numbers, opens)
}
