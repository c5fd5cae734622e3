//! Counts the bananas of the pictures with another algorithm than the example.

use crate::process::example;
use std::io::Cursor;
use std::path::PathBuf;

#[path = "../../examples/banana_picture/picture.rs"]
mod picture;

/// A file that is deleted on drop.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("adk-{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the path is text")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// Counts the shapes of a picture by Euler's formula, from the corners in its squares of four
/// pixels. The formula returns the number of shapes minus the number of holes, and a banana has no
/// hole. The example instead follows each shape.
fn shapes(file: &[u8]) -> i64 {
    let mut reader = png::Decoder::new(Cursor::new(file))
        .read_info()
        .expect("it is a PNG");
    let mut data = vec![0; reader.output_buffer_size().expect("it fits")];
    let info = reader.next_frame(&mut data).expect("it is whole");
    assert_eq!(
        (info.color_type, info.bit_depth),
        (png::ColorType::Rgb, png::BitDepth::Eight)
    );
    let (width, height) = (info.width as usize, info.height as usize);
    let yellow = |x: usize, y: usize| {
        // The picture gets a frame of one pixel.
        let inside = (1..=width).contains(&x) && (1..=height).contains(&y);
        inside && {
            let at = ((y - 1) * width + x - 1) * 3;
            data[at] > data[at + 2]
        }
    };
    let mut sum = 0;
    for y in 0..=height {
        for x in 0..=width {
            let square = [
                yellow(x, y),
                yellow(x + 1, y),
                yellow(x, y + 1),
                yellow(x + 1, y + 1),
            ];
            sum += match square.iter().filter(|one| **one).count() {
                1 => 1,
                3 => -1,
                2 if square[0] == square[3] => 2,
                _ => 0,
            };
        }
    }
    sum / 4
}

#[tokio::test]
async fn the_saved_picture_shows_the_requested_number() {
    for wanted in ["1", "5", "9"] {
        let file = Temporary::new(&format!("{wanted}.png"));
        let ran = example("banana_picture", &[wanted, "--save", file.path()])
            .run()
            .await
            .good();
        let bytes = std::fs::read(&file.0).expect("it is saved");
        assert_eq!(shapes(&bytes).to_string(), wanted, "{}", ran.out);
        assert!(
            ran.out.contains(&format!(
                "--- result ---\n{wanted} of {wanted} bananas, after "
            )),
            "{}",
            ran.out
        );
        assert!(
            ran.out.ends_with(&format!("saved as {}\n", file.path())),
            "{}",
            ran.out
        );
        assert_eq!(ran.err, "");
        // Each round saves one version of the picture, and the last version ends the loop.
        let saved: Vec<_> = ran
            .out
            .lines()
            .filter(|line| line.contains("saves bananas.png"))
            .collect();
        for (round, line) in saved.iter().enumerate() {
            assert_eq!(
                *line,
                format!(
                    "[painter, round {}] saves bananas.png, version {round}",
                    round + 1
                )
            );
        }
        assert!(
            ran.out
                .contains(&format!("[checker, round {}] ends the loop", saved.len())),
            "{}",
            ran.out
        );
    }
}

#[test]
fn every_picture_is_counted_right() {
    let full = (0..16).map(|seed| (9, seed));
    for (bananas, seed) in full.chain((1..9).map(|bananas| (bananas, 0))) {
        let file = picture::draw(bananas, seed).expect("it can be drawn");
        let counted = picture::count(&file).expect("the file is readable");
        assert_eq!(
            (counted, shapes(&file)),
            (bananas, i64::from(bananas)),
            "seed {seed}"
        );
    }
}

#[tokio::test]
async fn the_number_comes_from_words_or_standard_input_and_is_5_without_any() {
    for (args, input, wanted) in [
        (&[][..], "", 5),
        (&["-"], "4\n", 4),
        (&["3", "bananas"], "", 3),
        (&[], "draw 2 of them\n", 2),
    ] {
        let ran = example("banana_picture", args)
            .input(input)
            .run()
            .await
            .good();
        assert!(
            ran.out.contains(&format!("\n{wanted} of {wanted} bananas")),
            "{}",
            ran.out
        );
    }
}

#[tokio::test]
async fn numbers_that_cannot_be_drawn_are_refused() {
    for input in [
        "0",
        "10",
        "4000000000",
        "99999999999999999999",
        "3.5",
        "many",
        "five bananas",
    ] {
        let ran = example("banana_picture", &[input]).run().await;
        let ran = ran.bad(&[
            &format!("error: `{input}` is no number"),
            "help: write one from 1 to 9",
        ]);
        assert_eq!(ran.out, "");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_an_error() {
    let folder = std::env::temp_dir()
        .join("adk-no-such-folder")
        .join("b.png");
    let path = folder.to_str().expect("the path is text");
    let ran = example("banana_picture", &["2", "--save", path])
        .run()
        .await;
    ran.bad(&[&format!("error: cannot write {path}"), "--save FILE"]);
}

#[tokio::test]
async fn an_unused_model_is_reported() {
    let ran = example("banana_picture", &["2", "--model", "gpt-4o-mini"])
        .run()
        .await
        .good();
    assert!(ran.err.contains("--model changes nothing"), "{}", ran.err);
}
