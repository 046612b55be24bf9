//! Names, numbers and times for the texts of findings.

/// Names for a text: all of them, of many the first ones and how many more there are.
pub fn few<S: AsRef<str>>(names: &[S]) -> String {
    let first = |count: usize| names[..count].iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len() {
        all @ 0..=20 => first(all),
        all => format!("{} and {} more", first(10), all - 10),
    }
}

/// A number of things: `1 item`, `2 items`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Nanoseconds as seconds with three decimals, `12.402 s`; what is below a millisecond is cut off.
pub fn seconds(ns: u64) -> String {
    format!("{}.{:03} s", ns / 1_000_000_000, ns / 1_000_000 % 1000)
}
