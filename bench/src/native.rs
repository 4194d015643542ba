//! Measures a call between two components in Rust over a local binding, beside a call of the same method through `dyn`,
//! in one run: nanoseconds and instructions, for each of the three forms of a component (section 3.2, figure 3 of
//! *THINK* (Fassino)).

mod adders;
mod clock;
#[allow(missing_docs, reason = "made by a build script")]
mod interfaces;
mod stopwatch;

use std::env;
use std::process::Command;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::execute::execute;
use crate::statistics::Figure;
use crate::valgrind;
use adders::Form;

/// How often each is measured.
const RUNS: usize = 7;

/// Calls whose instructions are counted; and how many more the second time.
const COUNTED: u32 = 100_000;

/// The timeout of a run under Valgrind: much more than it takes.
const LIMIT: Duration = Duration::from_secs(120);

/// How a method is called.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Way {
    /// Through Rust's own `dyn`.
    Dyn,
    /// Over a binding, from a procedure.
    Procedure,
    /// Over a binding, by an `.await`.
    Await,
}

/// A way of calling a form of component.
pub struct Called {
    way: Way,
    form: Form,
}

/// The calls that the guard counts: the general form.
pub const WATCHED: [(&str, Called); 2] = [
    ("awaited", Called { way: Way::Await, form: Form::General }),
    ("called", Called { way: Way::Procedure, form: Form::General }),
];

/// How many calls.
#[derive(Args)]
pub struct Calls {
    /// Of each kind.
    #[arg(long, default_value_t = 5_000_000)]
    calls: u32,
    /// Only those of one kind, for who counts instructions.
    #[arg(long, requires = "form")]
    only: Option<Way>,
    /// And of this form of component.
    #[arg(long)]
    form: Option<Form>,
}

/// The cost of one call, with its part of the loop.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The median.
    pub nanoseconds: f64,
    /// As Valgrind counts them.
    pub instructions: f64,
}

/// The costs of calls of one form.
#[derive(Clone, Copy, Debug)]
pub struct LocalCall {
    /// The form's name, for people.
    pub form: &'static str,
    /// Through Rust's own `dyn`.
    pub by_dyn: Cost,
    /// Over a binding, by the method for calls that are answered at once.
    pub called: Cost,
    /// Over a binding, by an `.await`.
    pub awaited: Cost,
}

impl Calls {
    /// Measures and tells.
    pub fn run(self) -> Result<(), String> {
        if let (Some(way), Some(form)) = (self.only, self.form) {
            return picoseconds(way, form, self.calls).map(drop);
        }
        println!("{:32} {:>20} {:>30} {:>30}", "a call of a component", "dyn", "binding", "binding, .await");
        for row in local_call_rows(self.calls)? {
            let LocalCall { form, by_dyn, called, awaited } = row;
            let shown = |cost: Cost| format!("{:.2} ns {:4.0} instr.", cost.nanoseconds, cost.instructions);
            let compared = |cost: Cost| {
                let (time, count) =
                    (cost.nanoseconds / by_dyn.nanoseconds, cost.instructions / by_dyn.instructions);
                format!("{} {time:.2} x {count:.2} x", shown(cost))
            };
            println!("{form:32} {:>20} {:>30} {:>30}", shown(by_dyn), compared(called), compared(awaited));
        }
        Ok(())
    }
}

/// Picoseconds of a call of a component of the general form.
pub struct Times {
    /// Over a binding, by an `.await`: the usual way.
    pub component: f64,
    /// Through `dyn`.
    pub by_dyn: f64,
}

/// Measures both once.
pub fn measure(calls: u32) -> Result<Times, String> {
    let once = |way| picoseconds(way, Form::General, calls);
    Ok(Times { component: once(Way::Await)?, by_dyn: once(Way::Dyn)? })
}

/// Measures all forms in turns, each with so many calls. Needs Valgrind for the instructions.
pub fn local_call_rows(calls: u32) -> Result<Vec<LocalCall>, String> {
    Form::value_variants().iter().map(|&form| row(form, calls)).collect()
}

fn row(form: Form, calls: u32) -> Result<LocalCall, String> {
    let ways = [Way::Dyn, Way::Procedure, Way::Await];
    let mut times = ways.map(|_| Vec::new());
    for _ in 0..RUNS {
        for (times, way) in times.iter_mut().zip(ways) {
            times.push(picoseconds(way, form, calls)? / 1e3);
        }
    }
    let cost = |way: usize| -> Result<Cost, String> {
        let nanoseconds = Figure::of(&times[way]).expect("there are some").value;
        Ok(Cost { nanoseconds, instructions: Called { way: ways[way], form }.instructions()? })
    };
    Ok(LocalCall { form: form.name(), by_dyn: cost(0)?, called: cost(1)?, awaited: cost(2)? })
}

/// Picoseconds of one call, the mean of so many.
fn picoseconds(way: Way, form: Form, calls: u32) -> Result<f64, String> {
    if way == Way::Dyn {
        return Ok(form.by_dyn(calls));
    }
    stopwatch::picoseconds(form, calls, way == Way::Await)
}

impl Called {
    /// Instructions of one call: the difference of two runs of this program under Valgrind.
    pub fn instructions(&self) -> Result<f64, String> {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        let name = |value: &dyn ToString| value.to_string();
        let spelled =
            |value: Option<clap::builder::PossibleValue>| name(&value.expect("none is hidden").get_name());
        let count = |calls: u32| {
            valgrind::instructions(|valgrind: &mut Command| {
                valgrind.arg(&program).args(["native", "--only", &spelled(self.way.to_possible_value())]);
                valgrind.args(["--form", &spelled(self.form.to_possible_value()), "--calls", &name(&calls)]);
                execute(valgrind, 1, LIMIT).map(drop)
            })
        };
        let (few, many) = (count(COUNTED)?, count(COUNTED * 11)?);
        Ok(many.saturating_sub(few) as f64 / f64::from(COUNTED * 10))
    }
}
