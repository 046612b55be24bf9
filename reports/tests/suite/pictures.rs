//! The PNG pictures.

use crate::common::{Run, results};
use std::collections::HashMap;

/// How many pixels of a picture have each colour, from this row on.
pub fn colours(path: &std::path::Path, row: usize) -> HashMap<[u8; 3], usize> {
    let decoder = png::Decoder::new(std::fs::File::open(path).unwrap());
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).unwrap();
    // A legend of two or three rows makes it higher.
    assert!(info.width == 1200 && [700, 722, 744].contains(&info.height), "{info:?}");
    assert_eq!(info.color_type, png::ColorType::Rgb);
    let mut colours = HashMap::new();
    for pixel in pixels.chunks(3).skip(row * 1200) {
        *colours.entry([pixel[0], pixel[1], pixel[2]]).or_default() += 1;
    }
    colours
}

#[test]
fn pictures_show_what_happened() {
    let folder = results::invalid().write("pictures");
    let has = |name: &str, color: [u8; 3]| {
        let n = colours(&folder.0.join(name), 0).get(&color).copied().unwrap_or(0);
        assert!(n > 30, "{name} has {n} pixels of {color:?}");
    };
    has("timeline.png", [0, 114, 178]); // work
    has("timeline.png", [213, 94, 0]); // the violation
    has("timeline.png", [230, 159, 0]); // a pause
    has("latency.png", [0, 158, 115]); // releases
    has("latency.png", [204, 121, 167]); // a partition
    has("rate.png", [0, 114, 178]); // ok
    has("rate.png", [230, 159, 0]); // fail
    has("rate.png", [27, 31, 36]); // text
}

#[test]
fn the_legend_names_every_fault() {
    let mut run = results::invalid();
    let kinds = zooquake_history::fault::KINDS;
    run.record.plan.faults = kinds.iter().map(|kind| kind.name.to_owned()).collect();
    let folder = run.write("legend");
    for name in ["timeline.png", "latency.png"] {
        let legend = colours(&folder.0.join(name), 700 - 40);
        for kind in kinds {
            let (r, g, b) = kind.colour;
            assert!(legend.contains_key(&[r, g, b]), "{name}: {}", kind.name);
        }
    }
}

#[test]
fn pictures_of_nothing_are_still_pictures() {
    let folder = Run::default().write("blank");
    for name in ["timeline.png", "latency.png", "rate.png"] {
        assert!(
            colours(&folder.0.join(name), 0).len() > 10,
            "{name} has its title and axes"
        );
    }
}
