//! Names, numbers and times for the texts of findings.

/// Names for a text: all of them, of many the first ones and how many more there are.
pub fn few<S: AsRef<str>>(names: &[S]) -> String {
    let first = |count: usize| names[..count].iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len() {
        all @ 0..=20 => first(all),
        all => format!("{} and {} more", first(10), all - 10),
    }
}

/// A number of things: `1 item`, `2 items`, `2 tries`, `2 delays`.
pub fn count(number: usize, thing: &str) -> String {
    let stem = thing
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {thing}s"),
    }
}

/// A text on a number of things; empty where there are none.
pub fn if_any(number: usize, say: impl FnOnce(usize) -> String) -> String {
    if number == 0 { String::new() } else { say(number) }
}

/// Nanoseconds as seconds with three decimals, `12.402 s`; what is below a millisecond is cut off.
pub fn seconds(ns: u64) -> String {
    format!("{}.{:03} s", ns / 1_000_000_000, ns / 1_000_000 % 1000)
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn things_are_counted_in_the_plural_but_one() {
        let told = [(1, "try"), (2, "try"), (0, "more anomaly"), (2, "delay"), (3, "item")]
            .map(|(number, thing)| count(number, thing));
        assert_eq!(told, ["1 try", "2 tries", "0 more anomalies", "2 delays", "3 items"]);
    }
}
