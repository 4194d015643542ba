; refused: the end of block %2: %next is not computed on every path to its use

define i32 @f(i32 %n) {
  %none = icmp eq i32 %n, 0
  br i1 %none, label %2, label %1

1:
  %i = phi i32 [ 0, %0 ], [ %next, %1 ]
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %2, label %1

2:
  ret i32 %next
}
