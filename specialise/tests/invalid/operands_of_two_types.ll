; refused: `%b` has another type

define i32 @f(i32 %a, i64 %b) {
  %x = add i32 %a, %b
  ret i32 %x
}
