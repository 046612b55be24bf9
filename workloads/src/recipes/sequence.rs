//! Sequence numbers in znode names.

use std::cmp::Ordering;

/// The sequence number at the end of a name, behind `prefix` wherever that stands in it; `None` if there is none.
///
/// ZooKeeper prints it with `%010d`, so a negative one has a minus sign of its own: `lock--000000005`.
pub fn sequence(name: &str, prefix: &str) -> Option<i32> {
    let at = name.rfind(prefix)? + prefix.len();
    name[at..].parse().ok()
}

/// Orders two numbers of which neither is 2^31 or more creations older than the other. After 2147483647 ZooKeeper goes
/// on with -2147483648.
pub fn order(a: i32, b: i32) -> Ordering {
    a.wrapping_sub(b).cmp(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_behind_the_prefix() {
        assert_eq!(sequence("lock-0000000012", "lock-"), Some(12));
        assert_eq!(sequence("_c_0f-lock-0000000012", "lock-"), Some(12));
        assert_eq!(sequence("lock-2147483647", "lock-"), Some(i32::MAX));
        assert_eq!(sequence("lock--2147483648", "lock-"), Some(i32::MIN));
        assert_eq!(sequence("lock--000000005", "lock-"), Some(-5));
        assert_eq!(sequence("start", "lock-"), None);
        assert_eq!(sequence("lock-99999999999", "lock-"), None);
    }

    #[test]
    fn order_survives_the_wrap() {
        assert_eq!(order(3, 3), Ordering::Equal);
        assert_eq!(order(3, 4), Ordering::Less);
        assert_eq!(order(i32::MAX, i32::MIN), Ordering::Less);
        assert_eq!(order(i32::MIN + 1, i32::MAX - 1), Ordering::Greater);
        assert_eq!(order(-1, 0), Ordering::Less);
    }
}
