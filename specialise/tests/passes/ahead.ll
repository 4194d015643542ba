; Decoders of arrays. The first asks once for all rounds; what is left is used by the second after the loop, and the
; rounds of the third are not counted, so they stay.

declare i32 @llvm.bswap.i32(i32)

define i32 @decode(ptr noalias %from, ptr noalias %to, i32 %count, i32 %left) {
  %none = icmp eq i32 %count, 0
  br i1 %none, label %done, label %round
round:
  %i = phi i32 [ 0, %0 ], [ %i.next, %more ]
  %room = phi i32 [ %left, %0 ], [ %room.next, %more ]
  %at = phi ptr [ %from, %0 ], [ %at.next, %more ]
  %full = icmp ult i32 %room, 4
  br i1 %full, label %failed, label %more
more:
  %room.next = add i32 %room, -4
  %word = load i32, ptr %at, align 4
  %swapped = call i32 @llvm.bswap.i32(i32 %word)
  %at.next = getelementptr i8, ptr %at, i64 4
  %index = zext i32 %i to i64
  %there = getelementptr i32, ptr %to, i64 %index
  store i32 %swapped, ptr %there, align 4
  %i.next = add i32 %i, 1
  %on = icmp ult i32 %i.next, %count
  br i1 %on, label %round, label %done
done:
  %last = phi i32 [ 0, %0 ], [ %swapped, %more ]
  ret i32 %last
failed:
  ret i32 -1
}

define i32 @left(ptr %from, ptr %to, i32 %count, i32 %left) {
  br label %round
round:
  %i = phi i32 [ 0, %0 ], [ %i.next, %more ]
  %room = phi i32 [ %left, %0 ], [ %room.next, %more ]
  %full = icmp ult i32 %room, 2
  br i1 %full, label %failed, label %more
more:
  %room.next = add i32 %room, -2
  %i.next = add i32 %i, 1
  %on = icmp ne i32 %i.next, %count
  br i1 %on, label %round, label %done
done:
  %sum = add i32 %room.next, %count
  ret i32 %sum
failed:
  ret i32 %i
}

define i32 @uncounted(ptr %at, i32 %left) {
  br label %round
round:
  %i = phi ptr [ %at, %0 ], [ %next, %more ]
  %room = phi i32 [ %left, %0 ], [ %room.next, %more ]
  %full = icmp ult i32 %room, 2
  br i1 %full, label %failed, label %more
more:
  %room.next = add i32 %room, -2
  %next = load ptr, ptr %i, align 8
  %end = icmp eq ptr %next, null
  br i1 %end, label %done, label %round
done:
  ret i32 1
failed:
  ret i32 0
}
