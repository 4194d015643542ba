//! Imports, programs of several files, and declarations at the top level of a file.

use drystone_language::check::{Options, check};
use drystone_language::imports::{Package, Packages, load};
use drystone_language::program::Program;
use drystone_language::render::{Colour, render};
use drystone_language::source::{Diagnostic, SourceFile};

const JSON: &str = "CONSTANT Limit = 3; Name = \"json\" + \"!\";
    INTERFACE Reader; { IN Read OUT Value(x: TEXT) } END Reader;
    COMPONENT Source OFFERS Reader;
      IMPLEMENTATION Reader; BEGIN WHILE ?Read DO ?Read; !Value(Parse(Name)) END END Reader;
    END Source;
    COMPONENT Joint OFFERS Reader REQUIRES Reader; BEGIN CONNECT(Reader, Reader) END Joint;
    PROCEDURE Parse(t: TEXT): TEXT; BEGIN RETURN Shorten(t, Limit) END Parse;
    PROCEDURE Shorten(t: TEXT; n: INTEGER): TEXT; BEGIN RETURN SLICE(t, 0, MIN(n, LENGTH(t))) END Shorten;";

const USER: &str = "IMPORT Json;
    CONSTANT Twice = 2 * Json.Limit;
    INTERFACE Own; IN Give(r: ANY(Json.Reader)) END Own;
    COMPONENT Keeper OFFERS Json.Reader, Own REQUIRES Json.Reader;
      IMPLEMENTATION Json.Reader;
      BEGIN WHILE ?Read DO ?Read; Json.Reader!Read; Reader?Value(x); !Value(x) END
      END Json.Reader;
      IMPLEMENTATION Own; VARIABLE r: ANY(Json.Reader); BEGIN ?Give(r) END Own;
      VARIABLE x: TEXT;
    END Keeper;
    COMPONENT Main;
      VARIABLE a[i: INTEGER]: Json.Source; b: ANY; t: TEXT; k: Keeper; j: Json.Joint;
      PROCEDURE Ask(VARIABLE r: ANY(Json.Reader | Json.Reader)); BEGIN r!Read; r?Value(t) END Ask;
    BEGIN
      NEW(a[1]); NEW(a[2]); NEW(b, Json.Source); NEW(k); NEW(j);
      CONNECT(Json.Reader(k), Json.Reader(a[1])); CONNECT(Json.Reader(j), a[2]);
      a[1]!Read; Json.Reader(j)!Read; Json.Reader(b)!Read;
      IF b IS Json.Source THEN b(Json.Source)?Value(t) ELSIF b OFFERS Json.Reader THEN t := Json.Name END;
      IF INPUT(Json.Reader(j), Value) & (Json.Limit = 3) THEN t := Json.Parse(t) END;
      Json.Parse(\"dropped\")
    END Main;";

fn files(texts: &[(&str, &str)]) -> Vec<SourceFile> {
    texts.iter().map(|&(path, text)| SourceFile { path: path.into(), text: text.into() }).collect()
}

fn accepted(texts: &[(&str, &str)]) -> Program {
    let files = files(texts);
    check(&files, Options::default())
        .unwrap_or_else(|errors| panic!("{}", render(&files, &errors, Colour::Plain)))
}

fn codes(texts: &[(&str, &str)]) -> Vec<&'static str> {
    check(&files(texts), Options::default())
        .err()
        .unwrap_or_default()
        .iter()
        .map(|error| error.code)
        .collect()
}

fn entry(program: &Program) -> &str {
    &program.components[program.entry.expect("it has an entry").index()].name
}

#[test]
fn what_an_imported_file_declares_is_used_by_qualified_names() {
    let user = USER.replace(" & ", " AND ").replace("{ IN Read", "IN Read");
    let user = user
        .replace("VARIABLE x: TEXT;\n", "")
        .replace("IMPLEMENTATION Json.Reader;", "IMPLEMENTATION Json.Reader; VARIABLE x: TEXT;");
    let user =
        user.replace("BEGIN WHILE ?Read DO ?Read; Json", "BEGIN WHILE ?Read DO {EXCLUSIVE} ?Read; Json");
    for path in ["Json.dry", "json.dry", "./Json.dry"] {
        assert_eq!(entry(&accepted(&[("main.dry", &user), (path, JSON)])), "Main");
    }
    let unused = "COMPONENT Main; END Main;";
    assert_eq!(
        entry(&accepted(&[("main.dry", &format!("IMPORT Json; {unused}")), ("json.dry", JSON)])),
        "Main"
    );
}

