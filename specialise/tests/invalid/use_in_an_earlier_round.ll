; refused: block %1, instruction 1, `%same = icmp`: %next is not computed on every path to its use

define i32 @f(i32 %n) {
  br label %1

1:
  %i = phi i32 [ 0, %0 ], [ %next, %1 ]
  %same = icmp eq i32 %i, %next
  %next = add i32 %i, 1
  br i1 %same, label %2, label %1

2:
  ret i32 %i
}
