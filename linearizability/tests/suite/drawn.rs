//! Random operations on registers, and random histories; `zooquake-checkers` tries its own way to verdicts by the same
//! ones.

use fastrand::Rng;
use zooquake_linearizability::Op;
use zooquake_linearizability::models::register::RegisterOp;

/// A read, a write or a compare-and-set of few values.
pub fn access(rng: &mut Rng, values: u8) -> RegisterOp<u8> {
    let (a, b) = (rng.u8(0..values), rng.u8(0..values));
    match rng.u8(0..7) {
        0..3 => RegisterOp::Read(a),
        3..5 => RegisterOp::Write(a),
        _ => RegisterOp::Cas(a, b),
    }
}

/// Up to seven operations with random intervals: some of unknown outcome, some that need not have happened.
pub fn history<I>(rng: &mut Rng, draw: &impl Fn(&mut Rng) -> I) -> Vec<Op<I>> {
    let size = rng.usize(1..=6);
    let mut positions: Vec<usize> = (0..2 * size).collect();
    // Mostly in order, so that operations follow each other as well as overlap.
    for _ in 0..rng.usize(0..2 * size) {
        let at = rng.usize(1..positions.len());
        positions.swap(at - 1, at);
    }
    let mut ops: Vec<Op<I>> = positions
        .chunks(2)
        .map(|pair| {
            let (invoke, complete) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            let input = draw(rng);
            match rng.u8(0..8) {
                0 => Op::unknown(input, invoke),
                1 => Op {
                    required: false,
                    ..Op::done(input, invoke, complete)
                },
                _ => Op::done(input, invoke, complete),
            }
        })
        .collect();
    rng.shuffle(&mut ops);
    ops
}

/// Operations all of which are answered or of unknown outcome, as histories have them.
pub fn recorded<I>(rng: &mut Rng, draw: &impl Fn(&mut Rng) -> I) -> Vec<Op<I>> {
    let mut ops = history(rng, draw);
    for op in ops.iter_mut().filter(|op| !op.required) {
        op.complete = None;
    }
    ops
}
