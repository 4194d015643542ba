//! Measures the specialiser on real layered C (*copy elimination* (Volanschi)): a call's time in generic code, after
//! whole-program optimisation, specialised, and written by hand; the instructions that are eliminated; the time of
//! specialising, and how it grows.

mod build;
mod drive;
mod effort;
mod inside;
mod layers;
mod page;
mod reasons;
mod rows;
mod shell;
mod sources;
mod specialiser;
mod targets;
mod tools;
mod workshop;

use crate::places;
use crate::row::Tell;
use drive::{Contender, Driver, Native};
pub use effort::Effort;
pub use inside::Inside;
use layers::Which;
pub use page::{page, sections};
use rows::{Counts, Measured};
pub use specialiser::Residual;
use specialiser::Times;
use targets::{GROWTH, TARGETS, Target};
use workshop::{GENERIC, Workshop};

/// The target for specialising the pair, in milliseconds.
const TIME_OF_PAIR: f64 = 10.0;

/// Measures row after row. A contender that can't be built has no figures, and the reason is reported.
pub fn measure(effort: Effort, tell: Tell) -> Result<(), String> {
    let built = places::peers().join("c");
    shell::make_folder(&built)?;
    let clang = tools::obtain()?;
    let bench = Bench { effort, driver: Driver::build(&built)? };
    for which in Which::ALL {
        let targets = TARGETS.iter().filter(|target| target.layers == which);
        let targets: Vec<_> = targets.filter(|target| effort.is_full || target.is_headline).collect();
        if targets.is_empty() {
            continue;
        }
        match Workshop::open(which, clang, &built) {
            Ok(workshop) => {
                for target in targets {
                    bench.target(&workshop, target, tell)?;
                }
                if which == Which::Rpc {
                    bench.times(&workshop, tell)?;
                }
            }
            Err(why) => {
                eprintln!("{which:?} is left out: {why}");
                for target in targets {
                    tell(Measured::new(target, &[]).row(target))?;
                }
            }
        }
    }
    Ok(())
}

/// What all rows share.
struct Bench {
    effort: Effort,
    driver: Driver,
}

impl Bench {
    /// Measures the rows of one target.
    fn target(&self, workshop: &Workshop, target: &Target, tell: Tell) -> Result<(), String> {
        let mut contenders = workshop.contenders(target, &self.driver);
        let program = workshop.program(target);
        let generic = contenders.iter().find(|contender| contender.name == GENERIC);
        let library = generic.map(|generic| generic.library.clone());
        let native = program.as_ref().ok().zip(library.as_deref()).map(|(program, library)| Native {
            program,
            function: target.residual(),
            library,
        });
        match program
            .as_ref()
            .map_err(String::clone)
            .and_then(|program| workshop.residual(target, program, 1))
        {
            Ok((c, _)) => contenders.extend(workshop.residuals(target, &c)),
            Err(why) => eprintln!("{} is not specialised: {why}", target.row),
        }
        let measure = |native| self.driver.measure(target.row, self.effort.extent, &contenders, native);
        // Faulty code may crash the process: then the other contenders are measured without it.
        let outcomes = measure(native.as_ref()).or_else(|why| {
            eprintln!("{} is measured without machine code: {why}", target.row);
            measure(None)
        });
        let outcomes = outcomes.unwrap_or_else(|why| {
            eprintln!("{} is not measured: {why}", target.row);
            Vec::new()
        });
        let measured = Measured::new(target, &outcomes);
        tell(measured.row(target))?;
        if self.effort.is_full {
            if target.has_vectors && tools::has_avx2() {
                tell(measured.avx2_row(target))?;
            }
            tell(measured.cranelift_row(target))?;
            tell(rows::instructions_row(target, &self.counts(target, &contenders)))?;
        }
        Ok(())
    }

    fn counts(&self, target: &Target, contenders: &[Contender]) -> Counts {
        let count = |name| {
            let who = contenders.iter().find(|contender| contender.name == name)?;
            let counted = self.driver.instructions(target.row, who);
            counted.inspect_err(|why| eprintln!("{}: {name} is not counted: {why}", target.row)).ok()
        };
        Counts {
            generic: count(GENERIC),
            lto: count("lto"),
            residual: count("residual scalar clang"),
            hand: count("hand scalar clang"),
        }
    }

    /// Measures the time of specialising.
    fn times(&self, workshop: &Workshop, tell: Tell) -> Result<(), String> {
        let times = |target: &Target| -> Option<Times> {
            let program = workshop.program(target);
            let times = program.and_then(|program| workshop.residual(target, &program, self.effort.runs));
            Some(times.inspect_err(|why| eprintln!("{} is not timed: {why}", target.entry)).ok()?.1)
        };
        let pair = times(&TARGETS[0]);
        tell(rows::time_row("time to specialise pair".into(), pair.as_ref(), Some(TIME_OF_PAIR)))?;
        if self.effort.is_full {
            for (count, entry) in GROWTH {
                let grown = times(&targets::growth(count, entry));
                tell(rows::time_row(page::growth_row(count), grown.as_ref(), None))?;
            }
        }
        Ok(())
    }
}
