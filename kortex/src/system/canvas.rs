//! A picture in memory, in layers.
//!
//! Colours are 0RRGGBBH. Layer 0 is opaque and starts as the background; the others are transparent where nothing was
//! drawn. Higher layers hide lower ones.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use font8x8::{BASIC_FONTS, LATIN_FONTS, UnicodeFonts};

/// Colour of an empty picture: white.
pub const BACKGROUND: i64 = 0xFF_FF_FF;

/// A pixel where nothing was drawn.
const TRANSPARENT: u32 = u32::MAX;

/// The picture.
#[derive(Debug)]
pub struct Canvas {
    width: usize,
    height: usize,
    layers: BTreeMap<i64, Vec<u32>>,
    /// The picture since the layers were last combined. Before that, the picture is what is on the layers.
    shown: Option<Vec<u32>>,
}

impl Canvas {
    /// An empty picture.
    pub fn new(width: usize, height: usize) -> Canvas {
        Canvas { width, height, layers: BTreeMap::new(), shown: None }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Empties a layer.
    pub fn clear(&mut self, level: i64) {
        self.layers.remove(&level);
    }

    /// Fills a rectangle, clipped to the picture.
    pub fn fill(&mut self, level: i64, x: i64, y: i64, w: i64, h: i64, color: i64) {
        let span = |from: i64, length: i64, size: usize| {
            let to = from.saturating_add(length).clamp(0, size as i64) as usize;
            from.clamp(0, size as i64) as usize..to
        };
        let (columns, rows) = (span(x, w, self.width), span(y, h, self.height));
        if columns.is_empty() || rows.is_empty() {
            return;
        }
        let (width, height) = (self.width, self.height);
        let nothing = if level == 0 { BACKGROUND as u32 } else { TRANSPARENT };
        let layer = self.layers.entry(level).or_insert_with(|| vec![nothing; width * height]);
        for row in rows {
            layer[row * width..][columns.clone()].fill(color as u32 & 0xFF_FF_FF);
        }
    }

    /// Draws a character of 8 x 8 pixels with its upper left corner at x, y.
    pub fn character(&mut self, level: i64, x: i64, y: i64, character: u8, color: i64) {
        let character = character as char;
        let Some(glyph) = BASIC_FONTS.get(character).or_else(|| LATIN_FONTS.get(character)) else { return };
        for (row, bits) in glyph.iter().enumerate() {
            for column in (0..8).filter(|column| bits >> column & 1 == 1) {
                self.fill(level, x.saturating_add(column), y.saturating_add(row as i64), 1, 1, color);
            }
        }
    }

    /// Combines the layers as they are now.
    pub fn draw_layers(&mut self) {
        self.shown = Some(self.together());
    }

    fn together(&self) -> Vec<u32> {
        let mut picture = vec![BACKGROUND as u32; self.width * self.height];
        for layer in self.layers.values() {
            for (pixel, &above) in picture.iter_mut().zip(layer) {
                if above != TRANSPARENT {
                    *pixel = above;
                }
            }
        }
        picture
    }

    /// The visible pixels, row by row, three bytes each.
    pub fn picture(&self) -> Vec<u8> {
        let picture = self.shown.clone().unwrap_or_else(|| self.together());
        picture.iter().flat_map(|pixel| pixel.to_be_bytes().into_iter().skip(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixel(canvas: &Canvas, x: usize, y: usize) -> u32 {
        let at = (y * canvas.width + x) * 3;
        u32::from_be_bytes([0, canvas.picture()[at], canvas.picture()[at + 1], canvas.picture()[at + 2]])
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let mut canvas = Canvas::new(10, 5);
        canvas.fill(0, -3, -3, 5, 5, 0x112233);
        canvas.fill(0, 9, 4, i64::MAX, i64::MAX, 0x445566);
        canvas.fill(0, i64::MIN, 0, 3, 3, 1);
        assert_eq!(pixel(&canvas, 1, 1), 0x112233);
        assert_eq!(pixel(&canvas, 2, 2), BACKGROUND as u32);
        assert_eq!(pixel(&canvas, 9, 4), 0x445566);
    }

    #[test]
    fn layers_are_seen_when_they_are_drawn() {
        let mut canvas = Canvas::new(4, 4);
        canvas.fill(0, 0, 0, 4, 4, 1);
        canvas.fill(2, 0, 0, 1, 1, 2);
        assert_eq!((pixel(&canvas, 0, 0), pixel(&canvas, 1, 1)), (2, 1));
        canvas.draw_layers();
        canvas.clear(2);
        assert_eq!(pixel(&canvas, 0, 0), 2);
        canvas.draw_layers();
        assert_eq!(pixel(&canvas, 0, 0), 1);
    }

    #[test]
    fn a_character_has_its_shape() {
        let mut canvas = Canvas::new(8, 8);
        canvas.character(0, 0, 0, b'-', 0);
        let black = canvas.picture().chunks(3).filter(|pixel| pixel == &[0, 0, 0]).count();
        assert!((4..=8).contains(&black));
    }
}
