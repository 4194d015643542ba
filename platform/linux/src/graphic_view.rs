//! GraphicView: all clients draw into the same picture, each on the layer that it has set, 0 at first. `Clear` empties
//! that layer. What is seen, and saved at the program's end, is what the last `DrawLayers` brought together, or
//! everything if there was none.

use std::cell::RefCell;
use std::rc::Rc;

use drystone_runtime::native::{Context, Service, Value, Values};

use crate::canvas::{BACKGROUND, Canvas};
use crate::interfaces::GraphicView;

/// A client that draws.
pub(crate) struct Painter {
    canvas: Rc<RefCell<Canvas>>,
    level: i64,
}

impl Painter {
    pub(crate) fn new(canvas: Rc<RefCell<Canvas>>) -> Painter {
        Painter { canvas, level: 0 }
    }
}

impl Service for Painter {
    type Messages = GraphicView;

    fn receive(&mut self, cx: &mut Context<'_, GraphicView>, message: GraphicView, values: Values<'_>) {
        let mut canvas = self.canvas.borrow_mut();
        let (level, v) = (self.level, |index| values.integer(index));
        match message {
            GraphicView::Clear => canvas.clear(level),
            GraphicView::GetSize => {
                let (width, height) = canvas.size();
                let size = [width as i64, height as i64, BACKGROUND];
                cx.send(GraphicView::Size, size.map(Value::Integer));
            }
            GraphicView::Pixel => canvas.fill(level, v(0), v(1), 1, 1, v(2)),
            GraphicView::Font => canvas.character(level, v(0), v(1), values.byte(2), v(3)),
            GraphicView::Fill => canvas.fill(level, v(0), v(1), v(2), v(3), v(4)),
            GraphicView::SetLayer => self.level = v(0),
            GraphicView::DrawLayers => canvas.draw_layers(),
            GraphicView::Size => {}
        }
    }
}
