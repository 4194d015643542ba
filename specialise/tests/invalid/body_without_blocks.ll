; refused: a function has at least one block

define void @f() {
}
