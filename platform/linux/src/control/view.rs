//! A running program as JSON, for `drystone inspect` and other programs.
//!
//! # Soundness
//!
//! As for [`control`](super).

use drystone_kortex::composed::{Monitor, Monitors};
use drystone_runtime::inspect::{BindingView, Component, Connection, Next, Snapshot, inspect};
use drystone_runtime::layout::Worker;
use serde_json::{Value, json};

/// At most `most` components, and all bindings.
pub(super) fn program(worker: *mut Worker, most: usize, monitors: &Monitors) -> Value {
    // SAFETY: see the head of this file.
    let Snapshot { components, more, bindings } = unsafe { inspect(worker, most) };
    json!({
        "components": components.iter().map(component).collect::<Vec<_>>(),
        "more": more,
        "bindings": bindings.iter().map(binding).collect::<Vec<_>>(),
        "monitors": monitors.now().iter().map(monitor).collect::<Vec<_>>(),
    })
}

fn component(component: &Component) -> Value {
    json!({
        "path": component.path,
        "holder": component.holder,
        "variable": component.variable,
        "template": component.template,
        "place": component.place,
        "ended": component.ended,
        "offers": component.offers.iter().map(|(interface, connections)| json!({
            "interface": interface,
            "connections": connections,
        })).collect::<Vec<_>>(),
        "requires": component.requires.iter().map(connection).collect::<Vec<_>>(),
        "processes": component.processes.iter().map(|process| json!({
            "runs": process.what,
            "waits": process.waits_for.trim_start_matches(", which waits "),
            "whom": process.whom,
            "at": process.at.trim_start_matches(" at "),
        })).collect::<Vec<_>>(),
    })
}

fn connection(connection: &Connection) -> Value {
    json!({
        "interface": connection.interface,
        "slot": connection.slot,
        "to": connection.to,
        "by": connection.by.trim_start_matches(" BY "),
        "next": next(&connection.next),
        "inward": connection.is_inward,
        "open": connection.is_open,
        "lost": connection.lost,
    })
}

fn next(next: &Next) -> Value {
    match next {
        Next::Nothing => Value::Null,
        Next::Offered(path) => json!({"offered": path}),
        Next::Required(path) => json!({"required": path}),
    }
}

fn binding(binding: &BindingView) -> Value {
    json!({
        "name": binding.name,
        "interface": binding.interface,
        "export": binding.is_export,
        "component": binding.component,
        "communications": communications(binding.communications),
        "sent": messages(binding.sent),
        "received": messages(binding.received),
        "why": binding.why,
    })
}

fn communications([begun, open, lost]: [u64; 3]) -> Value {
    json!({ "begun": begun, "open": open, "lost": lost })
}

fn messages((messages, bytes): (u64, u64)) -> Value {
    json!({ "messages": messages, "bytes": bytes })
}

fn monitor(monitor: &Monitor) -> Value {
    let times = monitor.times.iter().enumerate().filter(|(_, count)| **count > 0);
    json!({
        "name": monitor.name,
        "interface": monitor.interface,
        "communications": communications([monitor.begun, monitor.open, monitor.lost]),
        "messages": monitor.messages.iter().map(|(name, count)| json!({
            "name": name,
            "count": count,
        })).collect::<Vec<_>>(),
        "answers": times.map(|(power, count)| json!({
            "less_than_nanoseconds": 1u64 << power,
            "count": count,
        })).collect::<Vec<_>>(),
    })
}
