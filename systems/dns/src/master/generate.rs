//! BIND's `$GENERATE FIRST-LAST[/STEP] OWNER [TTL] [CLASS] TYPE DATA`. In it `$` is a number, and
//! `${OFFSET,WIDTH,BASE}` is that number plus an offset, of that width, in base d, o, x or X, or as nibbles in reverse
//! order (n, N).

use super::lexer::Token;

/// Entries of one `$GENERATE`, at most.
const MOST: u64 = 1 << 20;
/// Digits of a number, at most.
const WIDEST: usize = 255;

/// The lines that it generates.
///
/// # Errors
/// What is wrong with it.
pub fn lines<'a>(
    tokens: &'a [Token<'a>],
) -> Result<impl Iterator<Item = Result<Vec<u8>, String>> + 'a, String> {
    const FORM: &str = "$GENERATE is followed by FIRST-LAST[/STEP], an owner, a type and data";
    let [range, rest @ ..] = tokens else { return Err(FORM.into()) };
    if rest.len() < 3 {
        return Err(FORM.into());
    }
    let (numbers, step) = range.word().split_once('/').unwrap_or((range.word(), "1"));
    let ends = numbers
        .split_once('-')
        .map(|(first, last)| (first.parse::<u32>(), last.parse::<u32>(), step.parse::<u32>()));
    let Some((Ok(first), Ok(last), Ok(step @ 1..))) = ends else { return Err(FORM.into()) };
    if first > last || u64::from(last - first) / u64::from(step) >= MOST {
        return Err(format!("$GENERATE makes from 1 to {MOST} entries"));
    }
    Ok((first..=last).step_by(step as usize).map(move |number| line(rest, number)))
}

fn line(tokens: &[Token<'_>], number: u32) -> Result<Vec<u8>, String> {
    let mut line = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if at > 0 && !token.is_joined {
            line.push(b' ');
        }
        // Data that is a single quoted text is the text's contents.
        let has_quotes = token.is_quoted && !(at > 1 && at + 1 == tokens.len());
        line.extend(has_quotes.then_some(b'"'));
        put(&mut line, token.raw, number)?;
        line.extend(has_quotes.then_some(b'"'));
    }
    line.push(b'\n');
    Ok(line)
}

fn put(line: &mut Vec<u8>, raw: &[u8], number: u32) -> Result<(), String> {
    let mut rest = raw;
    while let Some((&first, more)) = rest.split_first() {
        rest = match (first, more) {
            (b'\\', [b'$', more @ ..]) | (b'$', [b'$', more @ ..]) => {
                line.push(b'$');
                more
            }
            (b'\\', [escaped, more @ ..]) => {
                line.extend([b'\\', *escaped]);
                more
            }
            (b'$', [b'{', more @ ..]) => {
                let end = more.iter().position(|byte| *byte == b'}').ok_or("`${` has no `}`")?;
                line.extend(formed(&String::from_utf8_lossy(&more[..end]), number)?.bytes());
                &more[end + 1..]
            }
            (b'$', more) => {
                line.extend(number.to_string().bytes());
                more
            }
            (byte, more) => {
                line.push(byte);
                more
            }
        };
    }
    Ok(())
}

fn formed(form: &str, number: u32) -> Result<String, String> {
    let wrong = || format!("`${{{form}}}` isn't `${{OFFSET,WIDTH,BASE}}`");
    let mut parts = form.split(',');
    let offset: i64 = parts.next().unwrap_or_default().parse().map_err(|_| wrong())?;
    let width: usize = parts.next().unwrap_or("0").parse().map_err(|_| wrong())?;
    let base = parts.next().unwrap_or("d");
    let number = offset.checked_add(i64::from(number)).and_then(|sum| u32::try_from(sum).ok());
    let number =
        number.ok_or_else(|| format!("`${{{form}}}` makes a number that is negative, or too large"))?;
    if width > WIDEST || parts.next().is_some() {
        return Err(wrong());
    }
    Ok(match base {
        "d" => format!("{number:0width$}"),
        "o" => format!("{number:0width$o}"),
        "x" => format!("{number:0width$x}"),
        "X" => format!("{number:0width$X}"),
        "n" => nibbles(number, width),
        "N" => nibbles(number, width).to_uppercase(),
        _ => return Err(wrong()),
    })
}

/// Digits from the last to the first, with dots between them. The width counts dots; if it isn't used up, there is a
/// dot at the end.
fn nibbles(mut number: u32, mut width: usize) -> String {
    let mut nibbles = String::new();
    loop {
        nibbles += &format!("{:x}", number & 15);
        number >>= 4;
        width = width.saturating_sub(1);
        if width > 0 || number != 0 {
            nibbles.push('.');
            width = width.saturating_sub(1);
        }
        if width == 0 && number == 0 {
            return nibbles;
        }
    }
}
