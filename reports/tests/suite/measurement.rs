//! Charts and pages of measurements.

use std::path::PathBuf;
use zooquake_reports::measurement::{Measurement, Point, Series, write_all};

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("zooquake-measurement-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn series(name: &str, factor: f64) -> Series {
    let point = |size: u32| Point {
        size,
        values: vec![f64::from(size) * factor, 1.0, 2.5, 130.4],
    };
    Series {
        name: name.into(),
        points: [5, 20, 50].map(point).to_vec(),
    }
}

fn herd() -> Measurement {
    Measurement {
        name: "herd".into(),
        title: "What <one> change costs".into(),
        axis: "candidates".into(),
        quantities: ["watch events", "reads", "writes", "milliseconds"]
            .map(String::from)
            .to_vec(),
        series: vec![series("election/ticket", 1.0), series("election/<b>", 0.1)],
        ..Measurement::default()
    }
}

fn pixels(path: &std::path::Path, color: [u8; 3]) -> usize {
    let decoder = png::Decoder::new(std::fs::File::open(path).unwrap());
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (1200, 700));
    pixels.chunks(3).filter(|pixel| **pixel == color).count()
}

#[test]
fn a_chart_has_a_line_for_each_thing_and_a_page_its_numbers() {
    let folder = folder("herd");
    let files = write_all(&herd(), &folder).unwrap();
    assert_eq!(files, [folder.join("herd.png"), folder.join("herd.html")]);
    assert!(pixels(&files[0], [0, 114, 178]) > 300, "the first line");
    assert!(pixels(&files[0], [0, 158, 115]) > 300, "the second line");
    let page = std::fs::read_to_string(&files[1]).unwrap();
    assert!(page.contains("src=\"herd.png\""));
    assert!(page.contains("<tr><td>election/ticket</td><td>50</td><td>50</td><td>1</td><td>2.5</td><td>130</td></tr>"));
    assert!(page.contains("What &lt;one&gt; change costs") && !page.contains("<b>"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_measurement_of_nothing_is_still_a_chart() {
    let folder = folder("nothing");
    let empty = Measurement {
        series: vec![Series::default()],
        ..herd()
    };
    let files = write_all(&empty, &folder).unwrap();
    assert!(pixels(&files[0], [27, 31, 36]) > 30, "its title and axes");
    std::fs::remove_dir_all(&folder).unwrap();
}
