//! Procedures that crates carry (`PROCEDURE {NATIVE}`): those of the library beside other programs that do the same,
//! and those of a crate that is built in.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::with::alone;
use crate::{complaint, drystone, folder_with, printed, programs, status};

/// What a program writes; the same as an executable and on several processors.
fn says(folder: &Path, arguments: &[&str]) -> String {
    let run = drystone(folder, &[&["run", "program.dry"], arguments].concat());
    assert_eq!(status(&run), 0, "{}", complaint(&run));
    let more = drystone(folder, &[&["run", "--cores", "3", "program.dry"], arguments].concat());
    assert_eq!(printed(&more), printed(&run), "{}", complaint(&more));
    let built = drystone(folder, &["build", "program.dry", "-o", "made"]);
    assert_eq!(status(&built), 0, "{}", complaint(&built));
    let mut made = Command::new(folder.join("made"));
    let made = made.args(arguments).current_dir(folder).output().expect("the executable runs");
    assert_eq!(printed(&made), printed(&run), "{}", complaint(&made));
    printed(&run)
}

/// What another program writes.
fn other(command: &mut Command) -> Option<String> {
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(_) => {
            drystone_golden::skipped(&format!("no {:?}", command.get_program()));
            None
        }
    }
}

/// Writes files for a program that reads the one it is given, line by line.
fn reading(body: &str, files: &[(&str, &[u8])]) -> TempDir {
    let folder = folder_with(&format!(
        "IMPORT Hash, Json, Csv, Regex, Text, Time;
COMPONENT Main REQUIRES Arguments, FileSystem;
VARIABLE name, all: TEXT; c: CHARACTER; length: INTEGER;
{body}
BEGIN
  Arguments!GetArguments; Arguments?Argument(name);
  WHILE Arguments?Argument DO Arguments?Argument(all) END;
  Arguments?End; all := \"\";
  FileSystem!Open(name); FileSystem?Done;
  FileSystem!GetLength; FileSystem?Length(length);
  WHILE LENGTH(all) < length DO FileSystem!ReadByte; FileSystem?Byte(c); all := all + c END;
  FileSystem!Close;
  Do
END Main;
"
    ));
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a temporary folder can be written");
    }
    folder
}

