//! City: houses with services of the power plant and of the river; the plant's activity makes energy from water.

use std::sync::Arc;

use kanal::{AsyncReceiver, AsyncSender};
use serde_json::json;
use tokio::sync::{Notify, oneshot};

use super::channel;
use crate::monitor::Monitor;
use crate::program::{Outcome, Program, expect};

pub const PROGRAM: Program = Program {
    name: "City",
    // Houses, times that each asks for electricity and water.
    sizes: &[("n", 1000), ("k", 10)],
    mirror: |sizes| Box::pin(run(sizes.count("n"), sizes.number("k"))),
};

/// A communication in which each request is answered by one unit.
struct Supply {
    request: AsyncSender<()>,
    answer: AsyncReceiver<()>,
}

/// The other end of it.
struct Demand {
    request: AsyncReceiver<()>,
    answer: AsyncSender<()>,
}

fn supply() -> (Supply, Demand) {
    let ((request, requested), (answered, answer)) = (channel(), channel());
    (Supply { request, answer }, Demand { request: requested, answer: answered })
}

/// Begins a service of the river.
fn water() -> Supply {
    let (supply, demand) = supply();
    tokio::spawn(async move {
        while demand.request.recv().await.is_ok() && demand.answer.send(()).await.is_ok() {}
    });
    supply
}

struct PowerPlant {
    available: Notify,
    order: Notify,
    closed: Notify,
    state: Monitor<Energy>,
}

struct Energy {
    customers: usize,
    waiting: i64,
    stored: i64,
    made: i64,
}

impl PowerPlant {
    fn new(customers: usize) -> Arc<PowerPlant> {
        let plant = Arc::new(PowerPlant {
            available: Notify::new(),
            order: Notify::new(),
            closed: Notify::new(),
            state: Monitor::new(Energy { customers, waiting: 0, stored: 0, made: 0 }),
        });
        tokio::spawn(plant.clone().work(water()));
        plant
    }

    /// Makes one unit of energy at a time, as long as there are customers.
    async fn work(self: Arc<Self>, river: Supply) {
        let is_open = |energy: &mut Energy| match energy.customers {
            0 => Some(false),
            _ => (energy.stored < energy.waiting).then_some(true),
        };
        while self.state.wait(&self.order, is_open).await {
            if river.request.send(()).await.is_err() || river.answer.recv().await.is_err() {
                return;
            }
            {
                let mut energy = self.state.lock();
                energy.stored += 1;
                energy.made += 1;
            }
            self.available.notify_one();
        }
    }

    /// Begins a service for a house.
    fn electricity(self: &Arc<Self>) -> Supply {
        let (supply, demand) = supply();
        let plant = self.clone();
        tokio::spawn(async move {
            while demand.request.recv().await.is_ok() {
                plant.state.lock().waiting += 1;
                plant.order.notify_one();
                let take = |energy: &mut Energy| {
                    let is_there = energy.stored > 0;
                    is_there.then(|| {
                        energy.waiting -= 1;
                        energy.stored -= 1;
                    })
                };
                plant.state.wait(&plant.available, take).await;
                if demand.answer.send(()).await.is_err() {
                    break;
                }
            }
            let customers = {
                let mut energy = plant.state.lock();
                energy.customers -= 1;
                energy.customers
            };
            if customers == 0 {
                plant.order.notify_one();
                plant.closed.notify_one();
            }
        });
        supply
    }

    /// Begins the meter's service.
    fn meter(self: &Arc<Self>) -> oneshot::Receiver<i64> {
        let (made, units) = oneshot::channel();
        let plant = self.clone();
        tokio::spawn(async move {
            let all_made = |energy: &mut Energy| (energy.customers == 0).then_some(energy.made);
            made.send(plant.state.wait(&plant.closed, all_made).await)
        });
        units
    }
}

enum Building {
    Construct,
    Destruct,
}

struct House {
    building: AsyncSender<Building>,
    consumed: oneshot::Receiver<Consumed>,
}

#[derive(Default)]
struct Consumed {
    electricity: i64,
    water: i64,
}

impl House {
    fn new(electricity: Supply, water: Supply, k: i64) -> House {
        let (building, orders) = channel();
        let (result, consumed) = oneshot::channel();
        tokio::spawn(async move {
            orders.recv().await.ok();
            let mut consumed = Consumed::default();
            for _ in 0..k {
                electricity.request.send(()).await.ok()?;
                water.request.send(()).await.ok()?;
                electricity.answer.recv().await.ok()?;
                consumed.electricity += 1;
                water.answer.recv().await.ok()?;
                consumed.water += 1;
            }
            orders.recv().await.ok()?;
            result.send(consumed).ok()
        });
        House { building, consumed }
    }
}

async fn run(n: usize, k: i64) -> Result<Outcome, String> {
    let plant = PowerPlant::new(n);
    let houses: Vec<_> = (0..n).map(|_| House::new(plant.electricity(), water(), k)).collect();
    for house in &houses {
        house.building.send(Building::Construct).await.map_err(|error| error.to_string())?;
    }
    for house in &houses {
        house.building.send(Building::Destruct).await.map_err(|error| error.to_string())?;
    }
    let mut all = Consumed::default();
    for house in houses {
        let consumed = house.consumed.await.map_err(|error| error.to_string())?;
        all.electricity += consumed.electricity;
        all.water += consumed.water;
    }
    let made = plant.meter().await.map_err(|error| error.to_string())?;
    let want = n as i64 * k;
    expect("electricity", all.electricity, want)?;
    expect("water", all.water, want)?;
    expect("units made", made, want)?;
    // Requests and answers; construct, destruct and consumed; the meter.
    let messages = 2 * (all.electricity + all.water + made) + 3 * n as i64 + 1;
    let result = json!({"electricity": all.electricity, "water": all.water, "made": made});
    Ok(Outcome { messages, result })
}
