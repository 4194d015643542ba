//! Writes the programs that users have the kernel run. The image's build script calls this; the programs use the
//! interface in `runs/src/interface.rs`.

use std::fs;
use std::path::Path;

use drystone_component::wire::Description;
use drystone_extension::composite::builder::*;
use drystone_extension::composite::{COMMAND_DEPTH, Command, EXPRESSION_DEPTH, Program, Refusal};

#[path = "runs/src/interface.rs"]
mod interface;

/// Call numbers, as in `user/src/calls.rs`.
const NOTHING: i64 = 2;
const TAKE_FRAME: i64 = 11;
const PUT_FRAME: i64 = 12;

/// Bytes that a program may have at most.
const MOST: usize = 4096;
/// Statements of the program `long`, which nearly reach that limit.
const LONG: usize = 4;

/// Writes all programs, each to a file of its name.
pub fn write(to: &Path) {
    fs::create_dir_all(to).expect("the folder for programs can be made");
    type Make = fn(&Kernel) -> Result<Program, Refusal>;
    let programs: [(&str, Make); 8] = [
        ("nothing", nothing),
        ("frames", frames),
        ("fault", fault),
        ("count", count),
        ("any", any),
        ("careless", careless),
        ("deep", deep),
        ("long", long),
    ];
    for (name, make) in programs {
        let program = make(&Kernel::new()).unwrap_or_else(|why| panic!("the program {name}: {why}"));
        assert!(program.encode().len() <= MOST, "the program {name} has {} bytes", program.encode().len());
        fs::write(to.join(name), program.encode()).expect("a program can be written");
        fs::write(to.join(name).with_extension("hash"), program.hash().0).expect("its hash can be written");
    }
    let tree = nothing(&Kernel::new()).and_then(|tree| tree.compile(&Default::default()));
    fs::write(to.join("bytecode"), tree.expect("it can be compiled").encode())
        .expect("a program can be written");
}

/// A program under construction, and its communication with the kernel.
struct Kernel {
    vars: Builder,
    table: Communication,
    zero: Var<i64>,
}

impl Kernel {
    fn new() -> Kernel {
        let vars = Builder::new();
        let table = vars.communication(&Description::of(&interface::interface()));
        let zero = vars.constant(0);
        Kernel { vars, table, zero }
    }

    fn call(&self, number: i64, a: Var<i64>, b: Var<i64>, answer: impl Into<Place>) -> Command {
        let number = self.vars.constant(number);
        self.table.call("Call", (number, a, b, self.zero, self.zero), "Answer", (answer,))
    }
}

/// Makes as many empty calls as it is told, and adds their answers.
fn nothing(kernel: &Kernel) -> Result<Program, Refusal> {
    let Kernel { vars, zero, .. } = kernel;
    let (times, sum, answer) = (vars.input::<i64>(), vars.out::<i64>(), vars.local::<i64>());
    let call = kernel.call(NOTHING, *zero, *zero, answer);
    vars.program(repeat(vars, times, sequence([call, sum.set(sum + answer)])))
}

/// Takes as many page frames as it is told.
fn frames(kernel: &Kernel) -> Result<Program, Refusal> {
    let Kernel { vars, zero, .. } = kernel;
    let (times, frames, index) = (vars.input::<i64>(), vars.outs::<i64>(100), vars.local::<i64>());
    vars.program(for_(index, 0, times - 1, kernel.call(TAKE_FRAME, *zero, *zero, frames.at(index))))
}

/// Takes a page frame and maps it at an address.
fn fault(kernel: &Kernel) -> Result<Program, Refusal> {
    let Kernel { vars, zero, .. } = kernel;
    let (address, frame, done) = (vars.input::<i64>(), vars.out::<i64>(), vars.local::<i64>());
    vars.program(sequence([
        kernel.call(TAKE_FRAME, *zero, *zero, frame),
        kernel.call(PUT_FRAME, frame, address, done),
    ]))
}

/// Counts to a given number, in effect for ever if that is large.
fn count(kernel: &Kernel) -> Result<Program, Refusal> {
    let Kernel { vars, .. } = kernel;
    let (limit, counted) = (vars.input::<i64>(), vars.out::<i64>());
    vars.program(while_(counted.lt(limit), counted.set(counted + 1)))
}

/// Makes any given call, any number of times.
fn any(kernel: &Kernel) -> Result<Program, Refusal> {
    let Kernel { vars, table, .. } = kernel;
    let [number, a, b, c, d, times] = [(); 6].map(|()| vars.input::<i64>());
    let answer = vars.out::<i64>();
    vars.program(repeat(vars, times, table.call("Call", (number, a, b, c, d), "Answer", (answer,))))
}

/// Continues when calls are refused, and counts the refusals.
fn careless(kernel: &Kernel) -> Result<Program, Refusal> {
    let Kernel { vars, zero, .. } = kernel;
    let (answer, refused, number) = (vars.local::<i64>(), vars.out::<i64>(), vars.local::<i64>());
    let Kernel { table, .. } = kernel;
    let call = table.send("Call", (number, *zero, *zero, *zero, *zero));
    let count = if_else(failed(), refused.set(refused + 1), table.receive("Answer", (answer,)));
    vars.program(sequence([do_not_abort_on_error(), for_(number, -3, 40, sequence([call, count]))]))
}

/// Nests as deeply as programs may, to use as much of the kernel's stack as possible.
fn deep(kernel: &Kernel) -> Result<Program, Refusal> {
    let Kernel { vars, .. } = kernel;
    let sum = vars.out::<i64>();
    let depth = EXPRESSION_DEPTH as i64 - 2;
    let value = (0..depth).fold(Expr::from(1), |rest, _| Expr::from(sum) + rest);
    let innermost = sum.set(value + 1);
    let index = vars.local::<i64>();
    let around = |inner, level| if level % 2 == 0 { if_(true, inner) } else { for_(index, 1, 1, inner) };
    vars.program((3..COMMAND_DEPTH).fold(innermost, around))
}

/// Computes for ever, in rounds as long as a program's size allows.
fn long(kernel: &Kernel) -> Result<Program, Refusal> {
    let Kernel { vars, .. } = kernel;
    let sum = vars.out::<i64>();
    let add = |_| sum.set((0..EXPRESSION_DEPTH - 2).fold(Expr::from(sum), |rest, _| rest + sum));
    vars.program(while_(true, sequence((0..LONG).map(add).collect::<Vec<_>>())))
}
