//! Copy, Internet checksum and byte swap in one pass, beside the same in three, in C, and beside `memcpy` (table IV of the paper):
//! `cargo run --release -p drystone-extension --example pipe`. It needs clang (or what `CC` says).

#[cfg(all(unix, target_arch = "x86_64"))]
fn main() {
    figures::main();
}

#[cfg(not(all(unix, target_arch = "x86_64")))]
fn main() {
    println!("nothing is compiled for this machine");
}

#[cfg(all(unix, target_arch = "x86_64"))]
mod figures {
    use std::arch::x86_64::{_mm_clflush, _mm_lfence, _mm_mfence, _rdtsc};
    use std::ffi::{CString, c_char, c_int, c_void};
    use std::hint::black_box;
    use std::mem::transmute;
    use std::process::Command;
    use std::time::Instant;

    use drystone_extension::pipe::{Features, Handle, Mode, Pass, Pipe, Pipes, Registers, Stride, ready};

    unsafe extern "C" {
        fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    type Copying = unsafe extern "C" fn(*mut u8, *const u8, usize);
    type Integrated = unsafe extern "C" fn(*mut u8, *const u8, usize) -> u32;
    type Summing = unsafe extern "C" fn(*const u8, usize) -> u32;
    type Swapping = unsafe extern "C" fn(*mut u8, usize);

    struct C {
        copy: Copying,
        sum: Summing,
        swap: Swapping,
        integrated: Integrated,
        plain: Integrated,
    }

    fn compiled_c() -> Option<C> {
        let given = std::env::var("CC").ok();
        let names = given.iter().map(String::as_str).chain(["clang-22", "clang-19", "clang-16", "clang"]);
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/pipe.c");
        let library = std::env::temp_dir().join(format!("pipe-{}.so", std::process::id()));
        let compiles = |name: &&str| {
            let mut command = Command::new(name);
            command.args(["-O3", "-mavx2", "-shared", "-fPIC", source, "-o"]).arg(&library);
            command.status().is_ok_and(|status| status.success())
        };
        println!("C by {}", names.into_iter().find(compiles)?);
        let path = CString::new(library.to_str()?).ok()?;
        // SAFETY: the library was just made of the file beside this one, and has these functions.
        unsafe {
            let it = dlopen(path.as_ptr(), 2);
            let function = |name: &std::ffi::CStr| dlsym(it, name.as_ptr());
            let _ = std::fs::remove_file(&library);
            Some(C {
                copy: transmute::<*mut c_void, Copying>(function(c"copy")),
                sum: transmute::<*mut c_void, Summing>(function(c"sum")),
                swap: transmute::<*mut c_void, Swapping>(function(c"swap")),
                integrated: transmute::<*mut c_void, Integrated>(function(c"integrated")),
                plain: transmute::<*mut c_void, Integrated>(function(c"integrated_plain")),
            })
        }
    }

    fn compiled(pipes: Vec<Pipe>, mode: Mode) -> (Pass, Registers, Handle) {
        let mut list = Pipes::new();
        let mut first = None;
        for pipe in pipes {
            let handle = list.add(pipe);
            first.get_or_insert(handle);
        }
        let pass = list.compile(mode).expect("it compiles");
        let registers = pass.registers();
        (pass, registers, first.unwrap_or_else(|| list.add(ready::copy())))
    }

    /// What is done with data before it is timed.
    #[derive(Clone, Copy, PartialEq)]
    enum Cache {
        Warm,
        Flushed,
    }

    fn flush(data: &[u8]) {
        for line in data.chunks(64) {
            // SAFETY: it only takes the line out of the caches.
            unsafe { _mm_clflush(line.as_ptr()) };
        }
    }

    fn ticks() -> u64 {
        // SAFETY: every processor has these.
        unsafe {
            _mm_mfence();
            _mm_lfence();
            let now = _rdtsc();
            _mm_lfence();
            now
        }
    }

    struct Bench {
        source: &'static mut [u8],
        destination: &'static mut [u8],
        cache: Cache,
        ticks_of_nothing: f64,
        rounds: usize,
    }

    type Step<'s> = &'s mut dyn FnMut(&[u8], &mut [u8]);

    impl Bench {
        /// Ticks of steps, one after the other: for small cached data many at once.
        fn once(&mut self, steps: &mut [Step], flush_between: bool) -> f64 {
            let times = if self.cache == Cache::Warm { (1 << 20) / self.source.len() } else { 1 };
            let mut all = 0.0;
            if self.cache == Cache::Flushed {
                flush(self.source);
                flush(self.destination);
            }
            let parts = if flush_between { steps.len() } else { 1 };
            let length = steps.len() / parts;
            for part in steps.chunks_mut(length.max(1)) {
                if flush_between {
                    flush(self.source);
                    flush(self.destination);
                }
                let begin = ticks();
                for _ in 0..times.max(1) {
                    for step in part.iter_mut() {
                        step(black_box(self.source), black_box(self.destination));
                    }
                }
                all += (ticks() - begin) as f64 - self.ticks_of_nothing;
            }
            all / times.max(1) as f64
        }
    }

    /// Source and destination at the beginning of a line of the cache, and not a multiple of 4096 bytes apart: processors take the
    /// one for the other then, for a while.
    fn buffers(size: usize) -> (&'static mut [u8], &'static mut [u8]) {
        let all = vec![0u8; 2 * size + 8192].leak();
        let begin = all.as_ptr().align_offset(4096);
        let (source, rest) = all[begin..].split_at_mut(size);
        let begin = rest.as_ptr().align_offset(4096) % 4096;
        (source, &mut rest[(begin + 2048) % 4096..][..size])
    }

    fn median(mut all: Vec<f64>) -> f64 {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    }

    pub fn main() {
        let c = compiled_c().expect("clang is needed");
        println!("{:?}", Features::detect());
        let ghz = ticks_per_ns();
        for (size, cache, name) in [
            (4096, Cache::Warm, "cached"),
            (1500 / 8 * 8, Cache::Warm, "cached"),
            (65536, Cache::Warm, "cached"),
            (4096, Cache::Flushed, "flushed"),
            (65536, Cache::Flushed, "flushed"),
            (64 << 20, Cache::Flushed, "flushed"),
        ] {
            table(&c, ghz, size, cache, name);
        }
        others(ghz);
        compile_times();
    }

    fn table(c: &C, ghz: f64, size: usize, cache: Cache, name: &str) {
        let rounds = if size > 1 << 20 { 15 } else { 301 };
        let (source, destination) = buffers(size);
        source.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7) as u8);
        destination.fill(0);
        let mut bench = Bench { source, destination, cache, ticks_of_nothing: 0.0, rounds };
        bench.ticks_of_nothing = median((0..301).map(|_| -((ticks() as f64) - ticks() as f64)).collect());
        let (one, mut one_registers, sum) =
            compiled(vec![ready::internet_checksum(), ready::swap32()], Mode::Write);
        let (copy, mut copy_registers, _) = compiled(vec![], Mode::Write);
        let (summing, mut sum_registers, _) = compiled(vec![ready::internet_checksum()], Mode::Read);
        let (swap, mut swap_registers, _) = compiled(vec![ready::swap32()], Mode::Write);
        let mut all: Vec<Vec<f64>> = vec![Vec::new(); 8];
        for _ in 0..bench.rounds {
            let mut integrated = |from: &[u8], to: &mut [u8]| {
                one_registers.import(sum, 0).unwrap();
                one.run(from, to, &mut one_registers).unwrap();
                black_box(one_registers.export(sum).unwrap());
            };
            all[0].push(bench.once(&mut [&mut integrated], false));
            // SAFETY: source and destination have as many bytes.
            let mut in_c = |from: &[u8], to: &mut [u8]| unsafe {
                black_box((c.integrated)(to.as_mut_ptr(), from.as_ptr(), from.len()));
            };
            all[1].push(bench.once(&mut [&mut in_c], false));
            // SAFETY: the same.
            let mut plain = |from: &[u8], to: &mut [u8]| unsafe {
                black_box((c.plain)(to.as_mut_ptr(), from.as_ptr(), from.len()));
            };
            all[2].push(bench.once(&mut [&mut plain], false));
            let mut memcpy = |from: &[u8], to: &mut [u8]| to.copy_from_slice(from);
            all[3].push(bench.once(&mut [&mut memcpy], false));
            let mut steps: [Step; 3] = [
                &mut |from, to| {
                    copy.run(from, to, &mut copy_registers).unwrap();
                },
                &mut |_, to| summing.read(to, &mut sum_registers).unwrap(),
                &mut |_, to| swap.run_in_place(to, &mut swap_registers).unwrap(),
            ];
            all[4].push(bench.once(&mut steps, false));
            // SAFETY: the same.
            let mut steps_in_c: [Step; 3] = unsafe {
                [
                    &mut |from, to| (c.copy)(to.as_mut_ptr(), from.as_ptr(), from.len()),
                    &mut |_, to| {
                        black_box((c.sum)(to.as_ptr(), to.len()));
                    },
                    &mut |_, to| (c.swap)(to.as_mut_ptr(), to.len()),
                ]
            };
            all[5].push(bench.once(&mut steps_in_c, false));
            if cache == Cache::Flushed {
                all[6].push(bench.once(&mut steps, true));
                all[7].push(bench.once(&mut steps_in_c, true));
            }
        }
        let medians: Vec<f64> =
            all.into_iter().filter(|it| !it.is_empty()).map(|it| median(it) / ghz).collect();
        println!("\n{size} bytes, {name}: ns, and how many times as long as integrated pipes");
        let names = [
            "integrated, pipes",
            "integrated, C",
            "integrated, plain C",
            "memcpy",
            "three passes, pipes",
            "three passes, C",
            "three passes, pipes, flushed between",
            "three passes, C, flushed between",
        ];
        for (name, ns) in names.iter().zip(&medians) {
            println!("  {name:38}{ns:12.1}{:8.2}", ns / medians[0]);
        }
    }

    fn ticks_per_ns() -> f64 {
        let (begin, now) = (ticks(), Instant::now());
        while now.elapsed().as_millis() < 50 {}
        (ticks() - begin) as f64 / now.elapsed().as_nanos() as f64
    }

    /// Each ready-made pipe on 4096 cached bytes.
    fn others(ghz: f64) {
        println!("\n4096 bytes, cached: ns, GB/s");
        let all = [
            ("copy", ready::copy()),
            ("checksum", ready::internet_checksum()),
            ("swap16", ready::swap16()),
            ("xor", ready::xor(0x0123_4567_89ab_cdef)),
            ("crc32c", ready::crc32c()),
            ("adler32", ready::adler32()),
            ("histogram", ready::histogram()),
            ("hex", ready::hex()),
            ("from hex", ready::from_hex()),
        ];
        let (source, destination) = buffers(8192);
        source.iter_mut().enumerate().for_each(|(at, byte)| *byte = b"0123456789abcdef"[at * 7 % 16]);
        let source = &source[..4096];
        for (name, pipe) in all {
            let (pass, mut registers, _) = compiled(vec![pipe], Mode::Write);
            let ns = time(ghz, || pass.run(source, destination, &mut registers).map(|_| ()).unwrap());
            println!("  {name:16}{ns:12.1}{:8.1}  {} bytes of code", 4096.0 / ns, pass.size());
        }
        for (run, gap) in [(16, 16), (64, 64), (1500, 36)] {
            let mut list = Pipes::new();
            list.add(ready::internet_checksum());
            list.add(ready::swap32());
            let stride = Stride { run, gap };
            list.source(stride);
            let pass = list.compile(Mode::Write).unwrap();
            let mut registers = pass.registers();
            let source = &vec![7; stride.span(4096)];
            let ns = time(ghz, || pass.run(source, destination, &mut registers).map(|_| ()).unwrap());
            println!("  checksum and swap32 of rows of {run} with gaps of {gap}: {ns:.1}");
        }
    }

    fn time(ghz: f64, mut step: impl FnMut()) -> f64 {
        let mut once = || {
            let begin = ticks();
            for _ in 0..100 {
                step();
            }
            (ticks() - begin) as f64 / 100.0
        };
        median((0..101).map(|_| once()).collect()) / ghz
    }

    fn compile_times() {
        println!("\ncompile times: ns");
        let lists = [
            ("copy", vec![ready::copy()]),
            ("checksum, swap32", vec![ready::internet_checksum(), ready::swap32()]),
            ("checksum, xor, swap32", vec![ready::internet_checksum(), ready::xor(5), ready::swap32()]),
            ("crc32c, xor, adler32", vec![ready::crc32c(), ready::xor(5), ready::adler32()]),
            ("hex", vec![ready::hex()]),
        ];
        for (name, pipes) in lists {
            let mut list = Pipes::new();
            pipes.into_iter().for_each(|pipe| {
                list.add(pipe);
            });
            // Without the memory for it, whose price depends on how many others there are; and with it.
            let mut times = [true, false].map(|is_placed| {
                let once = |_| {
                    let begin = Instant::now();
                    let features = Features::detect();
                    let pass = if is_placed {
                        list.compile_for(Mode::Write, features)
                    } else {
                        // SAFETY: it is never run.
                        unsafe { list.compile_in(Mode::Write, features, |code| Ok(code.to_vec())) }
                    };
                    let took = begin.elapsed().as_nanos() as f64;
                    drop(black_box(pass));
                    took
                };
                median((0..2001).map(once).collect())
            });
            times.reverse();
            println!("  {name:28}{:10.0} alone, {:.0} with the memory for it", times[0], times[1]);
        }
    }
}
