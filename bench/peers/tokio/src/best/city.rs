//! City with a task for each house; the plant makes a unit when it is called, and nobody needs more than counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use serde_json::json;

use crate::program::{Outcome, expect};

#[derive(Default)]
struct River {
    flowed: AtomicI64,
}

impl River {
    fn water(&self) {
        self.flowed.fetch_add(1, Relaxed);
    }
}

#[derive(Default)]
struct PowerPlant {
    river: River,
    made: AtomicI64,
}

impl PowerPlant {
    fn electricity(&self) {
        self.river.water();
        self.made.fetch_add(1, Relaxed);
    }
}

pub async fn run(n: usize, k: i64) -> Result<Outcome, String> {
    let plant = Arc::new(PowerPlant::default());
    let houses: Vec<_> = (0..n)
        .map(|_| {
            let plant = plant.clone();
            tokio::spawn(async move {
                let (mut electricity, mut water) = (0, 0);
                for _ in 0..k {
                    plant.electricity();
                    electricity += 1;
                    plant.river.water();
                    water += 1;
                }
                (electricity, water)
            })
        })
        .collect();
    let (mut electricity, mut water) = (0, 0);
    for house in houses {
        let consumed = house.await.map_err(|error| error.to_string())?;
        electricity += consumed.0;
        water += consumed.1;
    }
    let (made, flowed) = (plant.made.load(Relaxed), plant.river.flowed.load(Relaxed));
    let want = n as i64 * k;
    expect("electricity", electricity, want)?;
    expect("water", water, want)?;
    expect("units made", made, want)?;
    expect("water that flowed", flowed, 2 * want)?;
    Ok(Outcome::uncounted(json!({"electricity": electricity, "water": water, "made": made})))
}
