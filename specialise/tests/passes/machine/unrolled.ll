; The second loop comes first in the text: where the first one leads has changed when it is unrolled.
define void @either(ptr noalias %p, ptr noalias %q, i1 %second.only) {
  br i1 %second.only, label %second, label %first
second:
  %j = phi i64 [ 0, %0 ], [ 0, %first ], [ %j.next, %second ]
  %there = getelementptr i32, ptr %q, i64 %j
  store volatile i32 7, ptr %there, align 4
  %j.next = add i64 %j, 1
  %on = icmp ne i64 %j.next, 3
  br i1 %on, label %second, label %done
first:
  %i = phi i64 [ 0, %0 ], [ %i.next, %first ]
  %here = getelementptr i32, ptr %p, i64 %i
  store volatile i32 5, ptr %here, align 4
  %i.next = add i64 %i, 1
  %more = icmp ne i64 %i.next, 3
  br i1 %more, label %first, label %second
done:
  ret void
}
