//! A replica's log.

use super::super::protocol::Node;

/// The most entries of a log.
pub const LOG_LENGTH: usize = 16;

/// An entry of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PartitionEntry {
    /// The message.
    pub value: u32,
    /// The epoch of the leader that appended it.
    pub epoch: u16,
    /// The producer that it comes from (KIP-98's producer id).
    pub producer: Node,
}

/// Where the entries of an epoch end in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EpochEnd {
    /// The epoch, 0 if the log has none.
    pub epoch: u16,
    /// The offset after its last entry.
    pub offset: u8,
}

/// A log: entries by offset from 0, their epochs in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PartitionLog {
    entries: [PartitionEntry; LOG_LENGTH],
    length: u8,
}

impl PartitionLog {
    /// The log end offset: number of entries.
    pub fn end(&self) -> u8 {
        self.length
    }

    /// The entries in order.
    pub fn entries(&self) -> &[PartitionEntry] {
        &self.entries[..self.length.into()]
    }

    /// The entry at an offset, if there is one.
    pub fn get(&self, offset: u8) -> Option<PartitionEntry> {
        self.entries().get(usize::from(offset)).copied()
    }

    /// The offset of a message.
    pub fn find(&self, value: u32) -> Option<u8> {
        (0..)
            .zip(self.entries())
            .find(|(_, entry)| entry.value == value)
            .map(|(offset, _)| offset)
    }

    /// Appends an entry, if there is room for it.
    pub fn append(&mut self, entry: PartitionEntry) -> bool {
        let room = self.entries.get_mut(usize::from(self.length));
        let fits = room.is_some();
        if let Some(room) = room {
            *room = entry;
            self.length += 1;
        }
        fits
    }

    /// Cuts the log off before an offset; whether an entry is gone.
    pub fn truncate(&mut self, end: u8) -> bool {
        let gone = end < self.length;
        while self.length > end {
            self.length -= 1;
            self.entries[usize::from(self.length)] = PartitionEntry::default();
        }
        gone
    }

    /// Where the log ends, and its last epoch.
    pub fn last(&self) -> EpochEnd {
        self.epoch_end(u16::MAX)
    }

    /// Where the last epoch in the log ends that is not later than the given one.
    pub fn epoch_end(&self, epoch: u16) -> EpochEnd {
        let mut offset = self.length;
        while offset > 0 && self.entries[usize::from(offset) - 1].epoch > epoch {
            offset -= 1;
        }
        let last = self.entries[..offset.into()].last();
        EpochEnd {
            epoch: last.map_or(0, |entry| entry.epoch),
            offset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KIP-279: a follower asks until it finds an epoch that both logs have.
    #[test]
    fn the_end_of_an_epoch_is_where_logs_part() {
        let log = |epochs: &[u16]| {
            let mut log = PartitionLog::default();
            for (value, &epoch) in (1..).zip(epochs) {
                assert!(log.append(PartitionEntry {
                    value,
                    epoch,
                    producer: 0
                }));
            }
            log
        };
        assert_eq!(log(&[1, 1, 3, 3]).epoch_end(2), EpochEnd { epoch: 1, offset: 2 });
        assert_eq!(log(&[1, 1, 3, 3]).epoch_end(3), EpochEnd { epoch: 3, offset: 4 });
        assert_eq!(log(&[2]).epoch_end(1), EpochEnd { epoch: 0, offset: 0 });
        let mut short = log(&[1, 2, 2]);
        assert!(short.truncate(1) && !short.truncate(1));
        assert_eq!(short, log(&[1]));
        assert!(!log(&[1; 16]).append(PartitionEntry::default()));
    }
}
