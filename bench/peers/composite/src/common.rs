//! What all engines here are asked to do.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// What goes wrong is told, and ends it.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// What is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Copy,
    Instructions,
}

/// A program that is ready: runs so many rounds, and says what comes out.
pub type Run = Box<dyn FnMut(u64) -> Outcome<u64>>;

/// Makes a program ready.
pub type Ready = fn(Work) -> Outcome<Run>;

/// Does what the command line says, with an engine by its name.
pub fn main(engine: impl Fn(&str) -> Option<Ready>) {
    if let Err(error) = run(engine) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn run(engine: impl Fn(&str) -> Option<Ready>) -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, work, n] = arguments.as_slice() else {
        return Err("say `peers ENGINE copy|instructions|ready N`".into());
    };
    let ready = engine(name).ok_or_else(|| format!("there is no {name}"))?;
    let n: u64 = n.parse()?;
    let (ns, result) = match work.as_str() {
        "copy" => timed(ready(Work::Copy)?, n)?,
        "instructions" => timed(ready(Work::Instructions)?, n)?,
        "ready" => {
            let times = |n| {
                (0..n).try_for_each(|_| {
                    drop(black_box(ready(Work::Copy)?));
                    Ok::<_, Box<dyn Error>>(())
                })
            };
            times(n / 10 + 1)?;
            let begin = Instant::now();
            times(n)?;
            (begin.elapsed().as_nanos() as f64 / n as f64, ready(Work::Copy)?(7)?)
        }
        _ => return Err(format!("there is no work {work}").into()),
    };
    println!(r#"{{"ns": {ns}, "result": {result}}}"#);
    Ok(())
}

fn timed(mut run: Run, n: u64) -> Outcome<(f64, u64)> {
    run(n / 10 + 1)?;
    let begin = Instant::now();
    let result = run(n)?;
    Ok((begin.elapsed().as_nanos() as f64 / n as f64, result))
}
