//! JSON by `serde_json`, into and from structs, as its users call it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::program::{Outcome, Program};

pub const PARSE: Program = Program {
    name: "json_parse",
    sizes: &[("items", 1000), ("times", 200)],
    mirror: |sizes| {
        let (items, times) = (sizes.number("items"), sizes.number("times"));
        Box::pin(async move { parse(items, times).map_err(|error| error.to_string()) })
    },
};

pub const WRITE: Program = Program {
    name: "json_write",
    sizes: &[("items", 1000), ("times", 200)],
    mirror: |sizes| {
        let (items, times) = (sizes.number("items"), sizes.number("times"));
        Box::pin(async move { write(items, times).map_err(|error| error.to_string()) })
    },
};

#[derive(Serialize, Deserialize)]
struct Item {
    id: i64,
    name: String,
    price: f64,
    sold: bool,
    tags: Vec<String>,
}

fn items(n: i64) -> Vec<Item> {
    let item = |i: i64| Item {
        id: i,
        name: format!("bolt, {i} mm"),
        price: i as f64 + 0.25,
        sold: i % 2 == 0,
        tags: vec!["steel".into(), format!("M{}", i % 20)],
    };
    (1..=n).map(item).collect()
}

fn parse(n: i64, times: i64) -> serde_json::Result<Outcome> {
    let text = serde_json::to_string(&items(n))?;
    let (mut ids, mut bytes, mut sold, mut tags, mut price) = (0, 0, 0, 0, 0.0);
    for _ in 0..times {
        let items: Vec<Item> = serde_json::from_str(&text)?;
        for item in &items {
            ids += item.id;
            bytes += item.name.len();
            tags += item.tags.len();
            price += item.price;
            sold += i64::from(item.sold);
        }
    }
    Ok(Outcome::uncounted(json!({
        "length": text.len(), "ids": ids, "bytes": bytes, "sold": sold, "tags": tags, "price": price as i64,
    })))
}

fn write(n: i64, times: i64) -> serde_json::Result<Outcome> {
    let (mut items, mut bytes) = (items(n), 0);
    for i in 1..=times {
        items[0].id = i;
        bytes += serde_json::to_string(&items)?.len();
    }
    Ok(Outcome::uncounted(json!({"bytes": bytes})))
}
