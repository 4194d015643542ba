; refused: block %0, instruction 0, `%x = trunc`: it does not convert i32 to i64

define i64 @f(i32 %a) {
  %x = trunc i32 %a to i64
  ret i64 %x
}