#[test]
fn hashes_are_those_of_other_programs() {
    let folder = reading(
        "PROCEDURE Do;
BEGIN
  WRITE(Hash.Hex(Hash.Sha256(all))); WRITELINE; WRITE(Hash.Hex(Hash.Sha512(all))); WRITELINE;
  WRITE(Hash.Hex(Hash.HmacSha256(\"key\", all))); WRITE(Hash.Same(all, all));
  WRITE(Hash.Same(all, all + \"x\")); WRITELINE
END Do;",
        &[("one", b""), ("two", &[0xfe; 1000])],
    );
    for name in ["one", "two"] {
        let said = says(folder.path(), &[name]);
        let lines: Vec<&str> = said.lines().collect();
        for (line, program) in lines.iter().zip(["sha256sum", "sha512sum"]) {
            let Some(theirs) = other(Command::new(program).arg(folder.path().join(name))) else { continue };
            assert!(theirs.starts_with(line), "{line} and {theirs}");
        }
        let hmac =
            "import hmac, sys; print(hmac.new(b'key', open(sys.argv[1], 'rb').read(), 'sha256').hexdigest())";
        if let Some(theirs) = python(hmac, &[&folder.path().join(name)]) {
            assert_eq!(lines[2], format!("{}TRUEFALSE", theirs.trim_end()));
        }
    }
}

fn python(text: &str, arguments: &[&Path]) -> Option<String> {
    other(Command::new("python3").args(["-c", text]).args(arguments))
}

#[test]
fn documents_are_those_of_python() {
    let text = r#"{"users": [{"name": "Ä\u00e9\ud834\udd1e\"\\", "age": 41, "on": true}, {"name": "", "age": -1.5e2}],
        "big": 9223372036854775807, "none": null, "nested": [[[], {}], [0.1, 1e-7, 123456.789]]}"#;
    let folder = reading(
        "VARIABLE d: Json.Document;
PROCEDURE Write(node: INTEGER; VARIABLE json: TEXT);
VARIABLE i: INTEGER;
BEGIN
  CASE Json.Kind(d, node) OF
  | Json.OBJECT:
    Json.BeginObject(json);
    FOR i := 0 TO Json.Count(d, node) - 1 DO
      Json.PutName(json, Json.Key(d, node, i)); Write(Json.Member(d, node, Json.Key(d, node, i)), json)
    END;
    Json.EndObject(json)
  | Json.LIST:
    Json.BeginArray(json);
    FOR i := 0 TO Json.Count(d, node) - 1 DO Write(Json.Element(d, node, i), json) END;
    Json.EndArray(json)
  | Json.STRING: Json.PutText(json, Json.Text(d, node))
  | Json.WHOLE: Json.PutInteger(json, Json.Integer(d, node))
  | Json.FRACTION: Json.PutReal(json, Json.Real(d, node))
  | Json.TRUTH: Json.PutTruth(json, Json.Truth(d, node))
  ELSE Json.PutNull(json)
  END
END Write;
PROCEDURE Do;
VARIABLE json: TEXT;
BEGIN
  IF Json.Parse(all, d) THEN
    Write(Json.ROOT, json); WRITE(json); WRITELINE; WRITE(json = Json.Written(d, Json.ROOT)); WRITELINE
  ELSE
    WRITE(Json.Fault(d)); WRITELINE
  END
END Do;",
        &[("right", text.as_bytes()), ("wrong", b"{\"a\": [1,\n  tru]}")],
    );
    let said = says(folder.path(), &["right"]);
    let (json, same) = said.split_once('\n').expect("there are two lines");
    assert_eq!(same, "TRUE\n");
    fs::write(folder.path().join("ours"), json).expect("it can be written");
    let compare = "import json, sys; a, b = [json.load(open(name)) for name in sys.argv[1:]]; print(a == b)";
    if let Some(equal) = python(compare, &[&folder.path().join("right"), &folder.path().join("ours")]) {
        assert_eq!(equal, "True\n", "{json}");
    }
    assert_eq!(says(folder.path(), &["wrong"]), "line 2, column 6: expected ident\n");
}

#[test]
fn tables_are_those_of_python() {
    let table = "a,\"b\"\"c\",\r\n\"1,2\",\"x\ny\",ä\r\n,,\r\n";
    let folder = reading(
        "PROCEDURE Do;
VARIABLE rows: Csv.Rows; row: Csv.Row; i: INTEGER; again: TEXT;
BEGIN
  rows := Csv.Read(all);
  WHILE Csv.Next(rows, row) DO
    FOR i := 0 TO Csv.Count(row) - 1 DO WRITE(\"<\" + Csv.Field(row, i) + \">\"); Csv.Put(again, Csv.Field(row, i)) END;
    WRITELINE; Csv.EndRow(again)
  END;
  rows := Csv.Read(again); again := \"\";
  WHILE Csv.Next(rows, row) DO again := again + TEXT(Csv.Count(row)) END;
  WRITE(again); WRITELINE
END Do;",
        &[("table", table.as_bytes())],
    );
    let said = says(folder.path(), &["table"]);
    let (rows, counts) = said.trim_end().rsplit_once('\n').expect("there are lines");
    assert_eq!(counts, "333");
    let read = "import csv, sys
for row in csv.reader(open(sys.argv[1], newline='')): print(''.join('<' + field + '>' for field in row))";
    if let Some(theirs) = python(read, &[&folder.path().join("table")]) {
        assert_eq!(rows, theirs.trim_end());
    }
}

#[test]
fn times_are_those_of_python() {
    let instants =
        (0..60).map(|i: i64| (i * 2_629_743_777 + i * i * 1_234_567_890 - 40_000_000_000).to_string());
    let instants = instants.collect::<Vec<_>>().join("\n");
    let folder = reading(
        "PROCEDURE Do;
VARIABLE lines: Text.Parts; line: TEXT; instant, again: INTEGER; m: Time.Moment;
BEGIN
  lines := Text.Split(all);
  WHILE Text.Next(lines, \"\\n\", line) DO
    ASSERT(NUMBER(line, instant));
    WRITE(Time.Formatted(instant, \"America/New_York\", \"%Y-%m-%d %H:%M:%S %a %j\")); WRITELINE;
    m := Time.In(\"Asia/Kolkata\", instant); WRITE(m.offset); WRITE(\" \"); WRITE(m.weekday); WRITELINE;
    ASSERT(Time.OfRfc3339(Time.Rfc3339(instant, \"Australia/Lord_Howe\"), again) AND (again = instant));
    ASSERT(Time.Instant(\"Asia/Kolkata\", m, again) AND (again = instant))
  END
END Do;",
        &[("instants", instants.as_bytes())],
    );
    let said = says(folder.path(), &["instants"]);
    let format = "import sys, datetime, zoneinfo
for line in open(sys.argv[1]):
    at = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(milliseconds=int(line))
    print(at.astimezone(zoneinfo.ZoneInfo('America/New_York')).strftime('%Y-%m-%d %H:%M:%S %a %j'))
    there = at.astimezone(zoneinfo.ZoneInfo('Asia/Kolkata'))
    print(int(there.utcoffset().total_seconds()) // 60, there.isoweekday())";
    if let Some(theirs) = python(format, &[&folder.path().join("instants")]) {
        assert_eq!(said, theirs);
    }
}

#[test]
fn patterns_match_as_pythons() {
    let text = "Ann <ann@a.org>, Bob <bob@b.com>; none@, 2026-11-30 äöü x@y.z";
    let folder = reading(
        "PROCEDURE Do;
VARIABLE m: Regex.Match; from: INTEGER;
BEGIN
  WHILE Regex.Find(\"(?<who>\\\\w+)@(\\\\w+\\\\.)(\\\\w+)?\", all, from, m) DO
    WRITE(Regex.Named(m, \"who\") + \"|\" + Regex.Group(m, 2) + \"|\" + Regex.Group(m, 3)); WRITELINE;
    from := Regex.End(m, 0)
  END;
  WRITE(Regex.Replaced(\"(\\\\d+)-(\\\\d+)\", all, \"${2}/${1}\")); WRITELINE;
  WRITE(Regex.IsPattern(\"(\")); WRITE(Regex.Matches(\"^Ann.*z$\", all)); WRITELINE
END Do;",
        &[("text", text.as_bytes())],
    );
    let said = says(folder.path(), &["text"]);
    let find = "import re, sys
text = open(sys.argv[1], encoding='utf-8').read()
for m in re.finditer(r'(?P<who>\\w+)@(\\w+\\.)(\\w+)?', text): print(m['who'], m[2], m[3] or '', sep='|')
print(re.sub(r'(\\d+)-(\\d+)', r'\\2/\\1', text))
print('FALSETRUE')";
    if let Some(theirs) = python(find, &[&folder.path().join("text")]) {
        assert_eq!(said, theirs);
    }
}

const ALIEN: &str = "
COMPONENT Main;
BEGIN WRITE(Grow(1)) END Main;
PROCEDURE {NATIVE} Grow(n: INTEGER): INTEGER;
PROCEDURE {NATIVE} Unused(n: INTEGER): INTEGER;
";

#[test]
fn a_procedure_that_nothing_carries_is_refused_before_the_program_runs() {
    let folder = folder_with(ALIEN);
    for arguments in [&["check"][..], &["run"], &["build"], &["build", "--platform", "pc"]] {
        let output = drystone(folder.path(), &[arguments, &["program.dry"]].concat());
        let said = complaint(&output);
        assert_eq!((printed(&output).as_str(), status(&output)), ("", 2), "{said}");
        assert!(said.contains("Program.Grow is NATIVE, and nothing here carries it"), "{said}");
        assert!(said.contains("--with CRATE") && !said.contains("Program.Unused"), "{said}");
    }
    assert!(!folder.path().join("program").exists());
    // One without an operating system lacks what needs one.
    let calendar = folder_with("IMPORT Time; COMPONENT Main; BEGIN WRITE(Time.IsZone(\"UTC\")) END Main;");
    assert_eq!(status(&drystone(calendar.path(), &["check", "program.dry"])), 0);
    let output = drystone(calendar.path(), &["build", "--platform", "pc", "program.dry"]);
    assert!(complaint(&output).contains("Time.IsZone is NATIVE, and nothing here carries it"));
}

#[test]
fn a_procedure_that_is_carried_with_another_heading_is_refused() {
    let folder = folder_with("IMPORT Hash; COMPONENT Main; BEGIN WRITE(Hash.Sha256(1)) END Main;");
    let own = "PROCEDURE {NATIVE} Sha256(n: INTEGER): TEXT;";
    fs::write(folder.path().join("Hash.dry"), own).expect("it can be written");
    let output = drystone(folder.path(), &["run", "program.dry"]);
    let said = complaint(&output);
    let expected = "Hash.Sha256 is declared as (INTEGER): TEXT, and carried as (TEXT): TEXT";
    assert!(status(&output) == 2 && said.contains(expected), "{said}");
}

#[test]
fn processes_elsewhere_call_procedures_too() {
    let folder = folder_with(
        "IMPORT Hash;
INTERFACE Result; IN Get OUT Is(x: TEXT) END Result;
PROCEDURE Link(n: INTEGER): TEXT;
VARIABLE t: TEXT; i: INTEGER;
BEGIN
  FOR i := 1 TO n DO t := Hash.Sha256(t + \"x\") END;
  RETURN t
END Link;
COMPONENT Chain OFFERS Result;
VARIABLE t: TEXT; done: BOOLEAN;
  IMPLEMENTATION Result;
  BEGIN {EXCLUSIVE} AWAIT(done); ?Get; !Is(t) END Result;
ACTIVITY {EXCLUSIVE}
  t := Link(20000); done := TRUE
END Chain;
COMPONENT Main;
VARIABLE chains[i: INTEGER]: Chain; far: Chain; i: INTEGER; x, first: TEXT;
BEGIN
  first := Link(20000);
  FOR i := 1 TO 6 DO NEW(chains[i]) END;
  NEW(chains[7]) AT \"process:far\"; NEW(chains[8]) AT \"worker:1\";
  FOR i := 1 TO 8 DO Result(chains[i])!Get; Result(chains[i])?Is(x); WRITE(x = first) END
END Main;
",
    );
    let output = drystone(folder.path(), &["run", "--cores", "3", "--stats", "program.dry"]);
    assert_eq!((printed(&output), status(&output)), ("TRUE".repeat(8), 0), "{}", complaint(&output));
    let said = complaint(&output);
    let away = said.split("runs elsewhere ").nth(1).and_then(|rest| rest.split(',').next());
    let away = away.and_then(|number| number.parse::<u32>().ok());
    assert!(away.is_some_and(|away| away > 0), "{said}");
}

/// Of a crate that is built in; a panic in one of them ends the component that has called it, and nothing else.
#[test]
fn a_crate_carries_procedures_of_its_own_file() {
    let words = programs().join("../systems/words");
    let expected = fs::read_to_string(words.join("Rhymes.expected")).expect("it is there");
    let _alone = alone();
    let output = drystone(&words, &["run", "--with", ".", "Rhymes.dry"]);
    let said = complaint(&output);
    assert_eq!((printed(&output), status(&output)), (expected, 0), "{said}");
    let fault = "error: assertion failed at Rhymes.dry:26:9 in Rhymes.careless\n  \
                 Sounds.Letter panicked: index out of bounds: the len is 5 but the index is 17";
    assert!(said.contains(fault), "{said}");
}
