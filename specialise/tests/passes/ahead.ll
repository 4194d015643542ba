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

; Both loops of a nest ask ahead; the inner one comes first in the text.
define i32 @nest(ptr noalias %from, ptr noalias %to, i32 %rows, i32 %columns, i32 %all, i32 %each) {
  br label %outer
inner:
  %j = phi i32 [ 0, %row ], [ %j.next, %column ]
  %little = phi i32 [ %each, %row ], [ %little.next, %column ]
  %none = icmp ult i32 %little, 2
  br i1 %none, label %failed, label %column
column:
  %little.next = add i32 %little, -2
  %at = zext i32 %j to i64
  %source = getelementptr i16, ptr %from, i64 %at
  %half = load i16, ptr %source, align 2
  %target = getelementptr i16, ptr %to, i64 %at
  store i16 %half, ptr %target, align 2
  %j.next = add i32 %j, 1
  %more = icmp ult i32 %j.next, %columns
  br i1 %more, label %inner, label %end
outer:
  %i = phi i32 [ 0, %0 ], [ %i.next, %end ]
  %room = phi i32 [ %all, %0 ], [ %room.next, %end ]
  %full = icmp ult i32 %room, 8
  br i1 %full, label %failed, label %row
row:
  %room.next = add i32 %room, -8
  br label %inner
end:
  %i.next = add i32 %i, 1
  %on = icmp ult i32 %i.next, %rows
  br i1 %on, label %outer, label %done
done:
  ret i32 1
failed:
  ret i32 0
}

; The end of the first loop leads right into the second one, which stays as it is.
define i32 @chained(ptr noalias %from, ptr noalias %to, i32 %count, i32 %left) {
  br label %first
first:
  %i = phi i32 [ 0, %0 ], [ %i.next, %one ]
  %room = phi i32 [ %left, %0 ], [ %room.next, %one ]
  %full = icmp ult i32 %room, 4
  br i1 %full, label %failed, label %one
one:
  %room.next = add i32 %room, -4
  %at = zext i32 %i to i64
  %there = getelementptr i32, ptr %to, i64 %at
  store i32 %room, ptr %there, align 4
  %i.next = add i32 %i, 1
  %on = icmp ult i32 %i.next, %count
  br i1 %on, label %first, label %second
second:
  %j = phi i32 [ 0, %one ], [ %j.next, %two ]
  %rest = phi i32 [ %room.next, %one ], [ %rest.next, %two ]
  %none = icmp ult i32 %rest, 2
  br i1 %none, label %failed, label %two
two:
  %rest.next = add i32 %rest, -2
  %where = zext i32 %j to i64
  %other = getelementptr i32, ptr %from, i64 %where
  store i32 %rest, ptr %other, align 4
  %j.next = add i32 %j, 1
  %more = icmp ult i32 %j.next, %count
  br i1 %more, label %second, label %done
done:
  ret i32 1
failed:
  ret i32 0
}