#[test]
fn nothing_of_an_imported_file_is_known_without_its_name() {
    for (body, expected) in [
        ("VARIABLE x: TEXT; BEGIN x := Parse(x)", "unknown-name"),
        ("VARIABLE x: Source;", "unknown-name"),
        ("VARIABLE x: ANY(Reader);", "unknown-interface"),
        ("BEGIN WRITE(Limit)", "unknown-name"),
        ("BEGIN WRITE(Json.Limits)", "unknown-name"),
        ("BEGIN WRITE(Xml.Limit)", "unknown-name"),
        ("VARIABLE x: ANY(Json.Readers);", "unknown-interface"),
        ("VARIABLE Limit: INTEGER; BEGIN WRITE(Json.Main)", "unknown-name"),
        ("BEGIN Json.Limit := 4", "not-a-variable"),
        ("BEGIN WRITE(Json.Reader)", "interface-as-value"),
        ("BEGIN Json.INC(Json.Limit)", "unknown-name"),
    ] {
        let main = format!("IMPORT Json; COMPONENT Main; {body} END Main;");
        assert_eq!(codes(&[("main.dry", &main), ("Json.dry", JSON)]), [expected], "{body}");
    }
    let other = "IMPORT Main; COMPONENT Other; BEGIN WRITE(Main.Json.Limit); WRITE(Json.Limit) END Other;";
    let main = "IMPORT Json; COMPONENT Main; END Main;";
    let found = codes(&[("other.dry", other), ("main.dry", main), ("Json.dry", JSON)]);
    assert_eq!(found, ["unknown-name", "unknown-name"]);
}

#[test]
fn an_imported_file_is_one_however_often_it_is_imported_and_keeps_names_and_entry_to_itself() {
    let json = "COMPONENT {ENTRYPOINT, VIRTUAL} Main; END Main; COMPONENT Json; END Json; CONSTANT C = 1;";
    let xml = "IMPORT Json; COMPONENT Main; VARIABLE j: Json.Json; END Main; CONSTANT C = 2 * Json.C;";
    let main = "IMPORT Json, Xml; COMPONENT Main; VARIABLE j: Json.Json; Json: INTEGER; x: Xml.Main; c: C;
        PROCEDURE Swap(VARIABLE j: Json.Json); END Swap;
        BEGIN Swap(j); NEW(c); Json := Json.C + Xml.C END Main; COMPONENT C; END C;";
    let program = accepted(&[("a/main.dry", main), ("a/Json.dry", json), ("a/xml.dry", xml)]);
    assert_eq!(entry(&program), "C");
    let importing = files(&[("main.dry", "IMPORT Json; COMPONENT Own; END Own;"), ("Json.dry", json)]);
    let named = check(&importing, Options::default().entry(Some("Json")));
    assert_eq!(named.expect_err("it is not the program's own")[0].code, "no-entry");
}

#[test]
fn files_given_together_share_their_names_and_import_each_for_itself() {
    let main =
        "IMPORT Json; COMPONENT Main; VARIABLE h: Helper; BEGIN NEW(h); WRITE(Json.Limit + Size) END Main;";
    let helper = "COMPONENT Helper; BEGIN WRITE(Size) END Helper; CONSTANT Size = 2;";
    assert_eq!(entry(&accepted(&[("main.dry", main), ("helper.dry", helper), ("json.dry", JSON)])), "Main");
    let helper = helper.replace("Size)", "Json.Limit)");
    let together = [("main.dry", main), ("helper.dry", &helper), ("json.dry", JSON)];
    assert_eq!(codes(&together), ["unknown-name"]);
}

#[test]
fn cycles_of_imports_are_found_wherever_they_begin() {
    let main = "IMPORT A; COMPONENT Main; END Main;";
    assert_eq!(codes(&[("Main.dry", "IMPORT Main; COMPONENT Main; END Main;")]), ["import-cycle"]);
    let (a, b) = ("IMPORT B, C;", "IMPORT C;");
    assert_eq!(codes(&[("m.dry", main), ("A.dry", a), ("B.dry", b), ("C.dry", "")]), [""; 0]);
    assert_eq!(
        codes(&[("m.dry", main), ("A.dry", a), ("B.dry", b), ("C.dry", "IMPORT B;")]),
        ["import-cycle"]
    );
    let long: Vec<(String, String)> =
        (0..5000).map(|i| (format!("F{i}.dry"), format!("IMPORT F{};", (i + 1) % 5000))).collect();
    let long: Vec<(&str, &str)> = long.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert!(codes(&long).contains(&"import-cycle"));
}

