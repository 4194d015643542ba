; refused: block %1, instruction 0, `%x = phi`: %y is not computed on every path to its use

define i32 @f(i1 %c, i32 %a) {
  br label %1

1:
  %x = phi i32 [ %y, %0 ], [ 1, %1 ]
  %y = add i32 %a, 1
  br i1 %c, label %1, label %2

2:
  ret i32 %x
}
