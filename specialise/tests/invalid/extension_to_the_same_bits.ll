; refused: block %0, instruction 0, `%x = zext`: it does not convert i32 to i32

define i32 @f(i32 %a) {
  %x = zext i32 %a to i32
  ret i32 %x
}