#[test]
fn a_procedure_at_the_top_level_uses_what_every_component_has() {
    let use_it = |procedure: &str| {
        let text = format!("{procedure} COMPONENT Main; VARIABLE n: INTEGER; END Main;");
        codes(&[("main.dry", &text)])
    };
    for right in [
        "PROCEDURE P(VARIABLE a: ANY(I); n: INTEGER); BEGIN a!M(n); PASSIVATE(Pause) END P;
            CONSTANT Pause = 2; INTERFACE I; { IN M(n: INTEGER) } END I;",
        "PROCEDURE P(); VARIABLE a[i: TEXT]: INTEGER; c: C; BEGIN a[\"x\"] := 1; NEW(c) END P; COMPONENT C; END C;",
        "PROCEDURE P(n: INTEGER): INTEGER; PROCEDURE Q; BEGIN INC(n) END Q; BEGIN Q; RETURN R(n) END P;
            PROCEDURE R(n: INTEGER): INTEGER; BEGIN IF n > 0 THEN RETURN P(n - 1) ELSE RETURN 0 END END R;",
    ] {
        assert_eq!(use_it(right), [""; 0], "{right}");
    }
    for (wrong, expected) in [
        ("PROCEDURE P; BEGIN n := 1 END P;", "unknown-name"),
        ("PROCEDURE P; BEGIN Console!ReadLine END P;", "no-component"),
        ("PROCEDURE P; BEGIN !M END P;", "no-service"),
        ("PROCEDURE P; BEGIN WRITE(COUNT(I)) END P; INTERFACE I; END I;", "no-component"),
        ("PROCEDURE P; BEGIN CONNECT(I, J) END P; INTERFACE I; END I; INTERFACE J; END J;", "no-component"),
        ("PROCEDURE P; BEGIN y END P;", "unknown-name"),
        ("PROCEDURE P; END P; PROCEDURE P; END P;", "duplicate-declaration"),
        ("VARIABLE n: INTEGER;", "unexpected-token"),
        ("PROCEDURE P(n: INTEGER): INTEGER; BEGIN END P;", "missing-return"),
    ] {
        assert!(use_it(wrong).contains(&expected), "{wrong}: {:?}", use_it(wrong));
    }
}

#[test]
fn races_and_missing_locks_in_procedures_at_the_top_level_are_their_callers() {
    let procedures = "PROCEDURE Add(VARIABLE n: INTEGER); BEGIN INC(n) END Add;
        PROCEDURE Wait(VARIABLE n: INTEGER); BEGIN AWAIT(n > 0) END Wait;
        INTERFACE I; { IN M } END I;";
    let component = |body: &str| {
        format!(
            "{procedures} COMPONENT C OFFERS I; VARIABLE n: INTEGER;
            IMPLEMENTATION I; BEGIN WHILE ?M DO {body} END END I; END C;"
        )
    };
    let expect =
        |body: &str, expected: &[&str]| assert_eq!(codes(&[("c.dry", &component(body))]), expected, "{body}");
    expect("{EXCLUSIVE} ?M; Add(n); Wait(n)", &[]);
    expect("?M; Add(n)", &["race-write"]);
    expect("?M; Wait(n)", &["await-without-lock", "race-write"]);
}

fn loaded(given: &[(&str, &str)], others: &[(&str, &str)]) -> Vec<String> {
    let given = given.iter().map(|&(path, text)| SourceFile { path: path.into(), text: text.into() });
    let read = |path: &str| Some(others.iter().find(|(other, _)| *other == path)?.1.to_string());
    load(given.collect(), read).into_iter().map(|file| file.path).collect()
}

#[test]
fn each_file_comes_once_from_beside_its_importer_or_the_library() {
    let others = [("a/B.dry", "IMPORT C, D, Main;"), ("a/c.dry", "IMPORT B;"), ("<library>/D.dry", "")];
    let expected = ["a/Main.dry", "a/B.dry", "a/c.dry", "<library>/D.dry"];
    assert_eq!(loaded(&[("a/Main.dry", "IMPORT B, C, Missing;")], &others), expected);
    assert_eq!(loaded(&[("./m.dry", "IMPORT B;"), ("b.dry", "")], &[]), ["./m.dry", "b.dry"]);
}

