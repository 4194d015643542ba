//! A call from one component in Rust to another over a local binding, beside a call of the same method through Rust's own
//! `dyn`, in one run.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use clap::Args;
use drystone_compiler::TimeSlices;
use drystone_kortex::{Addition, Offer};
use drystone_language::check::check_beside_crates;
use drystone_language::source::SourceFile;
use drystone_linux::Options;
use drystone_runtime::native::{Activity, Caller, Component, Design, Kind, Part, Ports, Serving, Waiter};

use adder::{Adder, Sum};

#[allow(missing_docs, reason = "made by a build script")]
mod interfaces {
    include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
}

use interfaces::{adder, stopwatch, stopwatches};

const DECLARATIONS: &str = include_str!("../native.dry");

const PROGRAM: &str = "
COMPONENT Native REQUIRES Adder, Stopwatches;
VARIABLE s: ANY(Stopwatch | Adder); time: INTEGER;
BEGIN
  Stopwatches!New(CALLS); Stopwatches?Stopwatch(s);
  CONNECT(Adder(s), Adder);
  s!Get; s?Time(time); WRITE(time);
  DELETE(s)
END Native;
";

/// How many calls.
#[derive(Args)]
pub struct Calls {
    /// Of each kind.
    #[arg(long, default_value_t = 20_000_000)]
    calls: u32,
    /// Only those of one kind, for who counts instructions: `dyn` or `component`.
    #[arg(long)]
    only: Option<String>,
}

/// Picoseconds of a call.
pub struct Times {
    /// Over a binding.
    pub component: f64,
    /// Through `dyn`.
    pub by_dyn: f64,
}

impl Calls {
    /// Measures and tells.
    pub fn run(self) -> Result<(), String> {
        match self.only.as_deref() {
            Some("dyn") => drop(by_dyn(self.calls)),
            Some(_) => drop(by_component(self.calls)?),
            None => {
                let Times { component, by_dyn } = measure(self.calls)?;
                println!(
                    "local native call {:.3} ns, Rust dyn call {:.3} ns: {:.2} x",
                    component / 1e3,
                    by_dyn / 1e3,
                    component / by_dyn
                );
            }
        }
        Ok(())
    }
}

/// The best of some runs of each, by turns.
pub fn measure(calls: u32) -> Result<Times, String> {
    let mut best = Times { component: f64::MAX, by_dyn: f64::MAX };
    for _ in 0..5 {
        best.component = best.component.min(by_component(calls)?);
        best.by_dyn = best.by_dyn.min(by_dyn(calls));
    }
    Ok(best)
}

struct Count {
    added: Rc<Cell<i64>>,
}

impl Adder for Count {
    #[inline(never)]
    fn add(&mut self, x: i64) -> Sum {
        self.added.set(self.added.get() + x);
        Sum { x: self.added.get() }
    }
}

fn by_dyn(calls: u32) -> f64 {
    let mut adder: Box<dyn Adder> = black_box(Box::new(Count { added: Rc::default() }));
    let start = Instant::now();
    for i in 0..i64::from(calls) {
        black_box(adder.add(i).x);
    }
    picoseconds(start, calls)
}

fn picoseconds(start: Instant, calls: u32) -> f64 {
    start.elapsed().as_nanos() as f64 * 1000.0 / f64::from(calls)
}

fn by_component(calls: u32) -> Result<f64, String> {
    static HERE: Addition = Addition {
        offers: &[
            Offer {
                declaration: &adder::DECLARATION,
                begin: |_| {
                    let added = Rc::<Cell<i64>>::default();
                    Ok(Box::new(move || adder::serve(Count { added: added.clone() })))
                },
            },
            Offer {
                declaration: &stopwatches::DECLARATION,
                begin: |program| {
                    let design = Design {
                        offers: &[&stopwatch::DECLARATION],
                        requires: &[(&adder::DECLARATION).into()],
                        is_active: true,
                    };
                    let kind = Kind::of(program, "Stopwatch", design)?;
                    Ok(Box::new(move || stopwatches::serve(Shop { kind })))
                },
            },
        ],
        contexts: &[],
        factories: &[],
    };
    static ALL: &[&Addition] = &[&HERE];
    let files = [PROGRAM.replace("CALLS", &calls.to_string()), DECLARATIONS.into()]
        .map(|text| SourceFile { path: "native.dry".into(), text });
    let program = check_beside_crates(&files, None).map_err(|errors| format!("{errors:?}"))?;
    let compiled = drystone_compiler::compile(&program, &files, TimeSlices::Kept);
    let options = Options { cores: 1, additions: ALL, ..Options::default() };
    let (_, output) = drystone_linux::run_quietly(compiled, &options)?;
    let text = String::from_utf8_lossy(&output).into_owned();
    text.trim().parse::<f64>().map_err(|_| format!("no time was told, but: {text}"))
}

struct Shop {
    kind: &'static Kind,
}

impl stopwatches::Stopwatches for Shop {
    fn new(&mut self, calls: i64) -> stopwatches::Stopwatch {
        let watch = Watch { calls, time: Rc::default(), asks: Rc::default() };
        stopwatches::Stopwatch { s: Part::new(self.kind, watch) }
    }
}

/// Makes calls, and takes the time.
#[derive(Clone)]
struct Watch {
    calls: i64,
    time: Rc<Cell<Option<i64>>>,
    asks: Rc<RefCell<Vec<Waiter>>>,
}

impl Component for Watch {
    fn serve(&mut self, _: usize) -> Serving {
        stopwatch::serve(self.clone())
    }

    fn begin(&mut self, ports: Ports) -> Activity {
        let (me, mut adder) = (self.clone(), adder::client(&ports, 0));
        Box::pin(async move {
            let start = Instant::now();
            for i in 0..me.calls {
                let Ok(sum) = adder.add(i).await else { return };
                black_box(sum.x);
            }
            me.time.set(Some(picoseconds(start, me.calls as u32) as i64));
            for waiter in me.asks.take() {
                ports.wake(waiter);
            }
        })
    }
}

impl stopwatch::StopwatchLater for Watch {
    fn get(&mut self, caller: &Caller) -> Poll<stopwatch::Time> {
        match self.time.get() {
            Some(picoseconds) => Poll::Ready(stopwatch::Time { picoseconds }),
            None => {
                self.asks.borrow_mut().push(caller.waiter());
                Poll::Pending
            }
        }
    }
}
