; refused: block %2, instruction 0, `%x = phi`: it has 1 inputs for 0 jumps from block %1

define i32 @f(i1 %c) {
  br i1 %c, label %1, label %2

1:
  ret i32 0

2:
  %x = phi i32 [ 1, %0 ], [ 2, %1 ]
  ret i32 %x
}
