//! What may have happened to a register so far, and what the accesses in flight can make of that.

use crate::models::register::operation::RegisterOp;
use std::collections::HashSet;
use std::rc::Rc;

/// What an access does, by numbers of values.
pub type NumberedAccess = RegisterOp<u32>;

impl NumberedAccess {
    /// The value that there is after it; of a compare-and-set that failed the one that is not there.
    pub(super) fn value(self) -> u32 {
        match self {
            Self::Write(to) | Self::Cas(_, to) | Self::Read(to) | Self::Mismatch(to) => to,
        }
    }
}

/// The most accesses with an end that may be in flight together.
const MOST: usize = u128::BITS as usize;

/// A write or a compare-and-set in flight.
#[derive(Debug, Clone, Copy)]
struct PendingWrite {
    end: usize,
    bit: u128,
    access: NumberedAccess,
}

/// Accesses of unknown outcome that do the same.
#[derive(Debug, Clone, Copy)]
struct AccessGroup {
    access: NumberedAccess,
    invoked: usize,
}

/// An access that ends.
#[derive(Debug, Clone, Copy)]
pub struct EndedOperation {
    pub bit: u128,
    /// The access, if it writes; else `None`.
    pub access: Option<NumberedAccess>,
    /// Whether what it writes may be found when it has ended.
    pub found_later: bool,
}

impl EndedOperation {
    /// Whether a configuration needs no more before it ends.
    pub fn is_over(&self, one: &Configuration) -> bool {
        let done = one.done & self.bit != 0;
        done && (!self.found_later || one.used & self.bit != 0)
    }
}

/// The accesses in flight, each with a bit.
#[derive(Debug)]
pub struct InFlight {
    /// For each value whether what writes it and is of unknown outcome is used up.
    limited: Vec<bool>,
    /// Of so many that do the same none is missed.
    enough: usize,
    taken: u128,
    /// The writes and compare-and-sets, by their ends.
    pending: Vec<PendingWrite>,
    writes: u128,
    /// For each value the reads that want it, and the writes that write it.
    reads_of: Vec<u128>,
    writes_of: Vec<u128>,
    mismatches: Vec<(u128, u32)>,
    kinds: Vec<AccessGroup>,
    /// The values that can be written any number of times.
    endless: Vec<u32>,
}

impl InFlight {
    /// None; for each value of the register whether what writes it and is of unknown outcome is used up, as long as
    /// there are not `enough` of it.
    pub fn new(limited: Vec<bool>, enough: usize) -> Self {
        let values = limited.len();
        Self {
            limited,
            enough,
            taken: 0,
            pending: Vec::new(),
            writes: 0,
            reads_of: vec![0; values],
            writes_of: vec![0; values],
            mismatches: Vec::new(),
            kinds: Vec::new(),
            endless: Vec::new(),
        }
    }

    /// Adds one that ends there; its bit, or `None` if too many are in flight.
    pub fn add(&mut self, access: NumberedAccess, end: usize) -> Option<u128> {
        if self.taken.count_ones() as usize == MOST {
            return None;
        }
        let bit = 1 << self.taken.trailing_ones();
        self.taken |= bit;
        match access {
            NumberedAccess::Read(value) => self.reads_of[value as usize] |= bit,
            NumberedAccess::Mismatch(value) => self.mismatches.push((bit, value)),
            NumberedAccess::Write(value) => {
                self.writes_of[value as usize] |= bit;
                self.writes |= bit;
            }
            NumberedAccess::Cas(..) => {}
        }
        if access.written().is_some() {
            let at = self.pending.partition_point(|pending| pending.end < end);
            self.pending.insert(at, PendingWrite { end, bit, access });
        }
        Some(bit)
    }

    /// Adds one of unknown outcome.
    pub fn add_unknown(&mut self, access: NumberedAccess) {
        let known = self.kinds.iter().position(|kind| kind.access == access);
        let at = known.unwrap_or(self.kinds.len());
        self.kinds
            .extend(known.is_none().then_some(AccessGroup { access, invoked: 0 }));
        self.kinds[at].invoked += 1;
        let value = access.value();
        let endless = matches!(access, NumberedAccess::Write(_)) && !self.limits(&self.kinds[at]);
        if endless && !self.endless.contains(&value) {
            self.endless.push(value);
        }
    }

