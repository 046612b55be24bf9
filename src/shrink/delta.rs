//! `ddmin` of Zeller and Hildebrandt: a part of a list that still fails, of which no element can be left out.

use anyhow::Result;

/// Reduces a list that fails to one that does, such that it does not without any one of its elements. `fails` returns
/// whether a part does; the whole does.
///
/// # Errors
/// The first one of `fails`.
pub fn minimize<T: Clone>(all: &[T], mut fails: impl FnMut(&[T]) -> Result<bool>) -> Result<Vec<T>> {
    let mut kept = all.to_vec();
    if kept.is_empty() || fails(&[])? {
        return Ok(Vec::new());
    }
    let mut parts = 2;
    while kept.len() > 1 {
        let size = kept.len().div_ceil(parts);
        let chunks: Vec<Vec<T>> = kept.chunks(size).map(<[T]>::to_vec).collect();
        let without = |left_out: usize| -> Vec<T> {
            let others = chunks.iter().enumerate().filter(|(number, _)| *number != left_out);
            others.flat_map(|(_, chunk)| chunk.clone()).collect()
        };
        let mut smaller = None;
        for number in 0..chunks.len() {
            if fails(&chunks[number])? {
                smaller = Some((chunks[number].clone(), 2));
                break;
            }
            // Of two parts the one is what is left without the other.
            if chunks.len() > 2 && fails(&without(number))? {
                smaller = Some((without(number), (parts - 1).max(2)));
                break;
            }
        }
        match smaller {
            Some((part, next)) => (kept, parts) = (part, next),
            None if parts >= kept.len() => break,
            None => parts = (2 * parts).min(kept.len()),
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::minimize;

    #[test]
    fn what_is_left_fails_and_nothing_of_it_can_be_left_out() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..500 {
            let all: Vec<u32> = (0..rng.u32(0..12)).collect();
            // It fails where it has one of these sets whole.
            let set =
                |rng: &mut fastrand::Rng| -> Vec<u32> { all.iter().copied().filter(|_| rng.u32(0..4) == 0).collect() };
            let sets = [set(&mut rng), set(&mut rng)];
            let fails = |part: &[u32]| sets.iter().any(|set| set.iter().all(|element| part.contains(element)));
            let kept = minimize(&all, |part| Ok(fails(part))).unwrap();
            assert!(fails(&kept), "{all:?} {sets:?} {kept:?}");
            for left_out in &kept {
                let rest: Vec<u32> = kept.iter().copied().filter(|element| element != left_out).collect();
                assert!(!fails(&rest), "{all:?} {sets:?}: {kept:?} without {left_out}");
            }
        }
    }

    #[test]
    fn an_error_ends_it() {
        assert!(minimize(&[1, 2], |_| anyhow::bail!("no")).is_err());
    }
}
