//! Mandelbrot: a task for each tile of the plane, which streams the tile's values back.

use kanal::{AsyncReceiver, AsyncSender};
use serde_json::json;

use super::channel;
use crate::program::{Outcome, Program, expect};

pub const PROGRAM: Program = Program {
    name: "Mandelbrot",
    // Tasks in a row, rows of tasks, iterations.
    sizes: &[("columns", 10), ("rows", 10), ("k", 5000)],
    mirror: |sizes| Box::pin(run(sizes.count("columns"), sizes.count("rows"), sizes.number("k"))),
};

const WIDTH: usize = 8;
const HEIGHT: usize = 4;
const LEFT: f64 = -2.0;
const BOTTOM: f64 = -1.0;
const STEP: f64 = 0.05;
const LIMIT: f64 = 2.0;

type Values = [[f64; HEIGHT]; WIDTH];

struct Tile {
    column: usize,
    row: usize,
}

/// The values of a tile after k steps.
fn compute(tile: &Tile, k: i64) -> Values {
    let left: [f64; WIDTH] = std::array::from_fn(|x| LEFT + STEP * (tile.column * WIDTH + x) as f64);
    let bottom: [f64; HEIGHT] = std::array::from_fn(|y| BOTTOM + STEP * (tile.row * HEIGHT + y) as f64);
    let (mut re, mut im, mut value) = (Values::default(), Values::default(), Values::default());
    for _ in 0..k {
        for x in 0..WIDTH {
            for y in 0..HEIGHT {
                if value[x][y] <= LIMIT {
                    let (a, b) = (re[x][y], im[x][y]);
                    re[x][y] = a * a - b * b + left[x];
                    im[x][y] = 2.0 * a * b + bottom[y];
                    value[x][y] = (re[x][y] * re[x][y] + im[x][y] * im[x][y]).sqrt();
                }
            }
        }
    }
    value
}

/// Begins a task, which computes the tile that it is told.
fn task(k: i64) -> (AsyncSender<Tile>, AsyncReceiver<f64>) {
    let ((order, orders), (values, answer)) = (channel(), channel());
    tokio::spawn(async move {
        let tile: Tile = orders.recv().await.ok()?;
        let value = compute(&tile, k);
        for y in 0..HEIGHT {
            for column in &value {
                values.send(column[y]).await.ok()?;
            }
        }
        Some(())
    });
    (order, answer)
}

async fn run(columns: usize, rows: usize, k: i64) -> Result<Outcome, String> {
    let mut tasks = Vec::with_capacity(columns * rows);
    for row in 0..rows {
        for column in 0..columns {
            let (order, values) = task(k);
            order.send(Tile { column, row }).await.map_err(|error| error.to_string())?;
            tasks.push(values);
        }
    }
    let mut is_inside = vec![vec![false; columns * WIDTH]; rows * HEIGHT];
    let mut count = 0;
    for (i, values) in tasks.iter().enumerate() {
        let (column, row) = (i % columns, i / columns);
        for line in &mut is_inside[row * HEIGHT..][..HEIGHT] {
            for point in &mut line[column * WIDTH..][..WIDTH] {
                *point = values.recv().await.map_err(|error| error.to_string())? <= LIMIT;
                count += i64::from(*point);
            }
        }
        if values.recv().await.is_ok() {
            return Err("a tile has too many values".to_string());
        }
    }
    if (columns, rows, k) == (10, 10, 5000) {
        expect("points inside", count, 609)?;
    }
    // Compute, the values and their end.
    let messages = (tasks.len() * (WIDTH * HEIGHT + 2)) as i64;
    Ok(Outcome { messages, result: json!({"inside": count}) })
}
