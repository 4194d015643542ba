//! Specialises IR files to a context and prints what comes of it.
use drystone_specialise::{Context, ir::Module, link, parse, print, specialise};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let context = Context::read(&std::fs::read_to_string(&args[0]).unwrap()).unwrap();
    let texts: Vec<(String, String)> = args[1..].iter().map(|f| (f.clone(), std::fs::read_to_string(f).unwrap())).collect();
    let start = Instant::now();
    let modules: Vec<Module> = texts.iter().map(|(f, t)| parse::read(t, f).unwrap_or_else(|e| panic!("{e}"))).collect();
    let module = link::link(modules).unwrap_or_else(|e| panic!("{e}"));
    let read = start.elapsed();
    let done = specialise(&module, &context).unwrap_or_else(|e| panic!("{e}"));
    let all = start.elapsed();
    eprintln!("read {read:?}, all {all:?}; attempts {}, evaluated {}, residual {}", done.report.attempts, done.report.evaluated, done.report.residual);
    for (name, why) in &done.report.kept { eprintln!("kept {name}: {why}"); }
    println!("{}", print::print(&done.module));
}
