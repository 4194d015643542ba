declare void @free(ptr)

; The callee's result is tested, then the same is found out again from what it gave: the two paths stay apart.
define i32 @status(ptr %message, i32 %expected) {
entry:
  %kind = load i32, ptr %message, align 4
  switch i32 %kind, label %bad [
    i32 0, label %accepted
    i32 1, label %denied
  ]
accepted:
  %first = getelementptr i8, ptr %message, i64 4
  %status = load i32, ptr %first, align 4
  br label %met
denied:
  %second = getelementptr i8, ptr %message, i64 8
  %reason = load i32, ptr %second, align 4
  br label %met
met:
  %what = phi i32 [ %status, %accepted ], [ %reason, %denied ]
  %known = icmp eq i32 %what, %expected
  br i1 %known, label %ask, label %bad
ask:
  %good = icmp eq i32 %kind, 0
  br i1 %good, label %done, label %bad
done:
  %sum = add i32 %what, 1
  ret i32 %sum
bad:
  ret i32 0
}

; What was made on both paths and is used where they have met again comes together in a phi.
define i32 @meets(ptr %p, i32 %a) {
entry:
  %none = icmp eq ptr %p, null
  br i1 %none, label %join, label %some
some:
  %there = load i32, ptr %p, align 4
  br label %join
join:
  %v = phi i32 [ 0, %entry ], [ %there, %some ]
  %w = mul i32 %v, %a
  %odd = icmp ult i32 %w, 77
  br i1 %odd, label %next, label %out
next:
  %again = icmp eq ptr %p, null
  br i1 %again, label %out, label %release
release:
  call void @free(ptr %p)
  br label %out
out:
  ret i32 %w
}

; The head of a loop is no place to know more on one way in than on the other.
define i32 @loop(i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %body, label %out
body:
  %next = add i32 %i, 3
  br label %head
out:
  ret i32 %i
}
