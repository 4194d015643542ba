; refused: block %2, instruction 0, `%x = phi`: it has 0 inputs for 1 jumps from block %1

define i32 @f(i1 %c) {
  br i1 %c, label %1, label %2

1:
  br label %2

2:
  %x = phi i32 [ 1, %0 ]
  ret i32 %x
}
