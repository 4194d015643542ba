; A loop of known length is a `for`; phis that swap need a third variable; odd widths are cut.
@table = internal constant [4 x i32] [i32 1, i32 2, i32 4, i32 8]
define i24 @mix(i24 %a, i24 %b) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %x = phi i24 [ %a, %entry ], [ %y, %loop ]
  %y = phi i24 [ %b, %entry ], [ %x, %loop ]
  %slot = getelementptr inbounds [4 x i32], ptr @table, i64 0, i64 %i
  %word = load i32, ptr %slot, align 4
  call void @use(i32 %word)
  %next = add i64 %i, 1
  %more = icmp ne i64 %next, 4
  br i1 %more, label %loop, label %done
done:
  %sum = add i24 %x, %y
  ret i24 %sum
}
declare void @use(i32)
