//! The logs of replicas, as these made them public.

/// The values in the log of each replica, by offset.
#[derive(Debug, Clone, Default)]
pub struct ReplicaLogs {
    logs: Vec<Vec<u32>>,
}

/// The most entries of a log that are followed; offsets beyond are passed over.
const ENTRIES: usize = 1 << 16;

impl ReplicaLogs {
    /// A replica stores a value at an offset; what it had there, and after it, is gone.
    pub fn stored(&mut self, node: u8, offset: u32, value: u32) {
        let (node, offset) = (usize::from(node), offset as usize);
        if offset >= ENTRIES {
            return;
        }
        if self.logs.len() <= node {
            self.logs.resize(node + 1, Vec::new());
        }
        let log = &mut self.logs[node];
        log.resize(offset, 0);
        log.push(value);
    }

    /// A replica cuts its log off before an offset.
    pub fn truncated(&mut self, node: u8, offset: u32) {
        if let Some(log) = self.logs.get_mut(usize::from(node)) {
            log.truncate(offset as usize);
        }
    }

    /// Whether the log of a replica holds a value.
    pub fn holds(&self, node: u8, value: u32) -> bool {
        self.logs.get(usize::from(node)).is_some_and(|log| log.contains(&value))
    }
}
