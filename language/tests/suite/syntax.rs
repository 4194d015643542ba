//! Corner cases of lexer and parser, by small examples.

use drystone_language::ast::{
    BinaryOperator, Declaration, Designator, Expression, ExpressionKind, Inner, Pattern, Protocol, Statement,
    StatementKind, Type, UnaryOperator,
};
use drystone_language::lexer::{Symbol, TokenKind, lex, string_bytes};
use drystone_language::parser::parse;

fn kinds(text: &str) -> Vec<TokenKind> {
    let lexed = lex(0, text);
    assert_eq!(lexed.diagnostics, [], "in {text:?}");
    let kinds = lexed.tokens.iter().map(|token| token.kind);
    kinds.filter(|&kind| kind != TokenKind::End).collect()
}

/// The codes of all errors in a text.
fn errors(text: &str) -> Vec<&'static str> {
    parse(0, text).1.iter().map(|diagnostic| diagnostic.code).collect()
}

/// The statements of a component's BEGIN block, which must be free of errors.
fn statements(body: &str) -> Vec<StatementKind> {
    let (file, diagnostics) = parse(0, &format!("COMPONENT C; BEGIN {body} END C;"));
    assert_eq!(diagnostics, [], "in {body:?}");
    let Some(Declaration::Component(component)) = file.items.into_iter().next() else {
        panic!("no component")
    };
    let block = component.begin.expect("a BEGIN block");
    block.statements.into_iter().map(|Statement { kind, .. }| kind).collect()
}

fn statement(text: &str) -> StatementKind {
    let mut statements = statements(text);
    assert_eq!(statements.len(), 1, "in {text:?}");
    statements.remove(0)
}

fn expression(text: &str) -> ExpressionKind {
    match statement(&format!("x := {text}")) {
        StatementKind::Assign(_, Expression { kind, .. }) => kind,
        other => panic!("{other:?}"),
    }
}

fn protocol(text: &str) -> Protocol {
    let (file, diagnostics) = parse(0, &format!("INTERFACE I; {text} END I;"));
    assert_eq!(diagnostics, [], "in {text:?}");
    match file.items.into_iter().next() {
        Some(Declaration::Interface(interface)) => interface.protocol.expect("a protocol"),
        other => panic!("{other:?}"),
    }
}

