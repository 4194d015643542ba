//! The component that calls: it is connected to an adder, makes calls, and measures the time.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use drystone_compiler::TimeSlices;
use drystone_kortex::{Addition, Maker, Offer};
use drystone_language::check;
use drystone_language::source::SourceFile;
use drystone_linux::Options;
use drystone_runtime::component::Program;
use drystone_runtime::native::{
    Activity, Caller, Closed, Component, Design, Kind, Part, Ports, Serving, Waiter,
};

use super::adders::Form;
use super::clock::picoseconds_since;
use super::interfaces::{adder, stopwatch, stopwatches};

const DECLARATIONS: &str = include_str!("../../native.dry");

const PROGRAM: &str = "
COMPONENT Native REQUIRES Adder, Stopwatches;
VARIABLE s: ANY(Stopwatch | Adder); time: INTEGER;
BEGIN
  Stopwatches!New(CALLS, AWAITS); Stopwatches?Stopwatch(s);
  CONNECT(Adder(s), Adder);
  s!Get; s?Time(time); WRITE(time);
  DELETE(s)
END Native;
";

/// Picoseconds of a call of an adder of that form.
pub fn picoseconds(form: Form, calls: u32, awaits: bool) -> Result<f64, String> {
    let program =
        PROGRAM.replace("CALLS", &calls.to_string()).replace("AWAITS", if awaits { "TRUE" } else { "FALSE" });
    let files = [program, DECLARATIONS.into()].map(|text| SourceFile { path: "native.dry".into(), text });
    let program = check::check(&files, check::Options::default().beside_crates())
        .map_err(|errors| format!("{errors:?}"))?;
    let compiled = drystone_compiler::compile(&program, &files, TimeSlices::Kept);
    let options = Options { cores: 1, additions: additions(form), ..Options::default() };
    let (_, output) = drystone_linux::run_quietly(compiled, &options)?;
    let text = String::from_utf8_lossy(&output).into_owned();
    text.trim().parse::<f64>().map_err(|_| format!("no time was told, but: {text}"))
}

/// The additions that the program needs.
fn additions(form: Form) -> &'static [&'static Addition] {
    const STOPWATCHES: Offer = Offer { declaration: &stopwatches::DECLARATION, begin: shop };
    macro_rules! with {
        ($form:expr) => {{
            const ADDER: Offer =
                Offer { declaration: &adder::DECLARATION, begin: |_| Ok(Box::new(|| $form.serve())) };
            static ADDITION: Addition = Addition { offers: &[ADDER, STOPWATCHES], ..Addition::NOTHING };
            static ALL: &[&Addition] = &[&ADDITION];
            ALL
        }};
    }
    match form {
        Form::Once => with!(Form::Once),
        Form::Single => with!(Form::Single),
        Form::General => with!(Form::General),
    }
}

fn shop(program: &'static Program) -> Result<Maker, String> {
    let design = Design {
        offers: &[&stopwatch::DECLARATION],
        requires: &[(&adder::DECLARATION).into()],
        is_active: true,
    };
    let kind = Kind::of(program, "Stopwatch", design)?;
    Ok(Box::new(move || stopwatches::serve(Shop { kind })))
}

struct Shop {
    kind: &'static Kind,
}

impl stopwatches::Stopwatches for Shop {
    fn new(&mut self, calls: i64, awaits: bool) -> stopwatches::Stopwatch {
        let watch = Watch { calls, awaits, time: Rc::default(), asks: Rc::default() };
        stopwatches::Stopwatch { s: Part::new(self.kind, watch) }
    }
}

/// Makes calls, and takes the time.
#[derive(Clone)]
struct Watch {
    calls: i64,
    awaits: bool,
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
            let done = match me.awaits {
                true => await_each(&mut adder, me.calls).await,
                false => call_each(&mut adder, me.calls).await,
            };
            if done.is_ok() {
                me.time.set(Some(picoseconds_since(start, me.calls as u32) as i64));
            }
            for waiter in me.asks.take() {
                ports.wake(waiter);
            }
        })
    }
}

async fn await_each(adder: &mut adder::Client, calls: i64) -> Result<(), Closed> {
    for i in 0..calls {
        black_box(adder.add(i).await?.x);
    }
    Ok(())
}

/// As code with many calls is written: in a procedure, as long as they are answered at once.
async fn call_each(adder: &mut adder::Client, calls: i64) -> Result<(), Closed> {
    let mut i = 0;
    loop {
        i = call_at_once(adder, i, calls);
        if i == calls {
            return Ok(());
        }
        black_box(adder.add(i).await?.x);
        i += 1;
    }
}

/// Makes the calls `from` to `to`; returns the first one that wasn't answered at once.
fn call_at_once(adder: &mut adder::Client, from: i64, to: i64) -> i64 {
    for i in from..to {
        match adder.add_now(i) {
            Some(sum) => black_box(sum.x),
            None => return i,
        };
    }
    to
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