    /// Removes an access that was done, by its bit.
    pub fn remove(&mut self, access: NumberedAccess, bit: u128) {
        self.taken &= !bit;
        self.writes &= !bit;
        self.pending.retain(|pending| pending.bit != bit);
        self.mismatches.retain(|(other, _)| *other != bit);
        if let NumberedAccess::Read(value) | NumberedAccess::Write(value) = access {
            self.reads_of[value as usize] &= !bit;
            self.writes_of[value as usize] &= !bit;
        }
    }

    /// Does in a configuration what costs it nothing: where every value in question can be written any number of times,
    /// the register may go through all of them and come back.
    pub fn relax(&self, one: &mut Configuration) {
        let Some(&any) = self.endless.first() else { return };
        let endless = |value: u32| self.endless.contains(&value);
        let all_done = endless(one.value);
        if all_done {
            one.value = any;
            one.done |= self.writes;
            let reads = self.endless.iter().map(|&value| self.reads_of[value as usize]);
            one.done |= reads.fold(0, |all, reads| all | reads);
            let other = |from: u32| self.endless.iter().any(|&value| value != from);
            for &(bit, from) in &self.mismatches {
                one.done |= if other(from) { bit } else { 0 };
            }
        }
        for pending in self.pending.iter().filter(|pending| endless(pending.access.value())) {
            one.used &= !pending.bit;
            match pending.access {
                NumberedAccess::Cas(from, _) if all_done && endless(from) => one.done |= pending.bit,
                _ => {}
            }
        }
    }

    /// Whether the register has a value, or may at once have it.
    fn is_at(&self, one: &Configuration, value: u32) -> bool {
        let endless = |value| self.endless.contains(&value);
        one.value == value || endless(one.value) && endless(value)
    }

    /// What may be done next, if something comes to its value before the access ends.
    pub fn moves(&self, one: &Configuration, ended: EndedOperation) -> Vec<Configuration> {
        let mut moves = Vec::new();
        let mut tried: Vec<NumberedAccess> = Vec::new();
        for pending in &self.pending {
            // A write of the value that there is makes a difference only to others that it may have overwritten.
            let idle = one.value == pending.access.value() && self.writes & !one.done == 0;
            if one.used & pending.bit != 0 || idle {
                continue;
            }
            let must = one.done & pending.bit == 0;
            let possible = match pending.access {
                NumberedAccess::Cas(from, _) => self.is_at(one, from) && !self.sooner(one, pending),
                _ => !tried.contains(&pending.access),
            };
            if !possible {
                continue;
            }
            tried.push(pending.access);
            let sets = must && matches!(pending.access, NumberedAccess::Cas(..));
            if sets || self.needed(one, pending.access, ended) {
                moves.push(self.written(one.clone(), pending.access, pending.bit));
            }
        }
        for (kind, of) in (0..).zip(&self.kinds) {
            let possible = match of.access {
                NumberedAccess::Cas(from, _) => self.is_at(one, from),
                access => access.value() != one.value || self.writes & !one.done != 0,
            };
            let limited = self.limits(of);
            // What can be written any number of times is not worth anything that is used up.
            let idle = tried.contains(&of.access) || limited && self.endless.contains(&of.access.value());
            if possible && self.is_left(one, kind, of) && !idle && self.needed(one, of.access, ended) {
                let next = if limited { one.spending(kind) } else { one.clone() };
                moves.push(self.written(next, of.access, 0));
            }
        }
        moves
    }

    /// Whether the same compare-and-set is in flight, too, ends sooner, and must be done or not likewise.
    fn sooner(&self, one: &Configuration, pending: &PendingWrite) -> bool {
        let must = |pending: &PendingWrite| one.done & pending.bit == 0;
        let sooner = self.pending.iter().take_while(|other| other.end < pending.end);
        sooner
            .filter(|other| other.access == pending.access && one.used & other.bit == 0)
            .any(|other| must(other) == must(pending))
    }

