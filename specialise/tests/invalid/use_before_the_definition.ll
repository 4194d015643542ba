; refused: block %0, instruction 0, `%x = add`: %y is not computed on every path to its use

define i32 @f(i32 %a) {
  %x = add i32 %y, 1
  %y = add i32 %a, 1
  ret i32 %x
}
