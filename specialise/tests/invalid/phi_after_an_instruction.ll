; refused: block %1, instruction 1, `%z = phi`: phis stand first in a block

define i32 @f(i32 %x) {
  br label %1

1:
  %y = add i32 %x, 1
  %z = phi i32 [ %x, %0 ]
  ret i32 %z
}
