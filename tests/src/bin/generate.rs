//! `generate SEED [SIZE]`: writes the generated program of a seed to standard output.

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let seed = numbers.next().unwrap_or(0);
    let size = numbers.next().unwrap_or(4);
    print!("{}", drystone_tests::generate::program(seed, size as usize));
}
