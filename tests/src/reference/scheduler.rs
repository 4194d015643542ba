//! Runs one randomly chosen ready process at a time. So, with probability one, every ready process runs again after
//! finitely many runs of other processes.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use super::identity::{ProcessId, Role};
use super::outcome::{Kind, Outcome};
use super::process::Process;
use super::world::World;

/// Runs a new world to its end.
pub(super) fn run(world: &World) -> Outcome {
    let mut running: HashMap<ProcessId, Pin<Box<dyn Future<Output = ()> + '_>>> = HashMap::new();
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let (started, killed) = {
            let mut state = world.state.borrow_mut();
            (std::mem::take(&mut state.started), std::mem::take(&mut state.killed))
        };
        for id in started {
            let Some(instance) = world.state.borrow().processes.get(&id).map(|record| record.instance) else {
                continue;
            };
            running.insert(id, Box::pin(Process { world, id, instance }.run()));
        }
        for id in killed {
            running.remove(&id);
        }
        if world.state.borrow().ended {
            break;
        }
        let Some(next) = choose(world) else {
            if !wake_next_sleeper(world) {
                report_deadlock(world);
            }
            continue;
        };
        let Some(process) = running.get_mut(&next) else { continue };
        if process.as_mut().poll(&mut context).is_ready() {
            running.remove(&next);
            world.state.borrow_mut().processes.remove(&next);
        }
    }
    drop(running);
    world.state.borrow().outcome.clone()
}

fn choose(world: &World) -> Option<ProcessId> {
    let mut state = world.state.borrow_mut();
    let count = state.ready.len();
    if count == 0 {
        return None;
    }
    let chosen = state.random.below(count);
    Some(state.ready.swap_remove(chosen))
}

/// No process can run: time advances to the moment when the next sleeping process wakes.
fn wake_next_sleeper(world: &World) -> bool {
    let mut state = world.state.borrow_mut();
    let Some(((time, _), process)) = state.sleeping.pop_first() else { return false };
    state.time = time;
    // Whatever else it waits for.
    if state.processes.get_mut(&process).is_some_and(|record| record.waiting.take().is_some()) {
        state.ready.push(process);
    }
    true
}

/// No process can ever run again: the program ends with a deadlock, at the statement of the oldest waiting process that
/// runs program text.
fn report_deadlock(world: &World) {
    let state = world.state.borrow();
    let oldest =
        state.processes.values().find(|record| record.role != Role::Program && record.waiting.is_some());
    let (instance, span) = oldest.map(|record| (record.instance, record.span)).expect("someone waits");
    drop(state);
    world.fail(instance, None, Kind::Deadlock, span);
}
