//! GraphicView: all clients draw into the same picture, each on the layer that it has set (0 at first). `Clear` empties
//! that layer. The picture that is seen, and saved at the program's end, is what the last `DrawLayers` combined, or all
//! layers if there was none.

use alloc::rc::Rc;
use core::cell::RefCell;

use super::canvas::{BACKGROUND, Canvas};
use crate::interfaces::graphic_view::{GraphicView, Size};

/// A client of the picture.
#[derive(Debug)]
pub struct Painter {
    canvas: Rc<RefCell<Canvas>>,
    level: i64,
}

impl Painter {
    /// A client of this picture.
    pub fn new(canvas: Rc<RefCell<Canvas>>) -> Painter {
        Painter { canvas, level: 0 }
    }
}

impl GraphicView for Painter {
    fn clear(&mut self) {
        self.canvas.borrow_mut().clear(self.level);
    }

    fn get_size(&mut self) -> Size {
        let (width, height) = self.canvas.borrow().size();
        Size { width: width as i64, height: height as i64, bgColor: BACKGROUND }
    }

    fn pixel(&mut self, x: i64, y: i64, color: i64) {
        self.fill(x, y, 1, 1, color);
    }

    fn font(&mut self, x: i64, y: i64, char: u8, color: i64) {
        self.canvas.borrow_mut().character(self.level, x, y, char, color);
    }

    fn fill(&mut self, x: i64, y: i64, w: i64, h: i64, color: i64) {
        self.canvas.borrow_mut().fill(self.level, x, y, w, h, color);
    }

    fn set_layer(&mut self, level: i64) {
        self.level = level;
    }

    fn draw_layers(&mut self) {
        self.canvas.borrow_mut().draw_layers();
    }
}
