; refused: block %2, instruction 0, `%y = sub`: %x is not computed on every path to its use

define i32 @f(i1 %c, i32 %a) {
  br i1 %c, label %1, label %2

1:
  %x = add i32 %a, 1
  ret i32 %x

2:
  %y = sub i32 %x, 1
  ret i32 %y
}
