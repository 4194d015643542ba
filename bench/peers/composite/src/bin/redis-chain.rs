//! A client of Redis that goes from key to key, each the value of the one before:
//!
//! ```text
//! redis-chain get|evalsha ADDRESS KEYS N      {"ns": .., "result": ..}
//! ```
//!
//! `get` asks for them one by one, `evalsha` by a script that Redis knows; N times. A tenth more is done before, which
//! isn't measured.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

const SCRIPT: &str = "local key, steps = KEYS[1], 0
while true do
  local value = redis.call('GET', key)
  if not value then return steps end
  key, steps = value, steps + 1
end";

struct Redis(BufReader<TcpStream>);

impl Redis {
    /// Says it, and gives the answer: a number or a text; none for what isn't there.
    fn ask(&mut self, words: &[&str]) -> Result<Option<String>, Box<dyn Error>> {
        let mut request = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| request += &format!("${}\r\n{word}\r\n", word.len()));
        self.0.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let (kind, rest) = line.trim_end().split_at(1);
        match (kind, rest) {
            ("$", "-1") => Ok(None),
            ("$", length) => {
                let mut bytes = vec![0; length.parse::<usize>()? + 2];
                self.0.read_exact(&mut bytes)?;
                bytes.truncate(bytes.len() - 2);
                Ok(Some(String::from_utf8(bytes)?))
            }
            ("-", why) => Err(why.into()),
            (_, value) => Ok(Some(value.into())),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, way, address, keys, n] = arguments.as_slice() else {
        return Err("say `redis-chain get|evalsha ADDRESS KEYS N`".into());
    };
    let (keys, n): (u64, u64) = (keys.parse()?, n.parse()?);
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut redis = Redis(BufReader::new(stream));
    for key in 0..keys {
        redis.ask(&["SET", &format!("key {key}"), &format!("key {}", key + 1)])?;
    }
    let sha = redis.ask(&["SCRIPT", "LOAD", SCRIPT])?.ok_or("no script")?;
    let mut once = || -> Result<u64, Box<dyn Error>> {
        if way == "evalsha" {
            return Ok(redis.ask(&["EVALSHA", &sha, "1", "key 0"])?.ok_or("no answer")?.parse()?);
        }
        let (mut key, mut steps) = ("key 0".to_string(), 0);
        while let Some(value) = redis.ask(&["GET", &key])? {
            (key, steps) = (value, steps + 1);
        }
        Ok(steps)
    };
    for _ in 0..n / 10 + 1 {
        once()?;
    }
    let begin = Instant::now();
    let mut result = 0;
    for _ in 0..n {
        result = once()?;
    }
    let ns = begin.elapsed().as_nanos() as f64 / n as f64;
    println!("{{\"ns\": {ns}, \"result\": {result}}}");
    Ok(())
}