#[test]
fn what_cannot_be_read_wholly_imports_what_can_be_told() {
    assert_eq!(loaded(&[("m.dry", "IMPORT B; COMPONENT")], &[("B.dry", "")]), ["m.dry", "B.dry"]);
    assert_eq!(loaded(&[("m.dry", "IMPORT B,; COMPONENT")], &[("B.dry", "")]), ["m.dry"]);
}

/// The program's own package at `p`, which needs `words` and `numbers`; `words` needs `letters`.
fn packages() -> Packages {
    let package = |name: &str, folder: &str, files: &str, dependencies: &[usize]| Package {
        name: name.into(),
        folder: folder.into(),
        files: files.into(),
        dependencies: dependencies.into(),
    };
    Packages::new(vec![
        package("p", "p", "p", &[1, 2]),
        package("words", "p/words", "p/words", &[3]),
        package("numbers", "../numbers", "../numbers/dry", &[]),
        package("letters", "/registry/letters-1.0", "/registry/letters-1.0", &[]),
    ])
}

fn of_packages(given: &[(&str, &str)], others: &[(&str, &str)]) -> (Vec<String>, Vec<Diagnostic>) {
    let packages = packages();
    let files =
        packages.load(files(given), |path| Some(others.iter().find(|(other, _)| *other == path)?.1.into()));
    let checked = check(&files, Options::default().part().packages(&packages));
    (files.into_iter().map(|file| file.path).collect(), checked.err().unwrap_or_default())
}

#[test]
fn a_file_imports_from_its_package_and_from_those_that_this_depends_on() {
    let (letters, words) = ("/registry/letters-1.0/letters.dry", "p/words/Words.dry");
    let others = [
        ("p/Own.dry", "IMPORT Words;"),
        (words, "IMPORT Letters, Text;"),
        (letters, ""),
        ("../numbers/dry/Numbers.dry", "IMPORT Digits;"),
        ("../numbers/dry/Digits.dry", ""),
        ("../numbers/Words.dry", ""),
    ];
    let (paths, errors) = of_packages(&[("p/tests/Test.dry", "IMPORT Own, Numbers;")], &others);
    assert_eq!(errors, []);
    assert_eq!(paths[1..4], ["p/Own.dry", "../numbers/dry/Numbers.dry", words]);
    assert_eq!(paths[4..], ["../numbers/dry/Digits.dry", letters, "<library>/Text.dry"]);
    // Files that lie nowhere in particular are the program's own.
    assert_eq!(of_packages(&[("main.dry", "IMPORT Words;")], &others).0[1], words);
}

#[test]
fn nearer_files_come_before_those_of_packages_and_these_before_the_library() {
    let all = ["p/tests/Text.dry", "p/Text.dry", "p/words/Text.dry", "<library>/Text.dry"];
    for nearest in 0..4 {
        let others: Vec<_> = all[nearest..3].iter().map(|&path| (path, "")).collect();
        let (paths, errors) = of_packages(&[("p/tests/Test.dry", "IMPORT Text;")], &others);
        assert_eq!((&paths[1..], errors), (&[all[nearest].to_string()][..], vec![]));
    }
}

#[test]
fn what_only_another_package_depends_on_is_not_found() {
    let others = [("/registry/letters-1.0/Letters.dry", ""), ("p/Own.dry", "")];
    for (importer, name) in [("p/main.dry", "Letters"), ("p/words/Words.dry", "Own")] {
        let (_, errors) = of_packages(&[(importer, &format!("IMPORT {name};"))], &others);
        assert_eq!(errors[0].code, "unknown-import", "{name}");
        let help = errors[0].help.as_deref().unwrap_or_default();
        assert!(help.ends_with(" depends on: drystone add NAME"), "{help}");
    }
}

#[test]
fn two_packages_with_a_file_of_one_name_are_both_named() {
    let others = [("p/words/List.dry", ""), ("../numbers/dry/list.dry", "")];
    let (_, errors) = of_packages(&[("p/main.dry", "IMPORT List;")], &others);
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (errors[0].code, errors[0].message.as_str()),
        (
            "ambiguous-import",
            "List is in several packages: words (p/words/List.dry) and numbers (../numbers/dry/list.dry)"
        )
    );
    let others = [others[0], others[1], ("p/List.dry", "")];
    assert_eq!(of_packages(&[("p/main.dry", "IMPORT List;")], &others).1, []);
}
