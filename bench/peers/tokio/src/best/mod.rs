//! What is quickest with tokio: locks and direct calls instead of services, and many elements moved at once. The
//! results are those of the mirrors, the messages are not.

pub mod city;
pub mod eratosthenes;
pub mod library;
pub mod news;
pub mod producer_consumer;

use crate::program::Work;

/// The quickest way to do a program's work, if that is another than its mirror's.
pub fn of(program: &str) -> Option<Work> {
    Some(match program {
        "City" => |sizes| Box::pin(city::run(sizes.count("n"), sizes.number("k"))),
        "Eratosthenes" => |sizes| Box::pin(eratosthenes::run(sizes.number("n"))),
        "Library" => |sizes| Box::pin(library::run(sizes.count("n"), sizes.count("m"), sizes.count("b"))),
        "News" => |sizes| Box::pin(news::run(sizes.count("n"), sizes.count("m"), sizes.count("k"))),
        "ProducerConsumer" => |sizes| {
            Box::pin(producer_consumer::run(
                sizes.count("n"),
                sizes.count("m"),
                sizes.number("k"),
                sizes.count("c"),
            ))
        },
        _ => return None,
    })
}
