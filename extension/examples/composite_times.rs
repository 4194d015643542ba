//! What composite calls cost: a loop of calls that do nothing (the paper's Figure 10), a loop that computes, and what a program
//! costs before it runs. `cargo run --release -p drystone-extension --example composite_times`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use drystone_component::Type;
use drystone_extension::composite::builder::*;
use drystone_extension::composite::*;

/// Reads as often as it is said, and does nothing else.
struct Nothing(i64);

impl Services for Nothing {
    fn send(&mut self, _: u32, _: u32, _: Arguments<'_>) -> Answer<()> {
        Answer::Ready(())
    }

    fn receive(&mut self, _: u32, _: u32, results: &mut Results<'_>) -> Answer<()> {
        if results.types() == [Type::Integer] {
            self.0 -= 1;
            results.put(Value::Integer(self.0)).expect("it is one");
        }
        Answer::Ready(())
    }

    fn test(&mut self, _: u32, _: Pattern) -> Answer<bool> {
        Answer::Ready(true)
    }

    fn input(&mut self, _: u32, _: Pattern) -> bool {
        true
    }

    fn close(&mut self, _: u32) -> Answer<()> {
        Answer::Ready(())
    }
}

const EXECUTORS: [(&str, Executor); 3] =
    [("tree", Executor::Tree), ("interpreter", Executor::Interpreter), ("compiled", Executor::Jit(5))];

/// `REPEAT !0(a, b, c); ?1(n); !2(a, b, c); ?3 UNTIL n <= 0`
fn calls() -> Program {
    let mut program = Program {
        communications: vec![drystone_component::Fingerprint::of("nothing")],
        variables: Vec::new(),
        calls: Vec::new(),
        code: Code::Tree(Command::Sequence(Vec::new())),
    };
    let [a, b, c, n] =
        [(); 4].map(|()| program.add_variable(Type::Integer, None, Travels::Not(Value::Integer(1))));
    let arguments: Vec<Argument> = [a, b, c].map(Argument::from).into();
    let mut call = |action| Command::Call(program.add_call(Call { communication: 0, action, location: 0 }));
    let body = [
        call(Action::Send { message: 0, arguments: arguments.clone() }),
        call(Action::Receive { message: 1, results: vec![n.into()] }),
        call(Action::Send { message: 2, arguments }),
        call(Action::Receive { message: 3, results: vec![] }),
    ];
    let done = Operation::Compare(Comparison::LessEqual, Kind::Word);
    let done = Expression::Apply(done, vec![Expression::Variable(n), Expression::Integer(0)], 0);
    program
        .add_command(Command::Repeat(Box::new(Command::Sequence(body.into())), done))
        .expect("it is a tree");
    program
}

fn computes() -> Program {
    let vars = Builder::new();
    let (i, sum) = (vars.local::<i64>(), vars.out::<i64>());
    vars.program(for_(i, 1, 20_000_000, sum.set((sum + i.modulo(7)) * 1 - 1))).expect("it makes sense")
}

fn run(program: &Program, by: Executor, services: Nothing) -> f64 {
    let prepared = Arc::new(Prepared::new(program.clone(), &Limits::default(), by).expect("it makes sense"));
    let table = VarTable::new(prepared.layout().clone());
    let allowance = Allowance { rounds: u64::MAX, texts: 1 << 20 };
    let mut run = Run::new(prepared, table, services, allowance).expect("the table is its own");
    let begin = Instant::now();
    while run.resume(1 << 20) == Step::Yields {}
    begin.elapsed().as_secs_f64()
}

/// Seconds that something takes, the least of some times.
fn time<T>(mut what: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let begin = Instant::now();
        (0..100).for_each(|_| _ = black_box(what()));
        begin.elapsed().as_secs_f64() / 100.0
    };
    (0..20).map(once).fold(f64::MAX, f64::min)
}

fn main() {
    for (name, by) in EXECUTORS {
        let rounds = 1_000_000;
        let all = run(&calls(), by, Nothing(rounds));
        println!(
            "{name}: {:.1} ns for each of two requests with their replies",
            all * 1e9 / rounds as f64 / 2.0
        );
        println!("{name}: {:.2} ns for a round that computes", run(&computes(), by, Nothing(0)) * 1e9 / 2e7);
    }
    let (program, limits) = (calls(), Limits::default());
    let bytes = program.encode();
    println!("{} bytes; to encode: {:.2} µs", bytes.len(), 1e6 * time(|| program.encode()));
    println!("to hash: {:.2} µs", 1e6 * time(|| Hash::of(&bytes)));
    println!("to decode: {:.2} µs", 1e6 * time(|| Program::decode(&bytes, &limits)));
    println!("to compile to bytecode: {:.2} µs", 1e6 * time(|| program.compile(&limits)));
    for (name, by) in EXECUTORS {
        let prepare = || Prepared::<Nothing>::new(program.clone(), &limits, by);
        println!("{name}: to prepare: {:.2} µs", 1e6 * time(prepare));
        let prepared = Arc::new(prepare().expect("it makes sense"));
        let allowance = Allowance { rounds: 1000, texts: 0 };
        let once = || {
            let table = VarTable::new(prepared.layout().clone());
            let mut run = Run::new(prepared.clone(), table, Nothing(1), allowance).expect("it is its own");
            run.resume(100)
        };
        println!("{name}: to run with two requests: {:.3} µs", 1e6 * time(once));
    }
    let lines = |count: usize| {
        let vars = Builder::new();
        let x = vars.out::<i64>();
        vars.program(sequence((0..count).map(|it| x.set(x + it as i64)).collect::<Vec<_>>()))
            .expect("it makes sense")
    };
    for count in [100, 1000, 10_000] {
        let program = lines(count);
        let limits = Limits { program: 1 << 24, ..limits };
        let begin = Instant::now();
        let prepared = Prepared::<Nothing>::new(program, &limits, Executor::Interpreter);
        let all = begin.elapsed().as_secs_f64();
        println!("{count} assignments: to compile and verify: {:.1} ms", 1e3 * all);
        black_box(prepared.expect("it makes sense"));
    }
}
