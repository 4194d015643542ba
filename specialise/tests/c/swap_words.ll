; A loop over words: reads as a loop that people write, and vectorises.
define void @swap_words(ptr noalias %out, ptr %in, i64 %n) {
entry:
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %in, i64 %i
  %word = load i32, ptr %from, align 4
  %swapped = call i32 @llvm.bswap.i32(i32 %word)
  %to = getelementptr inbounds i32, ptr %out, i64 %i
  store i32 %swapped, ptr %to, align 1
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
declare i32 @llvm.bswap.i32(i32)
