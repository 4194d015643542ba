; refused: the end of block %2: %x is not computed on every path to its use

define i32 @f(i1 %c, i32 %a) {
  br i1 %c, label %1, label %2

1:
  %x = add i32 %a, 1
  br label %2

2:
  ret i32 %x
}