    /// Whether something that is not done comes to the value that an access leaves.
    fn needed(&self, one: &Configuration, access: NumberedAccess, ended: EndedOperation) -> bool {
        let to = access.value();
        let finds = |access: NumberedAccess| matches!(access, NumberedAccess::Cas(from, _) if from == to);
        let unknown = |(kind, of): (u32, &AccessGroup)| finds(of.access) && self.is_left(one, kind, of);
        self.reads_of[to as usize] & !one.done != 0
            || ended.access == Some(access)
            || self
                .mismatches
                .iter()
                .any(|&(bit, from)| from != to && one.done & bit == 0)
            || self
                .pending
                .iter()
                .any(|pending| finds(pending.access) && one.used & pending.bit == 0)
            || (0..).zip(&self.kinds).any(unknown)
    }

    /// The configuration after something was written.
    fn written(&self, mut one: Configuration, access: NumberedAccess, bit: u128) -> Configuration {
        one.value = access.value();
        one.done |= bit | self.reads_of[one.value as usize] | self.writes_of[one.value as usize];
        if matches!(access, NumberedAccess::Write(_)) {
            one.done |= self.writes;
        }
        for &(bit, from) in &self.mismatches {
            if from != one.value {
                one.done |= bit;
            }
        }
        if !self.unlimited(access) {
            one.used |= bit;
        }
        self.relax(&mut one);
        one
    }

    /// Whether something can be done any number of times: what is used of it is not missed.
    pub fn unlimited(&self, access: NumberedAccess) -> bool {
        let free = |kind: &AccessGroup| kind.access == access && !self.limits(kind);
        self.endless.contains(&access.value()) || self.kinds.iter().any(free)
    }

    /// Whether what is of a kind is used up.
    fn limits(&self, kind: &AccessGroup) -> bool {
        self.limited[kind.access.value() as usize] && kind.invoked < self.enough
    }

    /// Whether some of a kind is left to be done.
    fn is_left(&self, one: &Configuration, kind: u32, of: &AccessGroup) -> bool {
        !self.limits(of) || (one.spent(kind) as usize) < of.invoked
    }
}

/// One of the ways in which what has happened to a register may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The register's value.
    pub value: u32,
    /// Operations in flight of which an order needs nothing more.
    pub done: u128,
    /// Writes in flight that cannot be done any more.
    pub used: u128,
    /// How many of each kind of operation of unknown outcome are used up, by kind; none are zero.
    spent: Rc<[(u32, u32)]>,
}

impl Configuration {
    /// The one at the beginning.
    pub fn new(value: u32) -> Self {
        Self {
            value,
            done: 0,
            used: 0,
            spent: Rc::default(),
        }
    }

    /// How many of a kind are used up.
    pub fn spent(&self, kind: u32) -> u32 {
        let found = self.spent.binary_search_by_key(&kind, |&(kind, _)| kind);
        found.map_or(0, |at| self.spent[at].1)
    }

    /// The same with one more of a kind used up.
    pub fn spending(&self, kind: u32) -> Self {
        let mut spent = self.spent.to_vec();
        match spent.binary_search_by_key(&kind, |&(kind, _)| kind) {
            Ok(at) => spent[at].1 += 1,
            Err(at) => spent.insert(at, (kind, 1)),
        }
        Self {
            spent: spent.into(),
            ..self.clone()
        }
    }

    /// Whether this one can do whatever the other can.
    fn replaces(&self, other: &Self) -> bool {
        self.value == other.value
            && self.used & !other.used == 0
            && other.done & !self.done == 0
            && self.spent.iter().all(|&(kind, count)| count <= other.spent(kind))
    }

    /// What it has used up, and what it has not done.
    fn cost(&self) -> (u32, u32) {
        let spent: u32 = self.spent.iter().map(|&(_, count)| count).sum();
        (spent + self.used.count_ones(), self.done.count_zeros())
    }
}

/// Drops what another one replaces; `size` is how many there were when that was last done. Few are held against each
/// other each time, many only when they have become twice as many.
pub fn prune(all: &mut Vec<Configuration>, size: &mut usize) {
    const FEW: usize = 48;
    if all.len() < 2 {
        return;
    }
    let mut seen: HashSet<Configuration> = HashSet::with_capacity(all.len());
    all.retain(|one| seen.insert(one.clone()));
    if all.len() > FEW && all.len() < 2 * *size {
        return;
    }
    all.sort_by_cached_key(Configuration::cost);
    let mut kept: Vec<Configuration> = Vec::new();
    for one in all.drain(..) {
        if !kept.iter().any(|other| other.replaces(&one)) {
            kept.push(one);
        }
    }
    *size = kept.len();
    *all = kept;
}
