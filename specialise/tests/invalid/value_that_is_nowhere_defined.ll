; refused: a value is used that is nowhere defined

define i32 @f() {
  ret i32 %x
}
