; refused: block %0, instruction 0, `%x = add`: %x is not computed on every path to its use

define i32 @f() {
  %x = add i32 %x, 1
  ret i32 %x
}
