//! Pictures of bananas: drawn to PNG, and counted in the pixels of a PNG.

use adk::Error;
use adk::prelude::Result;
use std::io::Cursor;

const CELL: usize = 64;
const SIDE: usize = 3 * CELL;
const SKY: [u8; 3] = [150, 200, 235];

/// Draws up to nine bananas, each in a random field of its own, at a random angle.
pub fn draw(bananas: u32, seed: u64) -> Result<Vec<u8>> {
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut fields: Vec<usize> = (0..9).collect();
    chance.shuffle(&mut fields);
    let mut pixels: Vec<[u8; 3]> = vec![SKY; SIDE * SIDE];
    for field in fields.into_iter().take(bananas as usize) {
        let (left, top) = (field % 3 * CELL, field / 3 * CELL);
        let (turn, shade) = (chance.f32() * std::f32::consts::TAU, chance.u8(190..=225));
        for y in 0..CELL {
            for x in 0..CELL {
                let (dx, dy) = (x as f32 - CELL as f32 / 2.0, y as f32 - CELL as f32 / 2.0);
                let (u, v) = (
                    dx * turn.cos() + dy * turn.sin(),
                    dy * turn.cos() - dx * turn.sin(),
                );
                if is_banana(u, v) {
                    pixels[(top + y) * SIDE + left + x] = [250, shade, 40];
                }
            }
        }
    }
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, SIDE as u32, SIDE as u32);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().map_err(Error::other)?;
    writer
        .write_image_data(pixels.as_flattened())
        .map_err(Error::other)?;
    writer.finish().map_err(Error::other)?;
    Ok(png)
}

/// Returns whether a point is part of a banana: a thick arc with round ends. Sharp ends would break
/// into separate pixels, which `count` would count.
fn is_banana(u: f32, v: f32) -> bool {
    let (x, y) = (u, v + 14.0);
    let along = x.atan2(y).clamp(-0.9, 0.9);
    let (dx, dy) = (x - 24.0 * along.sin(), y - 24.0 * along.cos());
    dx * dx + dy * dy < 49.0
}

/// Counts connected yellow areas.
pub fn count(file: &[u8]) -> Result<u32> {
    let mut reader = png::Decoder::new(Cursor::new(file))
        .read_info()
        .map_err(Error::other)?;
    let size = reader
        .output_buffer_size()
        .ok_or_else(|| Error::other("the picture is too large"))?;
    let mut data = vec![0; size];
    let info = reader.next_frame(&mut data).map_err(Error::other)?;
    let (width, height) = (info.width as usize, info.height as usize);
    let mut yellow: Vec<bool> = data
        .chunks_exact(3)
        .map(|rgb| rgb[0] > 240 && rgb[2] < 80)
        .collect();
    let mut areas = 0;
    for start in 0..width * height {
        if !yellow[start] {
            continue;
        }
        areas += 1;
        let mut todo = vec![start];
        while let Some(at) = todo.pop() {
            if !std::mem::take(&mut yellow[at]) {
                continue;
            }
            let (x, y) = (at % width, at / width);
            let near = [
                (x > 0, at.wrapping_sub(1)),
                (x + 1 < width, at + 1),
                (y > 0, at.wrapping_sub(width)),
                (y + 1 < height, at + width),
            ];
            todo.extend(near.iter().filter(|(inside, _)| *inside).map(|(_, at)| *at));
        }
    }
    Ok(areas)
}