fn inner_name(designator: &Designator) -> &str {
    match designator.inner.as_deref() {
        Some(Inner::Designator(inner)) => &inner.name.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_number_before_two_points_is_an_integer() {
    let range = TokenKind::Symbol(Symbol::Range);
    assert_eq!(kinds("1..2"), [TokenKind::Integer(1), range, TokenKind::Integer(2)]);
    assert_eq!(kinds("1..*")[..2], [TokenKind::Integer(1), range]);
}

#[test]
fn numbers_have_the_values_that_they_spell() {
    assert_eq!(kinds("2."), [TokenKind::Real(2.0)]);
    assert_eq!(kinds("1.5E-3 0.05 2.E3"), [0.0015, 0.05, 2000.0].map(TokenKind::Real));
    assert_eq!(kinds("0FFH 10H 42"), [255, 16, 42].map(TokenKind::Integer));
    assert_eq!(kinds("0X 0DX 0FFX"), [0, 13, 255].map(TokenKind::Character));
}

#[test]
fn malformed_numbers_are_errors() {
    for text in ["12Q", "0fH", "100X", "1.5E", "1.5E+", "1E5", "2.x", "1_000", "1.0E999"] {
        let codes: Vec<_> = lex(0, text).diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, ["bad-number"], "{text}");
    }
}

#[test]
fn integers_end_where_64_bits_do() {
    assert!(matches!(expression("9223372036854775807"), ExpressionKind::Integer(i64::MAX)));
    assert!(matches!(expression("-9223372036854775808"), ExpressionKind::Integer(i64::MIN)));
    assert!(matches!(expression("-8000000000000000H + 1"), ExpressionKind::Binary(BinaryOperator::Add, ..)));
    let in_program = |number: &str| errors(&format!("COMPONENT C; CONSTANT N = {number}; END C;"));
    assert!(matches!(expression("8000000000000000H"), ExpressionKind::Integer(i64::MIN)));
    assert!(matches!(expression("0FFFFFFFFFFFFFFFFH"), ExpressionKind::Integer(-1)));
    for number in
        ["9223372036854775808", "-9223372036854775809", "1 - 9223372036854775808", "10000000000000000H"]
    {
        assert_eq!(in_program(number), ["integer-too-large"], "{number}");
    }
}

#[test]
fn strings_resolve_their_escapes() {
    assert_eq!(string_bytes(r#""a\0\b\t\v\f\r\n\\\"\'z""#), b"a\0\x08\t\x0b\x0c\r\n\\\"'z");
    assert_eq!(string_bytes("\"grün\""), "grün".as_bytes());
    assert!(matches!(expression(r#""x""#), ExpressionKind::String(bytes) if bytes == b"x"));
}

#[test]
fn comments_nest_and_are_no_tokens() {
    let lexed = lex(0, "a (* one (* two *) \" *) b (**) c (*)*)");
    assert_eq!((lexed.tokens.len(), lexed.comments.len(), lexed.diagnostics.len()), (4, 3, 0));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_no_errors() {
    assert_eq!(errors("\u{feff}COMPONENT C;\r\nEND C;\r\n"), [""; 0]);
}

#[test]
fn parameters_of_a_message_begin_with_a_name() {
    let Protocol::Sequence(phrases) = protocol("IN A (IN B | OUT C)") else { panic!() };
    assert!(matches!(&phrases[0], Protocol::Message(message) if message.parameters.is_empty()));
    assert!(matches!(&phrases[1], Protocol::Group(..)));
    let Protocol::Message(message) = protocol("IN A (x, y: INTEGER; z: ANY(B | C))") else { panic!() };
    assert_eq!(message.parameters.len(), 2);
}

#[test]
fn a_name_with_parenthesis_is_a_designator_before_send_receive_and_assignment() {
    for text in ["A(x)!M", "A(x)?M(y)", "A(x) := y", "A[1](x[2])!M(1, 2)", "A(B(x))!M"] {
        let designator = match statement(text) {
            StatementKind::Send { channel: Some(designator), .. } => designator,
            StatementKind::Receive { channel: Some(designator), .. } => designator,
            StatementKind::Assign(designator, _) => designator,
            other => panic!("{other:?}"),
        };
        assert!(["x", "B"].contains(&inner_name(&designator)), "{text}");
    }
    assert!(
        matches!(statement("A(x)"), StatementKind::Call(name, arguments) if name.text == "A" && arguments.len() == 1)
    );
    assert!(matches!(statement("A"), StatementKind::Call(_, arguments) if arguments.is_empty()));
}

#[test]
fn a_name_with_parenthesis_is_a_designator_before_is_offers_requires_and_a_test() {
    assert!(matches!(
        expression("v(x) IS T"),
        ExpressionKind::Is(designator, Type::Named(_)) if inner_name(&designator) == "x"
    ));
    assert!(matches!(expression("v(x) IS ANY(A[1..*] |)"), ExpressionKind::Is(_, Type::Any { .. })));
    assert!(
        matches!(expression("v(x) OFFERS A, B[2]"), ExpressionKind::Offers(_, facets) if facets.len() == 2)
    );
    assert!(matches!(expression("v(x) REQUIRES A"), ExpressionKind::Requires(..)));
    assert!(matches!(expression("v(x)?FINISH"), ExpressionKind::ReceiveTest(Some(_), Pattern::Finish(_))));
    assert!(matches!(expression("?M"), ExpressionKind::ReceiveTest(None, Pattern::Message(_))));
    assert!(matches!(expression("v(x) + 1"), ExpressionKind::Binary(..)));
    assert!(matches!(expression("v(x)"), ExpressionKind::Call(_)));
    assert!(matches!(expression("v(ANY(A))"), ExpressionKind::Designator(_)));
}

#[test]
fn select_is_known_by_the_head_of_its_first_branch() {
    for text in [
        "SELECT ?M: END",
        "SELECT ?M(x): x := 1 | AFTER 10: END",
        "SELECT | I[k](a)?M(x): | ?FINISH: END",
        "SELECT | AWAIT(x > 1): | AFTER x: END",
        "SELECT SELECT?M: | CASE?M: END",
        "SELECT AFTER?M: | AFTER AFTER: END",
    ] {
        let tree = statement(text);
        assert!(matches!(tree, StatementKind::Select(_)), "{text}: {tree:?}");
    }
    assert!(matches!(statement("SELECT?M(x)"), StatementKind::Receive { .. }));
    assert!(matches!(statement("SELECT(a)?M"), StatementKind::Receive { .. }));
    assert!(matches!(statement("SELECT!M"), StatementKind::Send { .. }));
    assert!(matches!(statement("SELECT := 1"), StatementKind::Assign(..)));
    assert!(matches!(statement("SELECT[1] := 1"), StatementKind::Assign(..)));
    assert!(matches!(statement("SELECT(x)"), StatementKind::Call(..)));
    assert!(matches!(statement("SELECT"), StatementKind::Call(..)));
    // What stands behind the bar is the next branch of the CASE.
    let StatementKind::Case(_, branches, _) =
        statement("CASE x OF 1: SELECT | AFTER: x := 1 | F(2): SELECT END")
    else {
        panic!("a CASE");
    };
    assert_eq!(branches.len(), 3);
}

#[test]
fn predeclared_statements_and_tests_are_known_by_name_and_parenthesis() {
    assert!(matches!(statement("NEW(x, ANY(A))"), StatementKind::New { ty: Some(_), .. }));
    assert!(matches!(
        statement("NEW(x, n, m) AT \"process:a\""),
        StatementKind::New { at: Some(_), arguments, .. } if arguments.len() == 2
    ));
    assert!(matches!(
        statement("CONNECT(A, A)"),
        StatementKind::Connect { to: Expression { kind: ExpressionKind::Designator(_), .. }, .. }
    ));
    assert!(matches!(
        statement("CONNECT(A(x), y) BY F(a: 1, 2), G()"),
        StatementKind::Connect { by, .. } if by.len() == 2 && by[0].arguments[0].0.is_some()
    ));
    assert!(
        matches!(statement("EXPORT(A(x), t + u) BY F()"), StatementKind::Export { by, .. } if by.len() == 1)
    );
    assert!(
        matches!(statement("NEW(x, T) AT d BY F, G(a: 1)"), StatementKind::New { at: Some(_), by, .. } if by.len() == 2)
    );
    assert!(matches!(statement("AWAIT(x)"), StatementKind::Await(_)));
    assert!(matches!(statement("AWAIT := 1"), StatementKind::Assign(..)));
    assert!(matches!(statement("MOVE!M"), StatementKind::Send { .. }));
    assert!(matches!(expression("INPUT(ANY)"), ExpressionKind::Input(None, Pattern::Any(_), None)));
    assert!(matches!(expression("INPUT(M)"), ExpressionKind::Input(None, Pattern::Message(_), None)));
    assert!(matches!(
        expression("INPUT(A(x), M)"),
        ExpressionKind::Input(Some(_), Pattern::Message(_), None)
    ));
    // Where the names don't tell: see `input` of the checker.
    assert!(matches!(expression("INPUT(a, b)"), ExpressionKind::Input(Some(_), Pattern::Message(_), None)));
    for text in ["INPUT(M, 10)", "INPUT(M, n + 1)", "INPUT(M, (n))", "INPUT(ANY, n)", "INPUT(FINISH, n)"] {
        assert!(matches!(expression(text), ExpressionKind::Input(None, _, Some(_))), "{text}");
    }
    for text in ["INPUT(x, M, 10)", "INPUT(x, ANY, n)", "INPUT(I[k](x), M, F(n))", "INPUT(x[M], FINISH, -n)"]
    {
        assert!(matches!(expression(text), ExpressionKind::Input(Some(_), _, Some(_))), "{text}");
    }
    assert!(matches!(expression("EXISTS(a[1])"), ExpressionKind::Exists(_)));
    assert!(matches!(expression("INPUT"), ExpressionKind::Designator(_)));
}

#[test]
fn operators_bind_as_in_oberon() {
    let ExpressionKind::Binary(BinaryOperator::Equal, left, _) = expression("a + b * c OR ~d = -e") else {
        panic!()
    };
    let ExpressionKind::Binary(BinaryOperator::Or, left, not) = left.kind else { panic!() };
    assert!(matches!(not.kind, ExpressionKind::Unary(UnaryOperator::Not, _)));
    assert!(matches!(left.kind, ExpressionKind::Binary(BinaryOperator::Add, ..)));
    let ExpressionKind::Unary(UnaryOperator::Minus, operand) = expression("-a * b") else { panic!() };
    assert!(matches!(operand.kind, ExpressionKind::Binary(BinaryOperator::Multiply, ..)));
}

#[test]
fn empty_statements_are_left_out() {
    assert_eq!(statements(";; a; ; IF b THEN ; END ;").len(), 2);
}

#[test]
fn sections_of_a_body_may_be_absent_or_empty() {
    assert_eq!(
        errors("COMPONENT C; VARIABLE CONSTANT BEGIN ACTIVITY FINALLY END C; INTERFACE I; END I;"),
        [""; 0]
    );
    assert_eq!(errors("COMPONENT C; PROCEDURE P; END P; PROCEDURE Q(); END Q; END C;"), [""; 0]);
}

#[test]
fn one_mistake_is_one_error_and_the_rest_is_read() {
    for (mistake, items) in [
        ("COMPONENT C; VARIABLE x y: INTEGER; z: T; BEGIN a := b END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN IF a b THEN c ELSE d END; e END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN IF a THEN b; c END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a; b END; c END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a := 1 + ; b END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a := (1 + 2; b END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a b c d; e END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a := b\n c; d END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; PROCEDURE P(x INTEGER); BEGIN a END P; BEGIN b END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; PROCEDURE P; BEGIN a PROCEDURE Q; END Q; BEGIN b END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN WHILE a b END; c END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN REPEAT a; b END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a END; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a END B; COMPONENT D; END D;", 2),
        ("COMPONENT C BEGIN a END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a ! 3; b END C; COMPONENT D; END D;", 2),
        ("INTERFACE I; IN A B END I; COMPONENT D; END D;", 2),
        ("INTERFACE I; { IN A END I; COMPONENT D; END D;", 2),
        ("VARIABLE x: T; y: T; COMPONENT D; END D;", 1),
        ("COMPONENT C; BEGIN a := @; b END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a := 1X2; b END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a := \"b\n; c END C; COMPONENT D; END D;", 2),
        ("COMPONENT C; BEGIN a (* b END C; COMPONENT D; END D;", 1),
    ] {
        let (file, diagnostics) = parse(0, mistake);
        let messages: Vec<_> = diagnostics.iter().map(|diagnostic| &diagnostic.message).collect();
        assert_eq!(messages.len(), 1, "{mistake}: {messages:#?}");
        assert_eq!(file.items.len(), items, "{mistake}");
    }
}

#[test]
fn any_nesting_is_read_or_refused_on_a_small_stack() {
    let deep = |before: &str, open: &str, close: &str, after: &str, count: usize| {
        format!("{before}{}{}{after}", open.repeat(count), close.repeat(count))
    };
    let component = "COMPONENT C; BEGIN ";
    for (before, open, close, after) in [
        ("COMPONENT C; BEGIN x := ", "(", ")", " END C;"),
        ("COMPONENT C; BEGIN x := ", "~", "", "y END C;"),
        ("COMPONENT C; BEGIN x := ", "f(", ")", " END C;"),
        ("COMPONENT C; BEGIN x := ", "a[", "]", " END C;"),
        ("COMPONENT C; BEGIN x := 1", " + 1", "", " END C;"),
        ("COMPONENT C; BEGIN x := ", "(1 * ", ")", " END C;"),
        (component, "IF a THEN ", " END", " END C;"),
        (component, "WHILE a DO ", " END", " END C;"),
        (component, "BEGIN ", " END", " END C;"),
        (component, "REPEAT ", " UNTIL a", " END C;"),
        (component, "FOR i := 1 TO 2 DO ", " END", " END C;"),
        ("COMPONENT C; ", "PROCEDURE P; ", "END P; ", "END C;"),
        ("", "COMPONENT C; ", "END C; ", ""),
        ("INTERFACE I; ", "( ", ")", " END I;"),
        ("COMPONENT C; BEGIN ", "END; ", "", "END C;"),
        ("COMPONENT C; BEGIN a", "(b", ")", "!M END C;"),
    ] {
        for count in [20, 99, 100, 101, 500, 20_000] {
            let text = deep(before, open, close, after, count);
            let (tree, diagnostics) = parse(0, &text);
            let too_deep =
                diagnostics.iter().filter(|diagnostic| diagnostic.code == "nesting-too-deep").count();
            assert!(too_deep <= 1, "{open} {count}");
            drop(tree.clone());
        }
    }
}
