//! The book's programs are those of the repository: `<!-- PATH -->` stands before each, with its path from the
//! repository's folder. `BLESS=1` copies the files into the pages.

use std::fs;

use crate::programs;

#[test]
fn pages_show_the_programs_as_they_are() {
    let repository = programs().parent().expect("programs are in the repository").to_path_buf();
    let (mut shown, mut included) = (0, Vec::new());
    for entry in fs::read_dir(repository.join("docs/src")).expect("the book's folder") {
        let page = entry.expect("it can be read").path();
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&page).expect("a page is a text");
        if text.contains("{{#") {
            included.push(page.clone()); // mdBook would put the file there, but who reads the page itself sees none
        }
        let mut parts = text.split("<!-- ");
        let mut renewed = parts.next().unwrap_or_default().to_string();
        for part in parts {
            shown += 1;
            let (path, rest) = part.split_once(" -->\n\n```").expect("a program follows its path");
            let (language, rest) = rest.split_once('\n').expect("a program follows its language");
            let (_, after) = rest.split_once("```").expect("a program ends");
            let program = fs::read_to_string(repository.join(path)).unwrap_or_else(|_| panic!("no {path}"));
            renewed += &format!("<!-- {path} -->\n\n```{language}\n{program}```{after}");
        }
        drystone_golden::check(&page, &renewed).unwrap_or_else(|differs| panic!("{differs}"));
    }
    assert!(shown > 26, "the lessons and the paper's programs are shown");
    assert!(included.is_empty(), "{included:?}: a file is shown behind its path, not included");
}
