; refused: another type is expected

define i32 @f(i64 %a) {
  %x = load i32, i64 %a
  ret i32 %x
}
