//! The words with which SQL begins: they say what it is for.

/// The words up to whatever isn't one, without the comments before them.
pub fn words(mut sql: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        sql = after_blanks(sql);
        let length = sql.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(sql.len());
        let (word, rest) = sql.split_at(length);
        sql = rest;
        (length > 0).then_some(word)
    })
}

/// Whether the first word is one of these.
pub fn begins_with(sql: &str, any: &[&str]) -> bool {
    words(sql).next().is_some_and(|word| any.iter().any(|it| word.eq_ignore_ascii_case(it)))
}

/// Skips spaces, semicolons and comments.
fn after_blanks(mut sql: &str) -> &str {
    loop {
        sql = sql.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        sql = if sql.starts_with("--") {
            sql.split_once(['\n', '\r']).map_or("", |(_, rest)| rest)
        } else if sql.starts_with("/*") {
            after_comment(sql)
        } else {
            return sql;
        };
    }
}

/// Skips the comment that begins here. Comments nest, as PostgreSQL has it.
fn after_comment(sql: &str) -> &str {
    let (mut depth, mut at) = (0, 0);
    while let Some(pair) = sql.as_bytes().get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return &sql[at..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_words() {
        for (sql, expected) in [
            ("COMMIT", &["COMMIT"][..]),
            (" ;\n-- not this\r\n; commit work", &["commit", "work"]),
            ("/* no /* nor this */ no */Prepare/**/transaction 'x'", &["Prepare", "transaction"]),
            ("/*/ SELECT */ END;", &["END"]),
            ("/* zwölf */ ROLLBACK", &["ROLLBACK"]),
            ("/* never ends", &[]),
            ("-- only this", &[]),
            ("(SELECT 1)", &[]),
            ("", &[]),
        ] {
            assert_eq!(words(sql).collect::<Vec<_>>(), expected, "{sql}");
        }
    }
}
