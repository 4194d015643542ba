//! wasmtime, with its optimising compiler, called as the other peers are. It takes long to build, and is built by
//! itself. To be made ready, a program is compiled from WebAssembly's binary form and instantiated.

#[path = "../common.rs"]
mod common;

use wasmtime::{Caller, Engine, Func, Instance, Module, Store};

use common::{Outcome, Ready, Run, Work};

const COPY: &str = r#"(module
  (import "" "read" (func $read (param i64 i64 i64) (result i64)))
  (import "" "write" (func $write (param i64 i64 i64) (result i64)))
  (func (export "run") (param $left i64) (result i64) (local $sum i64)
    (loop $again
      (local.set $sum (i64.add (local.get $sum)
        (call $write (i64.const 4) (i64.const 4096)
          (call $read (i64.const 3) (i64.const 4096) (i64.const 512)))))
      (local.set $left (i64.sub (local.get $left) (i64.const 1)))
      (br_if $again (i64.ne (local.get $left) (i64.const 0))))
    (local.get $sum)))"#;

const INSTRUCTIONS: &str = r#"(module
  (func (export "run") (param $left i64) (result i64) (local $sum i64)
    (local.set $sum (i64.const 1))
    (loop $again
      (local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 31)) (local.get $left)))
      (local.set $left (i64.sub (local.get $left) (i64.const 1)))
      (br_if $again (i64.ne (local.get $left) (i64.const 0))))
    (local.get $sum)))"#;

fn null(_: Caller<()>, _: u64, _: u64, size: u64) -> u64 {
    size
}

fn main() {
    common::main(|engine| (engine == "wasmtime").then_some(compiled as Ready));
}

fn compiled(work: Work) -> Outcome<Run> {
    thread_local!(static READ: (Engine, [Vec<u8>; 2]) = (
        Engine::default(),
        [COPY, INSTRUCTIONS].map(|text| wat::parse_str(text).expect("it can be read")),
    ));
    let (engine, module) = READ.with(|(engine, modules)| {
        Ok::<_, wasmtime::Error>((engine.clone(), Module::new(engine, &modules[work as usize])?))
    })?;
    let mut store = Store::new(&engine, ());
    let null = Func::wrap(&mut store, null);
    let imports: &[wasmtime::Extern] = if work == Work::Copy { &[null.into(), null.into()] } else { &[] };
    let instance = Instance::new(&mut store, &module, imports)?;
    let run = instance.get_typed_func::<u64, u64>(&mut store, "run")?;
    Ok(Box::new(move |rounds| Ok(run.call(&mut store, rounds)?)))
}
